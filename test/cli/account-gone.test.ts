import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { sendByHand } from '../by-hand.ts';
import { selectFirst } from '../cases.ts';
import { readOnlyStack } from '../results.ts';
import { ED25519_KEY } from '../server/ssh-keys.ts';
import { createWorkspace, STACK, toEdge, toManifest } from './workspace.ts';

const toId = (prefix: string, index: number) => `${prefix}_${String(index).padStart(27, '0')}`;

/** The manifests of an account that was clicked and adopted: a credential, a certificate, an ingress and edges. */
function createManifests(edges: number): string {
  const adopt = (prefix: string, index: number) => ({ lifecycle: { adopt: toId(prefix, index) } });
  return [
    `${STACK}spec: { tokens: { default: { directory: tokens } } }\n`,
    toManifest('Credential', 'agent', { acl: ['bind:x.example.com'] }, adopt('cr', 1)),
    toManifest('AgentIngress', 'agents', { domain: 'agents.example.com' }, adopt('agin', 1)),
    toManifest(
      'SSHUserCertificate',
      'alice',
      { public_key: ED25519_KEY, ssh_certificate_authority_id: 'sshca_1', principals: ['alice'] },
      adopt('sucrt', 1),
    ),
    ...Array.from({ length: edges }, (_, index) =>
      toManifest(
        'TCPEdge',
        `e${index}`,
        { hostports: [`1.tcp.example.net:${20_000 + index}`] },
        adopt('edgtcp', index),
      ),
    ),
  ].join('');
}

const listWarnings = (stdout: string): readonly string[] =>
  readOnlyStack(stdout)
    .diagnostics.filter(({ code }: JsonObject) => code === 'predecessor-unclear')
    .map(({ message }: JsonObject) => String(message));

