import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Plan } from '../../src/model/plan.ts';
import { GENERAL_FORMAT_NAMES } from '../../src/report/formats.ts';
import type { Server } from '../../src/server/index.ts';
import { sendByHand } from '../by-hand.ts';
import { changePlan } from '../results.ts';
import { createWorkspace, STACK, toCredential, toEdge } from './workspace.ts';

const STRICT = toStack('{ max_deletes: 1, max_delete_share: 0.1 }');
const LAX = toStack('{ max_deletes: 9, max_delete_share: 1 }');
const EDGES = ['a', 'b', 'c'].map((name, index) => toEdge(name, 20001 + index));
const ONE_EDGE = toEdge('a', 20001);
const PROTECT = 'lifecycle: { protect: true }\n';

function toStack(guard: string): string {
  return `${STACK}spec: { guard: ${guard} }\n`;
}

/** A stack with three edges, of which the manifests keep one. */
async function createStackWithTwoDeletes(stack: string) {
  const workspace = await createWorkspace({ 'edgewise.yaml': stack + EDGES.join('') });
  await workspace.edgewise('apply --yes');
  await workspace.write({ 'edgewise.yaml': stack + ONE_EDGE });
  workspace.recorder.take();
  return workspace;
}

/** A stack of one protected edge. */
async function createProtectedEdge(more = '') {
  const workspace = await createWorkspace({ 'edgewise.yaml': STACK + ONE_EDGE + PROTECT + more });
  await workspace.edgewise('apply --yes --token-directory tokens');
  workspace.recorder.take();
  return workspace;
}

function listEdges(server: Server): readonly string[] {
  return (server.snapshot().resources['TCPEdge'] ?? []).map(({ id }) => String(id));
}

/** Copies of a resource, with the mark. */
async function copyEdges(server: Server, count: number): Promise<void> {
  const [edge] = server.snapshot().resources['TCPEdge'] ?? [];
  for (let index = 0; index < count; index += 1) {
    await sendByHand({ server }, 'POST', '/edges/tcp', { metadata: edge?.['metadata'] });
  }
}

