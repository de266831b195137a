import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openStack, PlanExceedsApprovalError, parsePlan } from '../../src/index.ts';
import { listFormatNames } from '../../src/report/formats.ts';
import { BASE_URL } from './fake-context.ts';
import { createWorkspace, STACK, toCredential, toEdge, toManifest, toTranscript, type Workspace } from './workspace.ts';

const BEFORE = `${STACK}${toEdge('a', 20001)}${toEdge('old', 20002)}`;
const AFTER = `${STACK}${toEdge('a', 20003)}${toManifest('TCPEdge', 'new', { hostports: ['1.tcp.example.net:20004'], description: 'new' })}`;

/** A change that was planned and approved: `a` moves, `old` goes, `new` comes. */
async function approve(): Promise<Workspace> {
  const workspace = await createWorkspace({ 'edgewise.yaml': BEFORE });
  await workspace.edgewise('apply edgewise.yaml --yes');
  await workspace.write({ 'edgewise.yaml': AFTER });
  await workspace.edgewise('plan edgewise.yaml -o approved.json');
  workspace.recorder.take();
  return workspace;
}

async function patch({ server }: Workspace, id: string, body: object): Promise<void> {
  const headers = { authorization: 'Bearer dev', 'service-version': '2', 'content-type': 'application/json' };
  const request = { method: 'PATCH', headers, body: JSON.stringify(body) };
  expect((await server.handle(new Request(`${BASE_URL}/edges/tcp/${id}`, request))).status).toBe(200);
}

function listWrites({ recorder }: Workspace): readonly string[] {
  return recorder.take().flatMap(({ method, path }) => (method === 'GET' ? [] : [`${method} ${path}`]));
}

const TROUBLE = { code: 'token-sink-missing', severity: 'error', message: 'trouble' };
const NO_DANGERS = { access: 0, traffic: 0, secrets: 0, protection: 0, ownership: 0 };
const NO_TOTALS = { delete: 0, replace: 0, update: 0, release: 0, takeOver: 0, adopt: 0, create: 0, unchanged: 0 };
const APPLY = 'apply edgewise.yaml --approved approved.json --yes';

