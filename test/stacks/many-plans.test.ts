import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createWorkspace, STACK, toEdge, toManifest, toTranscript, type Workspace } from '../cli/workspace.ts';
import { toRepository, toStack } from './tree.ts';

const listPaths = ({ recorder }: Workspace): string[] => recorder.take().map(({ path }) => path);

/** A repository of which some stacks are applied, some changed since, and one is wrong. */
async function createMixed(): Promise<Workspace> {
  const workspace = await createWorkspace(toRepository(5));
  for (const name of ['s00', 's01', 's02']) await workspace.edgewise(`apply live/${name} --yes`);
  await workspace.write({
    'live/s01/edges/edge.yaml': toEdge('s01-edge', 30_001),
    'live/s04/edges/edge.yaml': `${toEdge('s04-edge', 20_004)}  colour: red\n`,
  });
  workspace.recorder.take();
  return workspace;
}

describe('plans of many stacks', () => {
  it('take the reads of one, and are byte for byte those of each stack alone', async () => {
    const workspace = await createWorkspace(toRepository(20));
    const alone = [];
    for (let index = 0; index < 20; index += 1) {
      const { stdout } = await workspace.edgewise(`plan live/s${String(index).padStart(2, '0')} --format json`);
      alone.push(JSON.parse(stdout));
    }
    const readsOfOne = listPaths(workspace).length / 20;
    const { stdout, exitCode } = await workspace.edgewise('plan -R live --format json');
    expect(exitCode).toBe(0);
    const reads = listPaths(workspace);
    expect(reads).toHaveLength(readsOfOne);
    expect(new Set(reads).size).toBe(reads.length);
    const { stacks } = JSON.parse(stdout);
    expect(stacks.map(({ report }: { readonly report: unknown }) => JSON.stringify(report))).toEqual(
      alone.map((plan) => JSON.stringify(plan)),
    );
    await workspace.edgewise('plan -R live -o plans');
    await workspace.edgewise('plan live/s07 -o alone.json');
    const read = (file: string) => readFileSync(`${workspace.folder}/${file}`, 'utf8');
    expect(read('plans/s07.json')).toBe(read('alone.json'));
  });

  it('read modules that two stacks look at once', async () => {
    const route = toManifest('HTTPSEdge', 'web', {
      id: 'edghts_1',
      mutual_tls: { certificate_authority_ids: ['ca_1'] },
    });
    const workspace = await createWorkspace({
      'a/edgewise.yaml': `${toStack('a')}${route}`,
      'b/edgewise.yaml': `${toStack('b')}${route}`,
    });
    await workspace.edgewise('plan a');
    const alone = listPaths(workspace).sort();
    // Two stacks cannot both set them, so both are stopped; what was read for both was read once.
    expect((await workspace.edgewise('plan -R')).exitCode).toBe(3);
    expect(listPaths(workspace).sort()).toEqual(alone);
  });

  it('have one report: what each has to say, a line for each, and the gravest exit code', async () => {
    const { edgewise } = await createMixed();
    await expect(toTranscript(await edgewise('plan -R live'))).toMatchFileSnapshot('goldens/plan.txt');
    expect((await edgewise('plan -R live --detailed-exitcode')).exitCode).toBe(3);
    expect((await edgewise('plan -R live --detailed-exitcode --stack s01')).exitCode).toBe(2);
    expect((await edgewise('plan -R live --detailed-exitcode --stack s00')).exitCode).toBe(0);
  });

  it.each(['markdown', 'json-lines', 'github', 'sarif', 'junit'])('are %s as a whole', async (form) => {
    const { edgewise } = await createMixed();
    await expect((await edgewise(`plan -R live --format ${form}`)).stdout).toMatchFileSnapshot(`goldens/plan.${form}`);
  });

  it('are a page each in one HTML file, which loads nothing', async () => {
    const { edgewise } = await createMixed();
    const { stdout } = await edgewise('plan -R live --format html');
    expect(
      stdout.match(/<iframe title="s0\d" srcdoc="&lt;!doctype|<iframe title="s0\d" srcdoc="<!doctype/g),
    ).toHaveLength(5);
    expect(stdout).toContain('<a href="#stack-2">s01</a>');
    expect(stdout).toContain(
      '<details class="stack" id="stack-2"><summary>s01 (live/s01): 1 to update, 1 warning</summary>',
    );
    expect(stdout).not.toMatch(/(?:src|href)="https?:/);
  });

  it('are one comment of at most 65,536 characters for 200 stacks', async () => {
    const { edgewise } = await createWorkspace(toRepository(200));
    const { stdout } = await edgewise('plan -R live --format markdown');
    expect(stdout.length).toBeLessThanOrEqual(65_536);
    for (let index = 0; index < 200; index += 1)
      expect(stdout).toContain(`| live/s${String(index).padStart(2, '0')} |`);
    expect(stdout).toContain('Left out: ');
  });

  it('are refused what is said of one resource', async () => {
    const { edgewise } = await createWorkspace(toRepository(2));
    expect(await edgewise('plan -R live --target TCPEdge/a --rotate Credential/b')).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('--target and --rotate cannot be used for 2 stacks: each may have that address.'),
    });
    expect((await edgewise('plan -R live --target TCPEdge/a --shard 1/1')).stderr).toContain('Add --stack NAME');
    expect((await edgewise('plan live --shard 1/2')).stderr).toContain('--shard narrows a run over many stacks.');
    expect((await edgewise('plan -R live other')).stderr).toContain('--recursive takes one folder');
  });

  it('of one account with two ways to it stop the second stack only', async () => {
    const { edgewise } = await createWorkspace({
      'a/edgewise.yaml': toStack('a'),
      'b/edgewise.yaml': toStack('b', { api: { page_size: 7 } }),
    });
    const { stdout, exitCode } = await edgewise('plan -R');
    expect(exitCode).toBe(3);
    expect(stdout).toContain('b/edgewise.yaml says another page size than a/edgewise.yaml');
  });

  it('fail one by one when the service fails for one list', async () => {
    const workspace = await createWorkspace({
      'a/edgewise.yaml': `${toStack('a', { kinds: ['TCPEdge'] })}${toEdge('a', 20001)}`,
      'b/edgewise.yaml': toStack('b'),
    });
    const transport = async (request: Request): Promise<Response> =>
      request.url.includes('/credentials')
        ? new Response('{}', { status: 403 })
        : workspace.recorder.transport(request);
    const { stdout, exitCode } = await workspace.edgewise('plan -R', { transport });
    expect(exitCode).toBe(4);
    expect(stdout).toMatch(/^a {6}a {7}1 to create, 1 warning$/m);
  });
});

