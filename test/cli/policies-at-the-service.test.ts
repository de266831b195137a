import { describe, expect, it } from 'vitest';
import { sendByHand } from '../by-hand.ts';
import { createWorkspace, STACK, toManifest } from './workspace.ts';

/** Policies of an edge that the service shows in another form, and updates beside them. */

const D = '$';
const OFFERED = { env: { UPSTREAM: 'value-of-the-key', EDGEWISE_SECRETS: 'UPSTREAM' } };

function toEdge(description: string, policy: object): string {
  return STACK + toManifest('TCPEdge', 'shop', { hostports: ['1.tcp.example.net:20001'], description, policy });
}

describe('an update of an edge with a secret in its policy', () => {
  const action = { type: 'add-headers', config: { headers: { authorization: `Bearer ${D}{secret:UPSTREAM}` } } };
  const policy = { inbound: [{ expressions: [], actions: [action] }] };
  const ALARM = 'changed at the service after the plan was made';

  it('says that the edge changed after the plan was made only if it did', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': toEdge('one', policy) });
    const { edgewise, write, server, recorder } = workspace;
    expect(await edgewise('apply --yes', OFFERED)).toMatchObject({ exitCode: 0 });
    await write({ 'edgewise.yaml': toEdge('two', policy) });
    const inOrder = await edgewise('apply --yes', OFFERED);
    expect(inOrder.exitCode, inOrder.stdout).toBe(0);
    expect(inOrder.stdout).not.toContain(ALARM);

    await write({ 'edgewise.yaml': toEdge('three', policy) });
    const [{ id } = {}] = server.snapshot().resources['TCPEdge'] ?? [];
    const changed = await edgewise('apply --yes', {
      ...OFFERED,
      transport: async (request) => {
        if (request.method === 'PATCH')
          await sendByHand(workspace, 'PATCH', `/edges/tcp/${id}`, { hostports: ['2.tcp.example.net:20002'] });
        return recorder.transport(request);
      },
    });
    expect(changed.stdout).toContain(ALARM);
  });
});

describe('a list in a policy that the interface calls a set', () => {
  const toPolicy = (reverse: (list: readonly string[]) => readonly string[]) => ({
    inbound: [
      {
        expressions: reverse(['conn.client_ip != "192.0.2.1"', 'conn.geo.country_code == "CH"']),
        actions: [
          {
            type: 'restrict-ips',
            config: {
              allow: reverse(['192.0.2.0/24', '198.51.100.0/24']),
              deny: reverse(['203.0.113.0/25', '203.0.113.128/25']),
            },
          },
        ],
      },
    ],
  });
  const toReversed = (list: readonly string[]) => list.toReversed();

  it('is equal in any order: nothing is planned, no drift is found, and an apply sends nothing', async () => {
    const workspace = await createWorkspace({
      'edgewise.yaml': toEdge(
        'one',
        toPolicy((list) => list),
      ),
    });
    const { edgewise, server, recorder } = workspace;
    expect(await edgewise('apply --yes')).toMatchObject({ exitCode: 0 });
    const [{ id } = {}] = server.snapshot().resources['TCPEdge'] ?? [];
    await sendByHand(workspace, 'PATCH', `/edges/tcp/${id}`, { policy: toPolicy(toReversed) });
    expect(JSON.stringify(server.snapshot())).toContain('["198.51.100.0/24","192.0.2.0/24"]');
    expect(await edgewise('plan --detailed-exitcode')).toMatchObject({ exitCode: 0 });
    expect(await edgewise('drift')).toMatchObject({ exitCode: 0 });
    recorder.take();
    expect(await edgewise('apply --yes')).toMatchObject({ exitCode: 0 });
    expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('differs if one of its members does', async () => {
    const workspace = await createWorkspace({
      'edgewise.yaml': toEdge(
        'one',
        toPolicy((list) => list),
      ),
    });
    const { edgewise, server } = workspace;
    await edgewise('apply --yes');
    const [{ id } = {}] = server.snapshot().resources['TCPEdge'] ?? [];
    await sendByHand(workspace, 'PATCH', `/edges/tcp/${id}`, { policy: toPolicy((list) => list.slice(1)) });
    expect(await edgewise('plan --detailed-exitcode')).toMatchObject({ exitCode: 2 });
  });
});
