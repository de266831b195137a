import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sendByHand } from '../by-hand.ts';
import { selectFirst } from '../cases.ts';
import { createWorkspace, toEdge, toManifest, toTranscript, type Workspace } from '../cli/workspace.ts';
import { hideVersion } from '../hide-version.ts';
import { readPage } from '../report/html-tree.ts';
import { readOnlyStack } from '../results.ts';
import { commitAll, toRepository, toStack } from './tree.ts';

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L';

const listPaths = ({ recorder }: Workspace): string[] => recorder.take().map(({ path }) => path);

/** A repository with applied stacks, changed stacks, and an invalid one. */
async function createMixedRepository(): Promise<Workspace> {
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
  it.each([1, 2, 8])(
    'show how many requests each stack would take alone, with a concurrency of %s',
    async (concurrency) => {
      const { edgewise } = await createWorkspace(toRepository(2, { api: { concurrency } }));
      const alone = readOnlyStack((await edgewise(`plan live/s00 --format json`)).stdout);
      const all = JSON.parse((await edgewise(`plan -R live --format json`)).stdout);
      expect(alone.requests.read).toBeGreaterThan(1);
      for (const { plan } of all.stacks) expect(plan.requests.read).toBe(alone.requests.read);
    },
  );

  it('read an account once, however its URL is written', async () => {
    const urls = ['https://api.test', 'HTTPS://api.test/', 'https://API.test:443//'];
    const { edgewise, recorder } = await createWorkspace(
      Object.fromEntries(
        urls.map((url, index) => [`live/s${index}/edgewise.yaml`, toStack(`s${index}`, { api: { base_url: url } })]),
      ),
    );
    const env = { EDGEWISE_BASE_URL: '' };
    await edgewise('plan live/s0', { env });
    const alone = recorder.take().length;
    expect((await edgewise('plan -R live', { env })).exitCode).toBe(0);
    expect(recorder.take()).toHaveLength(alone);
  });

  it('take the reads of one, and equal those of each stack alone byte for byte', async () => {
    const workspace = await createWorkspace(toRepository(6));
    const alone = [];
    for (let index = 0; index < 6; index += 1) {
      const { stdout } = await workspace.edgewise(`plan live/s0${index} --format json`);
      alone.push(...JSON.parse(stdout).stacks);
    }
    const readsOfOne = listPaths(workspace).length / 6;
    const { stdout, exitCode } = await workspace.edgewise('plan -R live --format json');
    expect(exitCode).toBe(0);
    const reads = listPaths(workspace);
    expect(reads).toHaveLength(readsOfOne);
    expect(new Set(reads).size).toBe(reads.length);
    const { stacks } = JSON.parse(stdout);
    expect(stacks).toHaveLength(6);
    expect(JSON.stringify(stacks)).toBe(JSON.stringify(alone));
    await workspace.edgewise('plan -R live -o plans');
    await workspace.edgewise('plan live/s05 -o alone.json');
    const read = (file: string) => readFileSync(`${workspace.folder}/${file}`, 'utf8');
    expect(read('plans/s05.json')).toBe(read('alone.json'));
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
    // Two stacks set them differently, so both are stopped; shared reads were sent once.
    expect((await workspace.edgewise('plan -R')).exitCode).toBe(3);
    expect(listPaths(workspace).sort()).toEqual(alone);
  });

  it('have one report: each stack, a line for each, and the worst exit code', async () => {
    const { edgewise } = await createMixedRepository();
    await expect(toTranscript(await edgewise('plan -R live'))).toMatchFileSnapshot('goldens/plan.txt');
    expect((await edgewise('plan -R live --detailed-exitcode')).exitCode).toBe(3);
    expect((await edgewise('plan -R live --detailed-exitcode --stack s01')).exitCode).toBe(2);
    expect((await edgewise('plan -R live --detailed-exitcode --stack s00')).exitCode).toBe(0);
  });

  it('have a heading in each format if no stack is selected', async () => {
    const { edgewise, folder } = await createWorkspace(toRepository(2));
    commitAll(folder);
    const print = async (format: string, line = 'plan -R live --changed-since HEAD') =>
      (await edgewise(`${line} --format ${format}`)).stdout;
    const headline = '✓ Nothing to do: no stack is selected';
    expect(await print('markdown')).toContain(`\n## ${headline}\n`);
    expect(await print('github')).toContain(`::notice title=edgewise::${headline}%0A`);
    expect(await print('html')).toContain(
      `<h1>Plan for the stacks below live</h1>\n<p class="conclusion"><strong>${headline}</strong></p>`,
    );
    const since = ['plan', 'apply --yes', 'drift', 'validate'].map(
      (command) => `${command} -R live --changed-since HEAD`,
    );
    for (const line of since)
      expect(JSON.parse(await print('json', line)), line).toMatchObject({ ok: true, stacks: [] });
  });

  it('have a comment of their own for each selection by name, which changes with nothing else', async () => {
    const { edgewise, folder } = await createWorkspace(toRepository(3));
    commitAll(folder);
    const mark = async (more: readonly string[]) =>
      (await edgewise(['plan -R live', ...more, '--format markdown'].join(' '))).stdout.split('\n')[0];
    expect(await mark([])).toBe('<!-- edgewise:plan-stacks stack=live -->');
    expect(await mark(['--changed-since HEAD'])).toBe('<!-- edgewise:plan-stacks stack=live -->');
    expect(await mark(['--stack s01'])).toBe('<!-- edgewise:plan-stacks stack=live%20s01 -->');
    expect(await mark(['--stack s01 --changed-since HEAD'])).toBe('<!-- edgewise:plan-stacks stack=live%20s01 -->');
  });

  it.each(['markdown', 'html'])(
    'name the command that applies them once in %s, without a temporary path',
    async (format) => {
      const { edgewise, folder } = await createWorkspace(toRepository(3));
      const fresh = 'edgewise apply -R live --base-url https://api.test';
      for (const [out, command] of [
        ['', fresh],
        [' -o plans', 'edgewise apply -R live --approved plans --base-url https://api.test'],
        [` -o ${join(folder, 'away')}`, fresh],
      ]) {
        const { stdout } = await edgewise(`plan -R live${out} --format ${format}`);
        expect(stdout.split('To apply:')).toHaveLength(2);
        expect(stdout).toContain(command);
        expect(stdout).not.toContain(folder);
      }
    },
  );

  it.each(['markdown', 'github', 'sarif', 'junit'])('are the report %s as a whole', async (form) => {
    const { edgewise } = await createMixedRepository();
    const { stdout } = await edgewise(`plan -R live --format ${form}`);
    await expect(hideVersion(stdout)).toMatchFileSnapshot(`goldens/plan.${form}`);
  });

  it('are one page with a section for each stack, the worst first, one filter, and no requests', async () => {
    const { edgewise } = await createMixedRepository();
    const { stdout } = await edgewise('plan -R live --format html');
    const { elements } = readPage(stdout);
    const find = (name: string, value?: string) =>
      elements.filter(
        ({ attributes }) => attributes.has(name) && attributes.get(name) === (value ?? attributes.get(name)),
      );
    const stacks = find('data-stack').map(({ attributes }) => attributes.get('data-stack'));
    expect(stacks).toEqual(['s04', 's01', 's03']);
    // A stack with only lint warnings has no changes.
    expect(stdout).toMatch(/2 stacks without changes<.*s00<.*1 warning<.*s02<.*1 warning</s);
    expect(find('class', 'filter')).toHaveLength(1);
    const values = find('data-value').map(({ attributes }) => attributes.get('data-value'));
    expect(values).toEqual(['traffic', 'update', 'create', 'TCPEdge', 's01', 's03']);
    // Every name exists once, and every link leads to one.
    const ids = find('id').map(({ attributes }) => attributes.get('id'));
    expect(new Set(ids).size).toBe(ids.length);
    const links = elements.flatMap(({ name, attributes }) => (name === 'a' ? [attributes.get('href') ?? ''] : []));
    const inner = links.filter((link) => link.startsWith('#')).map((link) => link.slice(1));
    expect(inner).toContain('s2-change-1');
    for (const link of inner) expect(ids).toContain(link);
    expect(ids.indexOf('dangers')).toBeLessThan(ids.indexOf('s5-stack'));
    expect(stdout).not.toMatch(/<iframe|(?:src|href)="https?:/);
  });

  it.each(selectFirst([120, 200]))('are one comment of at most 65,536 characters for %d stacks', async (count) => {
    const { edgewise } = await createWorkspace(toRepository(count));
    const { stdout } = await edgewise('plan -R live --format markdown');
    expect(stdout.length).toBeLessThanOrEqual(65_536);
    for (let index = 0; index < count; index += 1)
      expect(stdout).toContain(`| live/s${String(index).padStart(2, '0')} |`);
    expect(stdout).toContain('Left out: ');
  });

  it('name files of the folder in which they are, also outside of the working folder and of the stack', async () => {
    const key = toManifest('SSHUserCertificate', 'alice', {
      ssh_certificate_authority_id: 'sshca_1',
      principals: ['alice'],
      public_key: { file: '../keys/alice.pub' },
    });
    const { edgewise, folder } = await createWorkspace({
      'live/a/edgewise.yaml': `${toStack('a')}${key}`,
      'live/keys/alice.pub': KEY,
      'work/x': '',
    });
    const planned = await edgewise('plan -R ../live', { cwd: join(folder, 'work') });
    expect(planned).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('1 to create') });
  });

  it('name the manifests that belong to no stack', async () => {
    const { edgewise } = await createWorkspace({ ...toRepository(1), 'live/lost/edge.yaml': toEdge('lost', 20_009) });
    const line = 'Manifests that belong to no stack, so no run applies them: live/lost/edge.yaml.\n';
    expect(await edgewise('plan -R live')).toMatchObject({ exitCode: 0, stderr: line });
  });

  it('refuse options that are for one resource', async () => {
    const { edgewise } = await createWorkspace(toRepository(2));
    expect(await edgewise('plan -R live --target TCPEdge/a --rotate Credential/b')).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining(
        '--target and --rotate cannot be used for 2 stacks: more than one may contain that address.',
      ),
    });
    expect((await edgewise('plan -R live --target TCPEdge/a --stack s00 --stack s01')).stderr).toContain(
      'Choose one stack with --stack NAME',
    );
    expect((await edgewise('plan live --stack s00')).stderr).toContain('--stack works only in a run over many stacks.');
    expect((await edgewise('plan -R live other')).stderr).toContain('--recursive takes one folder');
  });

  it('stop only the second stack if two stacks set the connection of one account differently', async () => {
    const { edgewise } = await createWorkspace({
      'a/edgewise.yaml': toStack('a'),
      'b/edgewise.yaml': toStack('b', { api: { page_size: 7 } }),
    });
    const { stdout, exitCode } = await edgewise('plan -R');
    expect(exitCode).toBe(3);
    expect(stdout).toContain('b/edgewise.yaml sets another spec.api.page_size than a/edgewise.yaml');
  });

  it('fail one by one if the service fails for one list', async () => {
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
    expect(stdout).toMatch(/^a {6}a {7}1 create · 1 warning$/m);
  });
});