describe('checks of many stacks', () => {
  it('validate each, and send nothing', async () => {
    const workspace = await createMixed();
    await expect(toTranscript(await workspace.edgewise('lint --recursive live'))).toMatchFileSnapshot(
      'goldens/validate.txt',
    );
    expect(listPaths(workspace)).toEqual([]);
  });

  it('compare each with what is live, with the metrics of each, and of the account once', async () => {
    const workspace = await createMixed();
    const { stdout, exitCode } = await workspace.edgewise(
      'drift -R live --format metrics --report account-metrics=account.prom',
    );
    expect(exitCode).toBe(3);
    expect(stdout.match(/^# TYPE edgewise_run_success gauge$/gm)).toHaveLength(1);
    expect(stdout).toContain('edgewise_run_success{stack="s00"} 1\n');
    expect(stdout).toContain('edgewise_run_success{stack="s04"} 0\n');
    const account = readFileSync(`${workspace.folder}/account.prom`, 'utf8');
    expect(account.match(/^edgewise_account_last_run_timestamp_seconds /gm)).toHaveLength(1);
    expect(new Set(listPaths(workspace)).size).toBeLessThan(10);
  });

  it('do nothing for an empty shard, and say so', async () => {
    const { edgewise, recorder } = await createWorkspace({ 'only/edgewise.yaml': STACK });
    const results = [];
    for (const index of [1, 2]) results.push(await edgewise(`plan -R --shard ${index}/2`));
    expect(results.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    expect(results.map(({ stdout }) => stdout).join('')).toContain('0 of 1 stack below the current folder.\n');
    expect(new Set(recorder.take().map(({ method }) => method))).toEqual(new Set(['GET']));
  });
});