describe('the guard of the Stack', () => {
  it('refuses with the same exit code in plan and apply for each format, and writes nothing', async () => {
    const { edgewise, recorder } = await createStackWithTwoDeletes(STRICT);
    for (const format of GENERAL_FORMAT_NAMES) {
      expect(await edgewise(`plan --format ${format}`), format).toMatchObject({ exitCode: 5 });
      expect(await edgewise(`apply --yes --format ${format}`), format).toMatchObject({ exitCode: 5 });
    }
    expect(await edgewise('plan --allow-deletes')).toMatchObject({ exitCode: 0 });
    expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('applies to an approved plan: consent to plan is no consent to apply', async () => {
    const { edgewise, server } = await createStackWithTwoDeletes(STRICT);
    await edgewise('plan edgewise.yaml -o plan.json --allow-deletes');
    expect(await edgewise('apply edgewise.yaml --approved plan.json --yes')).toMatchObject({ exitCode: 5 });
    expect(listEdges(server)).toHaveLength(3);
    expect(await edgewise('apply edgewise.yaml --approved plan.json --yes --allow-deletes')).toMatchObject({
      exitCode: 0,
    });
    expect(listEdges(server)).toHaveLength(1);
  });

  it('uses a stricter limit of the apply than of the plan', async () => {
    const { edgewise, write, server } = await createStackWithTwoDeletes(LAX);
    await write({ 'strict/.git/HEAD': '', 'strict/edgewise.yaml': STRICT + ONE_EDGE });
    expect(await edgewise('plan edgewise.yaml -o plan.json')).toMatchObject({ exitCode: 0 });
    const refused = await edgewise('apply strict --approved plan.json --yes');
    expect(refused.stdout).toContain('guard.max_deletes: approved: 9; now: 1');
    expect(refused.stdout).toContain('the consents needed: approved: (none); now: delete-share: ');
    expect(refused.exitCode).toBe(6);
    expect(await edgewise('apply edgewise.yaml --approved plan.json --yes')).toMatchObject({ exitCode: 0 });
    expect(listEdges(server)).toHaveLength(1);
  });

  it('counts the share of everything owned, and not of what --target names', async () => {
    const { edgewise } = await createStackWithTwoDeletes(STRICT);
    const targets = '--target TCPEdge/b --target TCPEdge/c';
    expect(await edgewise(`apply --yes ${targets}`)).toMatchObject({ exitCode: 5 });
    expect(await edgewise('apply --yes --target TCPEdge/b')).toMatchObject({ exitCode: 0 });
  });

  it('ignores deletes that --exclude names, also of protected resources', async () => {
    const { edgewise, server, write } = await createProtectedEdge(EDGES.slice(1).join(''));
    await write({ 'edgewise.yaml': STRICT });
    expect(await edgewise('apply --yes')).toMatchObject({ exitCode: 5 });
    const exclusions = ['a', 'b', 'c'].map((name) => `--exclude TCPEdge/${name}`).join(' ');
    const { exitCode, stdout } = await edgewise(`apply --yes ${exclusions}`);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('Nothing to do: 3 changes are left out.');
    expect(listEdges(server)).toHaveLength(3);
  });

  it('does not count a rename as a delete', async () => {
    const { edgewise, server, write } = await createStackWithTwoDeletes(STRICT);
    const renamed = EDGES.map((text) => `${text.replace('name: ', 'name: new-')}lifecycle: { renamed_from: OLD }\n`);
    const names = ['a', 'b', 'c'];
    await write({
      'edgewise.yaml': STRICT + renamed.map((text, index) => text.replace('OLD', names[index] ?? '')).join(''),
    });
    const before = listEdges(server);
    expect(await edgewise('apply --yes')).toMatchObject({ exitCode: 0 });
    expect(listEdges(server)).toEqual(before);
  });

  it('does not count a move to another stack as a delete, in neither stack', async () => {
    const { edgewise, server, write } = await createStackWithTwoDeletes(STRICT);
    await write({
      'edgewise.yaml': STRICT.replace('name: test', 'name: other\n  renamed_from: test') + EDGES.join(''),
    });
    expect(await edgewise('apply --yes --allow-take-over test')).toMatchObject({ exitCode: 0 });
    await write({ 'edgewise.yaml': STRICT });
    expect(await edgewise('apply --yes')).toMatchObject({ exitCode: 0 });
    expect(listEdges(server)).toHaveLength(3);
  });
});

describe('a copied stack name', () => {
  /** A stack of one edge, and a folder of another team with the same stack name. */
  async function createCopiedStack(described: string) {
    const workspace = await createWorkspace({ 'edgewise.yaml': STACK + ONE_EDGE });
    await workspace.edgewise('apply --yes');
    await workspace.write({ 'edgewise.yaml': STACK + described });
    return workspace;
  }

  it('lets an approved plan delete nothing, even if its violations were removed', async () => {
    const { edgewise, server, folder, write } = await createCopiedStack(toEdge('other', 20009));
    expect(await edgewise('plan -o plan.json')).toMatchObject({ exitCode: 5 });
    expect(await edgewise('apply --approved plan.json --yes')).toMatchObject({ exitCode: 5 });
    const text = await readFile(join(folder, 'plan.json'), 'utf8');
    await write({ 'plan.json': changePlan(text, (plan) => ({ ...plan, violations: [] })) });
    const refused = await edgewise('apply --approved plan.json --yes');
    expect(refused.stdout).toContain('the consents needed: approved: (none); now: nothing-described: ');
    expect(refused.exitCode).toBe(6);
    expect(listEdges(server)).toHaveLength(1);
    await write({ 'plan.json': text });
    expect(await edgewise('apply --approved plan.json --yes --allow-deletes')).toMatchObject({ exitCode: 0 });
  });

  it.each(['github', 'sarif', 'junit'])('lists everything that the stack owns as %s', async (format) => {
    const { edgewise, write } = await createWorkspace({ 'edgewise.yaml': STACK + EDGES.join('') });
    await edgewise('apply --yes');
    await write({ 'edgewise.yaml': STACK + toEdge('other', 20009) });
    const { stdout } = await edgewise(`plan --format ${format}`);
    expect(stdout).toMatch(/another folder probably [^\n]*They are TCPEdge\/a, TCPEdge\/b, TCPEdge\/c\./);
  });

  it.each([
    ['a new name with renamed_from', `${toEdge('b', 20001)}lifecycle: { renamed_from: a }\n`],
    ['a resource that is to be replaced or changed', toEdge('a', 20002)],
  ])('is not suspected if the stack owns what the manifests describe: %s', async (_, described) => {
    const { edgewise, write } = await createCopiedStack(described);
    await write({ 'more.yaml': toEdge('c', 20003) });
    await edgewise('apply --yes edgewise.yaml more.yaml');
    expect(await edgewise('apply --yes edgewise.yaml')).toMatchObject({ exitCode: 0 });
  });

  it('does not prevent the delete of a target, nor destroy', async () => {
    const { edgewise } = await createCopiedStack(toEdge('other', 20009));
    expect(await edgewise('plan --target TCPEdge/a')).toMatchObject({ exitCode: 0 });
    expect(await edgewise('destroy --yes')).toMatchObject({ exitCode: 0 });
  });
});

describe('duplicates', () => {
  it('count as deletes', async () => {
    const { edgewise, server } = await createWorkspace({ 'edgewise.yaml': STRICT + toEdge('a', 20001) });
    await edgewise('apply --yes');
    await copyEdges(server, 2);
    const refused = await edgewise('apply --yes');
    expect(refused.stdout).toContain('This plan would delete 2 of 3 TCPEdge (67 %)');
    expect(refused.exitCode).toBe(5);
    expect(await edgewise('apply --yes --allow-deletes')).toMatchObject({ exitCode: 0 });
    expect(listEdges(server)).toHaveLength(1);
  });

  it.each(['a', 'b'])('that were created in one second leave the original, whatever its id: %s', async (idSeed) => {
    const { edgewise, server } = await createWorkspace({ 'edgewise.yaml': LAX + ONE_EDGE }, { idSeed });
    await edgewise('apply --yes');
    const [oldest] = listEdges(server);
    await copyEdges(server, 3);
    expect(await edgewise('apply --yes')).toMatchObject({ exitCode: 0 });
    expect(listEdges(server)).toEqual([oldest]);
  });

  it('of a protected resource need consent if they may be the original, and the one that stays is protected', async () => {
    const { edgewise, server, write } = await createProtectedEdge();
    const [kept] = listEdges(server);
    // Created in the same second: nothing shows which is the original.
    await copyEdges(server, 1);
    const refused = await edgewise('apply --yes');
    expect(refused.stdout).toContain('is protected, and this plan would delete it');
    expect(refused.exitCode).toBe(5);
    expect(listEdges(server)).toHaveLength(2);
    const pruned = await edgewise('apply --yes --allow-protected TCPEdge/a');
    expect(pruned.stdout).toMatch(/- TCPEdge\/a {2}\(edgtcp_\w+\) {3}delete: a duplicate/);
    expect(pruned.stdout).toContain('warning[duplicate-mark]');
    expect(pruned.exitCode).toBe(0);
    expect(listEdges(server)).toEqual([kept]);
    await copyEdges(server, 1);
    await write({ 'edgewise.yaml': STACK });
    expect(await edgewise('apply --yes --allow-deletes')).toMatchObject({ exitCode: 5 });
    expect(listEdges(server)).toHaveLength(2);
  });

  it('are not pruned by an approved plan if the one that was to stay is gone', async () => {
    const { edgewise, server } = await createWorkspace({ 'edgewise.yaml': STACK + ONE_EDGE });
    await edgewise('apply --yes');
    await copyEdges(server, 1);
    await edgewise('plan edgewise.yaml -o plan.json');
    const [kept, copy] = listEdges(server);
    await sendByHand({ server }, 'DELETE', `/edges/tcp/${kept}`);
    const { exitCode, stdout } = await edgewise('apply edgewise.yaml --approved plan.json --yes');
    expect(stdout).toContain('Approved, but not in this plan:');
    expect(stdout).toContain(
      `- TCPEdge/a  (${copy})   delete: a duplicate: ${kept} has the same mark and is kept\n    it changed at`,
    );
    expect(exitCode).toBe(6);
    expect(listEdges(server)).toEqual([copy]);
  });
});

describe('protection', () => {
  const credential = toCredential('agent') + PROTECT;
  it.each([
    ['a delete', 'apply --yes --allow-deletes', '', 'TCPEdge/a'],
    ['a delete of a target', 'apply --yes --allow-deletes --target TCPEdge/a', '', 'TCPEdge/a'],
    ['destroy', 'destroy --yes', ONE_EDGE + PROTECT, 'TCPEdge/a'],
    ['a release', 'release --yes TCPEdge/a', ONE_EDGE + PROTECT, 'TCPEdge/a'],
    ['a delete whose protection ends in the same apply', 'destroy --yes', ONE_EDGE, 'TCPEdge/a'],
    ['a rotation', 'apply --yes --allow-deletes --rotate Credential/agent', credential, 'Credential/agent'],
  ])('blocks %s, and yields only to consent by name', async (_, line, manifests, address) => {
    const { edgewise, write, server } = await createProtectedEdge(credential);
    const before = server.snapshot().resources;
    await write({ 'edgewise.yaml': STACK + manifests });
    const tokens = line.startsWith('apply') ? ' --token-directory tokens' : '';
    expect(await edgewise(`${line}${tokens} --allow-protected TCPEdge/other`)).toMatchObject({ exitCode: 5 });
    expect(server.snapshot().resources).toEqual(before);
    const all = ['TCPEdge/a', 'Credential/agent'].map((one) => ` --allow-protected ${one}`).join('');
    const allowed = await edgewise(`${line}${tokens}${all}`);
    expect(allowed.exitCode, allowed.stdout + allowed.stderr).toBe(0);
    expect(allowed.stdout).toContain(address);
  });
});

describe('an edited plan file', () => {
  async function edit(folder: string, change: (plan: Plan) => object): Promise<void> {
    const file = join(folder, 'plan.json');
    await writeFile(file, changePlan(await readFile(file, 'utf8'), change));
  }

  it('obeys the limits, although it says that it was made to delete', async () => {
    const { edgewise, folder, server } = await createStackWithTwoDeletes(STRICT);
    await edgewise('plan edgewise.yaml -o plan.json');
    await edit(folder, (plan) => ({ ...plan, mode: 'destroy', violations: [] }));
    expect(await edgewise('apply edgewise.yaml --approved plan.json --yes')).toMatchObject({ exitCode: 6 });
    expect(listEdges(server)).toHaveLength(3);
  });

  it('cannot declare a protected resource a duplicate', async () => {
    const { edgewise, folder, server, write } = await createProtectedEdge(EDGES[1]);
    await write({ 'edgewise.yaml': STACK + EDGES[1] });
    await edgewise('plan edgewise.yaml -o plan.json');
    const [id] = listEdges(server);
    await edit(folder, (plan) =>
      JSON.parse(
        JSON.stringify({ ...plan, violations: [] })
          .replaceAll('"TCPEdge/a"', `"TCPEdge/a@${id}"`)
          .replaceAll('delete TCPEdge/a', `delete TCPEdge/a@${id}`)
          .replaceAll('"protect":true', '"protect":false'),
      ),
    );
    expect((await edgewise('apply edgewise.yaml --approved plan.json --yes --allow-deletes')).exitCode).toBeOneOf([
      3, 5, 6,
    ]);
    expect(listEdges(server)).toHaveLength(2);
  });
});