describe('an account that is gone', () => {
  it.each(selectFirst([35, 485]))(
    'is one line for all ids to adopt, and a list of what has to be handed out: %d edges',
    async (count) => {
      const { edgewise } = await createWorkspace({ 'edgewise.yaml': createManifests(count) });
      const { exitCode, stdout } = await edgewise('plan');
      expect(exitCode).toBe(0);
      expect(stdout.match(/predecessor-unclear/g)).toHaveLength(1);
      expect(stdout).toContain(
        `None of the ${count + 3} ids to adopt exists, such as ${toId('agin', 1)} of AgentIngress/agents: another account?`,
      );
      expect(stdout).toContain('edgewise explain settings');
      expect(stdout).toContain(`
To hand out after the apply:
  1 token to the folder tokens: Credential/agent
  1 certificate (edgewise get SSHUserCertificate --format value=certificate): SSHUserCertificate/alice
  set the NS records of its domain to its ns_targets (edgewise get AgentIngress --format value=ns_targets): AgentIngress/agents
  the new ids, where others have the old ones (edgewise get --format value=id): ${toId('agin', 1)} → AgentIngress/agents, ${toId('cr', 1)} → Credential/agent, ${toId('edgtcp', 0)} → TCPEdge/e0 and ${count} more
`);
      const markdown = await edgewise('plan --format markdown');
      expect(markdown.stdout).toContain('To hand out after the apply');
    },
  );

  it('has its list also while a reference leads nowhere', async () => {
    const broken = toManifest('TCPEdge', 'broken', { backend: { backend_id: toId('bkdwd', 1) } });
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': `${createManifests(4)}${broken}` });
    const { exitCode, stdout } = await edgewise('plan');
    expect([exitCode, stdout]).toEqual([5, expect.stringContaining('To hand out after the apply:\n')]);
    expect(stdout).toContain(`${toId('bkdwd', 1)} does not exist`);
  });

  it('comes back with one apply, and then has nothing to do', async () => {
    const { edgewise, folder } = await createWorkspace({ 'edgewise.yaml': createManifests(4) });
    expect((await edgewise('apply --yes')).exitCode).toBe(0);
    const { exitCode, stdout } = await edgewise('plan --detailed-exitcode');
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('Nothing to do: 7 resources match')]);
    expect(stdout).not.toMatch(/another account|To hand out/);
    expect((await edgewise('get AgentIngress --format value=ns_targets')).stdout).not.toBe('');
    expect(existsSync(join(folder, 'tokens/agent.token'))).toBe(true);
  });

  it.each([
    ['a few ids, which may be mistakes', createManifests(2), 5],
    ['many ids beside one that exists', createManifests(8).replace(toId('edgtcp', 3), 'EXISTS'), 10],
  ])('is not suspected for %s', async (_, text, missing) => {
    const { edgewise, write, server } = await createWorkspace();
    const { id } = await sendByHand({ server }, 'POST', '/edges/tcp', { hostports: ['1.tcp.example.net:20003'] });
    await write({ 'edgewise.yaml': text.replace('EXISTS', String(id)) });
    const warnings = listWarnings((await edgewise('plan --format json')).stdout);
    expect(warnings).toHaveLength(missing);
    for (const warning of warnings) expect(warning).toContain('to adopt, so an apply creates a new one');
  });

  it('has its list also for a stack of few, and after the apply the new ids', async () => {
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': createManifests(2) });
    expect((await edgewise('plan')).stdout).toMatch(
      /^To hand out after the apply:\n {2}1 token .*\n.*\n {2}set the NS/m,
    );
    const { exitCode, stdout } = await edgewise('apply --yes');
    expect(exitCode).toBe(0);
    const [, list = ''] = /^New ids, where others have the old ones:\n((?: {2}.*\n)+)/m.exec(stdout) ?? [];
    const shown = list.trim().split(/\n */);
    const ids = (await edgewise('get --format value=id')).stdout;
    expect(shown).toHaveLength(5);
    for (const line of shown) {
      const [, id = 'none', address = 'none'] = /^\w+0{10,}\d → (\w+): (\S+)$/.exec(line) ?? [];
      expect(ids).toContain(`${address}\t${id}`);
    }
    expect((await edgewise('apply --yes')).stdout).not.toContain('New ids');
  });

  it('lists each line of a manifest that still has an old id, with what replaces it', async () => {
    const [own, other, unknown] = [toId('bkdwd', 1), toId('bkdwd', 2), toId('bkdwd', 3)];
    const pool = (name: string, id: string) =>
      toManifest('WeightedBackend', name, { backends: { bkdhr_a: 1 } }, { lifecycle: { adopt: id } });
    const edge = (name: string, port: number, backend: string) =>
      toManifest('TCPEdge', name, {
        hostports: [`1.tcp.example.net:${port}`],
        backend: { enabled: true, backend_id: backend },
      });
    const { edgewise, write } = await createWorkspace({
      'live/web/edgewise.yaml': STACK.replace('test', 'web'),
      'live/web/pool.yaml': `${pool('pool', own)}${toManifest('External', 'lake', { id: other })}`,
      'live/web/edges.yaml': `${edge('a', 20_001, own)}${edge('b', 20_002, 'External/lake')}${edge('c', 20_003, unknown)}`,
      'live/network/edgewise.yaml': STACK.replace('test', 'network'),
      'live/network/pool.yaml': pool('lake', other),
    });
    const { exitCode, stdout } = await edgewise('plan live/web');
    expect(exitCode).toBe(5);
    expect(stdout).toContain(`
  write the new id into live/web/edges.yaml:2: ${own} → WeightedBackend/pool
  write the new id into live/web/pool.yaml:4: ${other} → WeightedBackend/lake of the stack network
  write the new id into live/web/edges.yaml:6: ${unknown}, which no manifest adopts
`);
    const json = readOnlyStack((await edgewise('plan live/web --format json')).stdout);
    expect(json.goneIds).toEqual([
      {
        id: own,
        address: 'WeightedBackend/pool',
        places: [expect.objectContaining({ file: 'live/web/edges.yaml', line: 2 })],
      },
      {
        id: other,
        address: 'WeightedBackend/lake',
        stack: 'network',
        places: [expect.objectContaining({ file: 'live/web/pool.yaml', line: 4 })],
      },
      { id: unknown, places: [expect.objectContaining({ file: 'live/web/edges.yaml', line: 6 })] },
    ]);
    // What is there is not gone.
    await edgewise('apply live/network --yes');
    const id = (await edgewise('get WeightedBackend/lake live/network --format value=id')).stdout.trim();
    await write({
      'live/web/pool.yaml': `${pool('pool', own)}${toManifest('External', 'lake', { id })}`,
      'live/web/edges.yaml': edge('a', 20_001, 'External/lake'),
    });
    const after = readOnlyStack((await edgewise('plan live/web --format json')).stdout);
    expect(after.goneIds).toEqual([{ id: own, address: 'WeightedBackend/pool', places: [] }]);
  });

  it('has all ids in JSON', async () => {
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': createManifests(40) });
    const { goneIds } = readOnlyStack((await edgewise('plan --format json')).stdout);
    expect(goneIds).toHaveLength(43);
    expect(goneIds).toContainEqual({ id: toId('edgtcp', 39), address: 'TCPEdge/e39', places: [] });
  });

  it('has no list beside what is there, or for a plan of few creations that adopt nothing', async () => {
    const few = await createWorkspace({ 'edgewise.yaml': createManifests(2).replaceAll(/,"lifecycle":\{.*?\}/g, '') });
    expect((await few.edgewise('plan')).stdout).not.toContain('To hand out');
    expect((await few.edgewise('plan --format json')).stdout).not.toContain('goneIds');
    const workspace = await createWorkspace({ 'edgewise.yaml': `${STACK}${toEdge('first', 21_000)}` });
    await workspace.edgewise('apply --yes');
    await workspace.write({ 'edgewise.yaml': `${createManifests(8)}${toEdge('first', 21_000)}` });
    expect((await workspace.edgewise('plan')).stdout).not.toContain('To hand out');
  });
});