describe('checks of many stacks', () => {
  it('validate each, and send nothing', async () => {
    const workspace = await createMixedRepository();
    await expect(toTranscript(await workspace.edgewise('validate --recursive live'))).toMatchFileSnapshot(
      'goldens/validate.txt',
    );
    expect(listPaths(workspace)).toEqual([]);
  });

  it('compare each with what is live, with the metrics of each, and of the account once', async () => {
    const workspace = await createMixedRepository();
    const { stdout, exitCode } = await workspace.edgewise('drift -R live --format metrics');
    expect(exitCode).toBe(3);
    expect(stdout.match(/^# TYPE edgewise_run_success gauge$/gm)).toHaveLength(1);
    expect(stdout).toContain('edgewise_run_success{stack="s00"} 1\n');
    expect(stdout).toContain('edgewise_run_success{stack="s04"} 0\n');
    expect(stdout.match(/^edgewise_account_last_run_timestamp_seconds\{stack="s00",/gm)).toHaveLength(1);
    expect(stdout.match(/^edgewise_account_last_run_timestamp_seconds\{/gm)).toHaveLength(1);
    expect(new Set(listPaths(workspace)).size).toBeLessThan(10);
  });

  it('show the dangers of each, and the unmanaged resources of an account once', async () => {
    const edge = (port: number) => ({
      hostports: [`1.tcp.example.net:${port}`],
      ip_restriction: { ip_policy_ids: ['ipp_office'] },
    });
    const { edgewise, server, folder } = await createWorkspace({
      'a/edgewise.yaml': toStack('a') + toManifest('TCPEdge', 'a', edge(20001)),
      'b/edgewise.yaml':
        toStack('b', { team_label: 'team' }) +
        toManifest('TCPEdge', 'b', edge(20002)).replace('{"name":"b"}', '{"name":"b","labels":{"team":"shop"}}'),
      'c/edgewise.yaml': toStack('c') + toManifest('TCPEdge', 'c', edge(20003)),
    });
    await edgewise('apply -R --yes');
    for (const { id, hostports } of server.snapshot().resources['TCPEdge'] ?? [])
      if (!String(hostports).endsWith(':20001'))
        await sendByHand({ server }, 'DELETE', `/edges/tcp/${String(id)}/ip_restriction`);
    await sendByHand({ server }, 'POST', '/edges/tcp', { description: 'of-nobody' });
    const forms = ['markdown', 'html', 'sarif', 'junit'];
    const { stdout } = await edgewise(`drift -R ${forms.map((form) => `--report ${form}=all.${form}`).join(' ')}`);
    expect(stdout).toMatch(
      /^a {6}a {7}No drift: 1 resource is as it should be\nb {6}b {7}⚠ 1 danger \(1 access\) · 1 drifted · 1 unmanaged\n/m,
    );
    expect(stdout.match(/of-nobody/g)).toHaveLength(1);
    expect(stdout.indexOf('of-nobody')).toBeLessThan(stdout.indexOf('── c'));
    expect(readFileSync(`${folder}/all.markdown`, 'utf8')).toContain('> - **b** (shop): **access** `TCPEdge/b` is ');
    const counts = forms.map((form) => readFileSync(`${folder}/all.${form}`, 'utf8').match(/of-nobody/g)?.length);
    expect(counts).toEqual(forms.map(() => 1));
  });
});
