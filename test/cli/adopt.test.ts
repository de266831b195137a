import { describe, expect, it } from 'vitest';
import type { Server } from '../../src/server/index.ts';
import { sendByHand } from '../by-hand.ts';
import { readOnlyStack } from '../results.ts';
import { createWorkspace, STACK, toCredential, toEdge, withoutReads } from './workspace.ts';

const EDGE = toEdge('a', 20001);
const POOL = `---
apiVersion: edgewise/v1
kind: WeightedBackend
metadata: { name: pool }
spec: { backends: { bkdhr_blue: 1 } }
`;

function withAdopt(text: string, id: unknown): string {
  return `${text}lifecycle: { adopt: ${String(id)} }\n`;
}

function findEdge(server: Server): string {
  const [edge] = server.snapshot().resources['TCPEdge'] ?? [];
  return String(edge?.['id']);
}

/** An edge that was created by hand and adopted by a manifest, which still has the line. */
async function createAdoptedEdge() {
  const workspace = await createWorkspace();
  const { server, write, edgewise } = workspace;
  await sendByHand({ server }, 'POST', '/edges/tcp', { hostports: ['1.tcp.example.net:20001'] });
  const id = findEdge(server);
  await write({ 'edgewise.yaml': STACK + withAdopt(EDGE, id) });
  expect(await edgewise('apply --yes')).toMatchObject({ exitCode: 0 });
  return { ...workspace, id };
}

describe('an adopted resource that is gone', () => {
  it('is missing in drift: in text, counts and metrics', async () => {
    const { edgewise, server, id } = await createAdoptedEdge();
    expect(await edgewise('drift')).toMatchObject({ exitCode: 0 });
    await sendByHand({ server }, 'DELETE', `/edges/tcp/${id}`);
    const text = await edgewise('drift');
    expect(text.exitCode).toBe(2);
    expect(text.stdout).toContain('Missing: never applied, or deleted at the service:\n\n✗ TCPEdge/a\n');
    expect(text.stdout).toContain(`TCPEdge/a: there is no TCPEdge ${id} to adopt, so an apply creates a new one`);
    const { ok, counts, coverage } = readOnlyStack((await edgewise('drift --format json')).stdout);
    expect({ ok, missing: counts.missing, owned: coverage.owned }).toEqual({ ok: true, missing: 1, owned: 0 });
    expect((await edgewise('drift --format metrics')).stdout).toContain(
      'edgewise_resources{stack="test",kind="TCPEdge",state="missing"} 1\n',
    );
  });

  it('is taken over by its name if another stack recreated it', async () => {
    const { edgewise, server, write, id } = await createAdoptedEdge();
    await sendByHand({ server }, 'DELETE', `/edges/tcp/${id}`);
    expect(await edgewise('apply --yes')).toMatchObject({ exitCode: 0 });
    const renamed = STACK.replace('name: test', 'name: other\n  renamed_from: test') + withAdopt(EDGE, id);
    await write({ 'edgewise.yaml': renamed });
    const { exitCode, stdout } = await edgewise('apply --yes --allow-take-over test');
    expect(stdout).toContain(`take over: from the stack test, where it is TCPEdge/a`);
    expect(stdout).not.toContain('predecessor-unclear');
    expect(exitCode).toBe(0);
  });
});