describe('adopting a resource with metadata', () => {
  it.each([
    ['a text', 'find me', 'the text in its metadata is kept as edgewise.text of a JSON object: '],
    ['a JSON object', '{"owned-by":"shop-operator"}', 'its metadata gets one more key, edgewise: '],
  ])('says what becomes of %s', async (_, metadata, note) => {
    const { edgewise, server } = await createWorkspace();
    const body = { hostports: ['1.tcp.example.net:20001'], metadata };
    const { id } = await sendByHand({ server }, 'POST', '/edges/tcp', body);
    await edgewise('export -o manifests --owner test');
    const { stdout } = await edgewise('plan manifests');
    expect(stdout).toContain(`    ${note}what finds it by its exact metadata has to know\n`);
    await edgewise('apply manifests --yes');
    const after = await sendByHand({ server }, 'GET', `/edges/tcp/${id}`);
    const stored = JSON.parse(String(after['metadata']));
    expect(metadata.startsWith('{') ? stored['owned-by'] : stored.edgewise.text).toBe(
      metadata.startsWith('{') ? 'shop-operator' : metadata,
    );
  });

  it('says it once for many, with their number', async () => {
    const { edgewise, server } = await createWorkspace();
    const texts = Array.from({ length: 6 }, (_, index) => ({ port: 20_001 + index, metadata: 'find me' }));
    for (const { port, metadata } of [...texts, { port: 20_100, metadata: '{"a":1}' }])
      await sendByHand({ server }, 'POST', '/edges/tcp', { hostports: [`1.tcp.example.net:${port}`], metadata });
    await edgewise('export -o manifests --owner test');
    const { stdout } = await edgewise('plan manifests');
    expect(stdout.match(/what finds it by its exact metadata has to know/g)).toHaveLength(2);
    expect(stdout).toMatch(
      /\nWhat many adopted resources have in common:\n {2}6 resources: the text in its metadata is kept as .* has to know: TCPEdge\/\S+, TCPEdge\/\S+, TCPEdge\/\S+ and 3 more\n/,
    );
    expect(stdout).toMatch(/\n {4}its metadata gets one more key/);
    const json = readOnlyStack((await edgewise('plan manifests --format json')).stdout);
    const notes = json.changes.flatMap((change: JsonObject) => change['notes'] ?? []);
    expect(notes).toHaveLength(7);
    expect((await edgewise('plan manifests --format markdown')).stdout.match(/is kept as edgewise/g)).toHaveLength(1);
  });

  it('says nothing of metadata that is empty', async () => {
    const { edgewise, server } = await createWorkspace();
    await sendByHand({ server }, 'POST', '/edges/tcp', { hostports: ['1.tcp.example.net:20001'] });
    await edgewise('export -o manifests --owner test');
    expect((await edgewise('plan manifests')).stdout).not.toContain('metadata');
  });
});
