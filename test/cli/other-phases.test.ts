import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/model/json.ts';
import type { Transport } from '../../src/model/transport.ts';
import { sendByHand } from '../by-hand.ts';
import { createWorkspace, STACK, toManifest, type Workspace } from './workspace.ts';

/** Members of a traffic policy that the interface does not list: phases of a newer service. */

const DENY = { name: 'closed', expressions: ['true'], actions: [{ type: 'deny' }] };
const ON_CONNECT = [{ rules: [{ when: 'x', do: ['b', 'a'] }], limit: 3 }];

function toStack(policy: JsonObject): string {
  return STACK + toManifest('TCPEdge', 'shop', { hostports: ['1.tcp.example.net:20001'], policy });
}

async function createApplied(policy: JsonObject): Promise<Workspace> {
  const workspace = await createWorkspace({ 'm/a.yaml': toStack(policy) });
  expect(await workspace.edgewise('apply m --yes')).toMatchObject({ exitCode: 0 });
  return workspace;
}

async function readPolicy(workspace: Workspace): Promise<Json> {
  const { tcp_edges: edges } = await sendByHand(workspace, 'GET', '/edges/tcp');
  return (edges as readonly JsonObject[])[0]?.['policy'] ?? null; // a list of edges
}

describe('a phase of a traffic policy that the interface does not list', () => {
  it.each<[string, Json]>([
    ['a list', ON_CONNECT],
    ['a rule of the listed phases', DENY],
    ['a text', 'all'],
  ])('is sent and compared as it is written: %s', async (_, phase) => {
    const workspace = await createApplied({ inbound: DENY, on_connect: phase });
    expect(await readPolicy(workspace)).toMatchObject({ on_connect: phase });
    expect(await workspace.edgewise('plan m --detailed-exitcode')).toMatchObject({ exitCode: 0 });
    await workspace.write({ 'm/a.yaml': toStack({ inbound: DENY, on_connect: [{ limit: 4 }] }) });
    expect(await workspace.edgewise('plan m --detailed-exitcode')).toMatchObject({ exitCode: 2 });
    await workspace.edgewise('apply m --yes');
    expect(await readPolicy(workspace)).toMatchObject({ on_connect: [{ limit: 4 }] });
    await workspace.write({ 'm/a.yaml': toStack({ inbound: DENY }) });
    await workspace.edgewise('apply m --yes');
    expect(await readPolicy(workspace)).not.toHaveProperty('on_connect');
  });

  it.each([null, [], {}])('equals none if it is empty: %j', async (phase) => {
    const workspace = await createApplied({ inbound: DENY, on_connect: phase });
    expect(await workspace.edgewise('plan m --detailed-exitcode')).toMatchObject({ exitCode: 0 });
    await workspace.write({ 'm/a.yaml': toStack({ inbound: DENY }) });
    expect(await workspace.edgewise('plan m --detailed-exitcode')).toMatchObject({ exitCode: 0 });
  });

  it('is a difference if the service lost it', async () => {
    const workspace = await createApplied({ inbound: DENY, on_connect: ON_CONNECT });
    const { tcp_edges: edges } = await sendByHand(workspace, 'GET', '/edges/tcp');
    const id = (edges as readonly JsonObject[])[0]?.['id']; // a list of edges
    await sendByHand(workspace, 'PATCH', `/edges/tcp/${id}`, { policy: { inbound: [DENY] } });
    const { exitCode, stdout } = await workspace.edgewise('drift m');
    expect(exitCode).toBe(2);
    expect(stdout).toContain('policy.on_connect');
  });

  it('is a warning that says what a service may do, and an error with --strict', async () => {
    const { edgewise } = await createWorkspace({ 'm/a.yaml': toStack({ inbound: DENY, on_connect: ON_CONNECT }) });
    const { exitCode, stdout, stderr } = await edgewise('validate m');
    expect(exitCode).toBe(0);
    expect(stdout + stderr).toContain(
      'policy has the phase `on_connect`, which is not known here; known: inbound, outbound. A service that does not know it may apply nothing',
    );
    expect(stdout + stderr).not.toContain('Did you mean');
    expect(await edgewise('validate m --strict')).toMatchObject({ exitCode: 3 });
  });

  it.each(['inbond', 'Inbound', 'outboud', 'enabeld'])('is named as a misspelt member: %s', async (name) => {
    const { edgewise } = await createWorkspace({ 'm/a.yaml': toStack({ [name]: DENY }) });
    const { exitCode, stdout, stderr } = await edgewise('validate m');
    expect(exitCode).toBe(0);
    expect(stdout + stderr).toMatch(/Did you mean `(inbound|outbound|enabled)`\?/);
  });

  it('is a danger when it is added, changed and removed, because its effect is unknown here', async () => {
    const workspace = await createApplied({ inbound: DENY });
    for (const phase of [{ on_connect: ON_CONNECT }, { on_connect: 'all' }, {}]) {
      await workspace.write({ 'm/a.yaml': toStack({ inbound: DENY, ...phase }) });
      const { stdout } = await workspace.edgewise('plan m --format json');
      const { stacks } = JSON.parse(stdout);
      expect(stacks[0].plan.changes[0].dangers).toMatchObject([
        { danger: 'restriction-unknown', group: 'access', path: 'policy.on_connect' },
      ]);
      await workspace.edgewise('apply m --yes');
    }
  });

  it.each<[string, JsonObject, readonly string[]]>([
    ['an empty part', { inbound: DENY }, ['policy.on_connect']],
    ['another part', { inbound: DENY, outbound: DENY }, ['policy.outbound', 'policy.on_connect']],
  ])(
    'changes as a part of its policy if the responses leave out %s, also after an approval',
    async (_, policy, paths) => {
      const workspace = await createApplied(policy);
      const transport: Transport = async (request) => {
        const response = await workspace.recorder.transport(request);
        if (request.method !== 'GET' || new URL(request.url).pathname !== '/edges/tcp') return response;
        const { tcp_edges: edges } = (await response.json()) as { readonly tcp_edges: readonly JsonObject[] };
        const [{ policy: shown, ...edge } = {}] = edges;
        const { outbound: __, ...rest } = shown as JsonObject;
        return Response.json({ tcp_edges: [{ ...edge, policy: rest }], next_page_uri: null });
      };
      await workspace.write({ 'm/a.yaml': toStack({ ...policy, on_connect: ON_CONNECT }) });
      const { stdout } = await workspace.edgewise('plan m -o plan.json --format json', { transport });
      const [{ differences }] = JSON.parse(stdout).stacks[0].plan.changes;
      expect(differences).toMatchObject(paths.map((path) => ({ path, origin: 'manifest' })));
      const approved = await workspace.edgewise(
        'apply m --approved plan.json --yes',
        paths.length === 1 ? {} : { transport },
      );
      expect(approved.exitCode, approved.stdout).toBe(0);
    },
  );

  it('takes secrets below their names, which no output shows', async () => {
    const phase = [
      { actions: [{ type: 'auth', config: { api_key: `\${secret:KEY}`, client_secret: 'in-clear-4711' } }] },
    ];
    const workspace = await createWorkspace({ 'm/a.yaml': toStack({ on_connect: phase }) });
    const options = { env: { KEY: 'a-long-secret-value', EDGEWISE_SECRETS: 'KEY' } };
    const planned = await workspace.edgewise('plan m -o plan.json', options);
    const saved = readFileSync(join(workspace.folder, 'plan.json'), 'utf8');
    for (const text of [planned.stdout, planned.stderr, saved]) {
      expect(text).not.toContain('a-long-secret-value');
      expect(text).not.toContain('in-clear-4711');
    }
    expect(await workspace.edgewise('apply m --approved plan.json --yes', options)).toMatchObject({ exitCode: 0 });
    expect(JSON.stringify(await readPolicy(workspace))).toContain('a-long-secret-value');
    expect(await workspace.edgewise('plan m --detailed-exitcode', options)).toMatchObject({ exitCode: 0 });
  });
});

describe('an action that the interface does not list', () => {
  it.each(['inbound', 'outbound'])('is a warning that says what a service may do: %s', async (phase) => {
    const rule = { actions: [{ type: 'denny' }] };
    const { edgewise } = await createWorkspace({ 'm/a.yaml': toStack({ [phase]: rule }) });
    const { exitCode, stdout, stderr } = await edgewise('validate m');
    expect(exitCode).toBe(0);
    expect(stdout + stderr).toContain('A service that does not know it may apply nothing');
    expect(stdout + stderr).toContain('Did you mean `deny`?');
    expect(await edgewise('apply m --yes')).toMatchObject({ exitCode: 0 });
  });
});