describe('a resource without a mark', () => {
  const wipe = async (server: Server, path: string) => sendByHand({ server }, 'PATCH', path, { metadata: '' });

  it('is unowned in drift, although its manifest adopted it once', async () => {
    const { edgewise, server, id } = await createAdoptedEdge();
    await wipe(server, `/edges/tcp/${id}`);
    const { exitCode, stdout } = await edgewise('drift');
    expect(exitCode).toBe(2);
    expect(withoutReads(stdout)).toMatchInlineSnapshot(`
      "Drift of stack test on https://api.test
      0 missing, 0 drifted, 1 unowned, 0 pending, 0 to prune; 0 in sync.

      Unowned: without the mark of this stack:

      ? TCPEdge/a  (edgtcp_3ALKRDJGD5v0XNqrF0OBShxPncb)   it has no mark; its manifest adopts it: lifecycle: { adopt: edgtcp_3ALKRDJGD5v0XNqrF0OBShxPncb }
          next apply: adopts it, and sets the values of the manifest

      Live resources of the kinds that were read: 0 of this stack, 1 unmanaged (TCPEdge 1).
      Reading took … requests.
      "
    `);
    const { counts, coverage, unowned } = readOnlyStack((await edgewise('drift --format json')).stdout);
    expect(counts).toMatchObject({ unowned: 1, pending: 0, 'in-sync': 0 });
    expect(coverage).toMatchObject({ owned: 0, unmanaged: 1, share: 0 });
    expect(unowned).toEqual([{ kind: 'TCPEdge', id, description: '' }]);
    const gauges = (await edgewise('drift --format metrics')).stdout;
    expect(gauges).toContain('edgewise_resources{stack="test",kind="TCPEdge",state="unowned"} 1\n');
    expect(gauges).toContain('edgewise_account_managed_ratio{stack="test",base_url="https://api.test"} 0\n');
    expect(await edgewise('apply --yes')).toMatchObject({ exitCode: 0 });
    expect(await edgewise('drift')).toMatchObject({ exitCode: 0 });
  });

  it.each([
    ['by its unique values', EDGE, '/edges/tcp', 'TCPEdge'],
    ['by its fields', POOL, '/backends/weighted', 'WeightedBackend'],
  ])('is proposed for adoption %s, with the line to write', async (_, manifest, path, kind) => {
    const { edgewise, server, write } = await createWorkspace({ 'edgewise.yaml': STACK + manifest });
    await edgewise('apply --yes');
    const [{ id = '' } = {}] = server.snapshot().resources[kind] ?? [];
    await wipe(server, `${path}/${String(id)}`);
    const { exitCode, stdout } = await edgewise('drift');
    expect(exitCode).toBe(2);
    expect(stdout).toContain(`Unowned: without the mark of this stack:\n\n? ${kind}/`);
    expect(stdout).toMatch(
      /it has no mark, and has (?:a unique value that the manifest claims|the fields of the manifest);/,
    );
    expect(stdout).toContain(`; to adopt it, add to its manifest: lifecycle: { adopt: ${String(id)} }`);
    expect(stdout).toContain('0 missing, 0 drifted, 1 unowned, 0 pending, 0 to prune; 0 in sync.');
    const planned = await edgewise('plan');
    expect(planned.stdout).toContain(kind === 'TCPEdge' ? 'refused[claimed-elsewhere]' : 'error[mark-lost]');
    expect(planned.stdout).toContain('the same fields and no metadata');
    expect(planned.stdout).toContain(`adopt: ${String(id)}`);
    await write({ 'edgewise.yaml': STACK + withAdopt(manifest, id) });
    expect(await edgewise('apply --yes')).toMatchObject({ exitCode: 0 });
    expect(await edgewise('drift')).toMatchObject({ exitCode: 0 });
  });

  it('is proposed by a warning if it has metadata of its user: an apply has never created it', async () => {
    const { edgewise, server } = await createWorkspace({ 'edgewise.yaml': STACK + POOL });
    await sendByHand({ server }, 'POST', '/backends/weighted', { backends: { bkdhr_blue: 1 }, metadata: 'by hand' });
    const { exitCode, stdout } = await edgewise('plan');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/warning\[predecessor-unclear\]: WeightedBackend\/\S+ would be created beside bkdwd_/);
  });

  it('is not proposed for a manifest without distinguishing values, nor if two match', async () => {
    const { edgewise, server } = await createWorkspace({
      'edgewise.yaml': STACK + POOL + toCredential('agent'),
    });
    await sendByHand({ server }, 'POST', '/credentials', {});
    for (const description of ['one', 'two'])
      await sendByHand({ server }, 'POST', '/backends/weighted', {
        backends: { bkdhr_blue: 1 },
        metadata: description,
      });
    const { stdout } = await edgewise('plan');
    expect(stdout).not.toContain('predecessor-unclear');
    expect(readOnlyStack((await edgewise('drift --format json')).stdout).counts).toMatchObject({
      missing: 2,
      unowned: 0,
    });
  });
});

describe('a plan with a target', () => {
  it('says nothing about adoptions outside of its targets, whose kinds it has not read', async () => {
    const { edgewise, write, server } = await createWorkspace();
    await sendByHand({ server }, 'POST', '/edges/tcp', { hostports: ['1.tcp.example.net:20001'] });
    await write({ 'edgewise.yaml': STACK + POOL + withAdopt(EDGE, findEdge(server)) });
    const { exitCode, stdout } = await edgewise('plan --target WeightedBackend/pool');
    expect(stdout).not.toContain('adopt-');
    expect(exitCode).toBe(0);
  });

  it('reports why a target, or a resource that a target needs, cannot be adopted', async () => {
    const needing = EDGE.replace('spec:\n', 'spec:\n  backend: { backend_id: WeightedBackend/pool }\n');
    const { edgewise, write, server } = await createWorkspace();
    const metadata = '{"edgewise":{"stack":"other","name":"pool"}}';
    await sendByHand({ server }, 'POST', '/backends/weighted', { backends: { bkdhr_blue: 1 }, metadata });
    const [pool] = server.snapshot().resources['WeightedBackend'] ?? [];
    await write({ 'edgewise.yaml': STACK + withAdopt(POOL, pool?.['id']) + needing });
    for (const target of ['WeightedBackend/pool', 'TCPEdge/a']) {
      const { exitCode, stdout } = await edgewise(`plan --target ${target}`);
      expect(stdout).toContain('error[adopt-refused]');
      expect(stdout).not.toContain('unknown-target');
      expect(exitCode).toBe(3);
    }
  });
});