describe('apply --approved', () => {
  it('applies what was approved, and what is left of it', async () => {
    const workspace = await approve();
    await workspace.edgewise('apply edgewise.yaml --target TCPEdge/new --yes');
    workspace.recorder.take();
    expect(await workspace.edgewise(APPLY)).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining('not') });
    expect(listWrites(workspace).map((line) => line.split(' ')[0])).toEqual(['DELETE', 'PATCH']);
    expect(await workspace.edgewise(APPLY)).toMatchObject({ exitCode: 0 });
  });

  it('refuses with 6 whatever else was merged, shows only that, and writes nothing', async () => {
    const workspace = await approve();
    const { edgewise, write, server } = workspace;
    const [a] =
      server.snapshot().resources['TCPEdge']?.filter(({ hostports }) => String(hostports).includes('20001')) ?? [];
    await patch(workspace, String(a?.['id']), { description: 'by hand' });
    const merged = AFTER.replace('20004', '20005').replace(
      'name: test\n',
      'name: test\nspec: { tokens: { default: { directory: tokens } } }\n',
    );
    await write({ 'edgewise.yaml': `${merged}${toEdge('merged', 20006)}${toCredential('agent')}` });
    const refused = await edgewise(APPLY);
    await expect(toTranscript(refused)).toMatchFileSnapshot('goldens/not-approved.txt');
    expect(listWrites(workspace)).toEqual([]);
    for (const form of listFormatNames('plan')) {
      const shown = await edgewise(`${APPLY} --format ${form}`);
      expect(shown.exitCode).toBe(6);
      expect(shown.stdout, form).toContain(form === 'json-lines' ? '"covered":false' : 'TCPEdge/merged');
      if (form !== 'junit') expect(shown.stdout, form).not.toContain('TCPEdge/old');
    }
    expect(listWrites(workspace)).toEqual([]);
  });

  it.each<[string, (plan: object) => object]>([
    [
      'a plan of another stack',
      (plan) => ({ ...plan, stack: 'other', changes: [], writes: [], totals: NO_TOTALS, dangers: NO_DANGERS }),
    ],
    ['a plan that has errors', (plan) => ({ ...plan, diagnostics: [TROUBLE], writes: [] })],
    ['a plan of another version', (plan) => ({ ...plan, tool: { name: 'edgewise', version: '0.0.1' } })],
  ])('is not satisfied with %s', async (_, edit) => {
    const workspace = await approve();
    const { edgewise, write, folder } = workspace;
    const text = await readFile(join(folder, 'approved.json'), 'utf8');
    await write({ 'approved.json': JSON.stringify(edit(JSON.parse(text))) });
    expect(await edgewise(APPLY)).toMatchObject({ exitCode: 6 });
    expect(listWrites(workspace)).toEqual([]);
  });

  it('names a plan of another stack beside its own', async () => {
    const { edgewise, write, folder } = await approve();
    const plan = JSON.parse(await readFile(join(folder, 'approved.json'), 'utf8'));
    const other = { ...plan, stack: 'other', changes: [], writes: [], totals: NO_TOTALS, dangers: NO_DANGERS };
    await write({ 'approved.json': JSON.stringify(other) });
    const { stdout } = await edgewise(APPLY);
    expect(stdout).toContain('The plan and approved.json cannot be compared: one is for the stack other');
  });

  it('goes with manifests only, and only with a plan', async () => {
    const { edgewise } = await approve();
    expect(await edgewise('apply approved.json --approved approved.json --yes')).toMatchObject({ exitCode: 3 });
    expect(await edgewise('apply edgewise.yaml --approved edgewise.yaml --yes')).toMatchObject({ exitCode: 3 });
  });

  it('is there for programs', async () => {
    const workspace = await approve();
    const { folder, recorder, write } = workspace;
    const approved = parsePlan(await readFile(join(folder, 'approved.json'), 'utf8'));
    const env = { EDGEWISE_BASE_URL: BASE_URL, EDGEWISE_API_KEY: 'dev' };
    await write({ 'edgewise.yaml': `${AFTER}${toEdge('merged', 20006)}` });
    await using stack = await openStack({ cwd: folder, env, transport: recorder.transport });
    const error = await stack.apply(await stack.plan(), { approved }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PlanExceedsApprovalError);
    expect(error).toMatchObject({ comparison: { more: { changes: [{ change: { address: 'TCPEdge/merged' } }] } } });
    expect(listWrites(workspace)).toEqual([]);
    await write({ 'edgewise.yaml': AFTER });
    await using again = await openStack({ cwd: folder, env, transport: recorder.transport });
    expect((await again.apply(await again.plan(), { approved })).outcomes).toHaveLength(3);
  });
});

describe('diff', () => {
  it('says with 0 that two plans do the same, and with 2 what they do not', async () => {
    const { edgewise, write, recorder } = await approve();
    await edgewise('plan edgewise.yaml -o again.json');
    await write({
      'edgewise.yaml': `${AFTER.replace('20003', '20007')}${toEdge('more', 20008)}${toEdge('old', 20002)}`,
    });
    await edgewise('plan edgewise.yaml -o later.json');
    recorder.take();
    expect(await edgewise('diff approved.json again.json')).toMatchObject({ exitCode: 0 });
    await expect(toTranscript(await edgewise('diff approved.json later.json'))).toMatchFileSnapshot('goldens/diff.txt');
    const json = await edgewise('diff approved.json later.json --format json');
    expect({ ...JSON.parse(json.stdout), ok: true }).toMatchObject({ command: 'diff', same: false, covered: false });
    const markdown = await edgewise('diff approved.json later.json --format markdown');
    await expect(markdown.stdout).toMatchFileSnapshot('goldens/diff.md');
    expect(recorder.take()).toEqual([]);
  });
});
