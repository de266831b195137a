import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { describeWith, runTool, type ToolResult } from './tools.ts';

/** The commands of docs/how-to/with-other-tools.md. */

const PAGE = readFileSync('docs/how-to/with-other-tools.md', 'utf8');

describeWith(['kustomize'], 'kustomize', () => {
  it('renders every overlay into a new folder that edgewise plans, and names the source files', async () => {
    const { page, folder, run } = await createProject();
    await run('git init -q');
    await mkdir(join(folder, 'rendered/left-over'), { recursive: true });
    await cp(join(folder, 'overlays/staging/stack.yaml'), join(folder, 'rendered/left-over/stack.yaml'));
    const [planned] = await page('Render, then plan');
    expect(planned).toEqual(createResult('2 stacks below rendered. 2 with changes.'));
    expect((await readdir(join(folder, 'rendered'))).sort()).toEqual(['production', 'staging']);
    const named = await run('edgewise plan -R rendered --stack production --format json');
    expect(named).toEqual(createResult('"origin": "../../base/postgres.yaml"'));
    expect(await run('edgewise plan rendered/staging')).toMatchObject({
      status: 3,
      output: expect.stringContaining('error[duplicate-stack]'),
    });
    expect(await run('edgewise apply -R rendered --yes')).toEqual(
      createResult('[4/4] staging: create TCPEdge/postgres … done'),
    );
  });

  it('leaves no folder to plan if the tool fails for one overlay, and plans nothing', async () => {
    const { page, folder } = await createProject();
    await mkdir(join(folder, 'rendered'));
    const patch = join(folder, 'overlays/staging/postgres.patch.yaml');
    await writeFile(patch, (await readFile(patch, 'utf8')).replace('name: postgres', 'name: postgresql'));
    const [failed] = await page('Render, then plan');
    expect(failed).toMatchObject({ status: 1, output: expect.stringContaining('no matches for Id TCPEdge') });
    expect(failed?.output).not.toContain('to create');
    expect(await readdir(folder)).not.toContain('rendered');
  });

  it('gets neither the environment nor a home', async () => {
    const { page, folder, env } = await createProject({ EDGEWISE_API_KEY: 'key-of-the-job' });
    const tool = join(folder, 'node_modules/edgewise/kustomize');
    const real = (await runTool('sh', ['-c', 'command -v kustomize'])).output.trim();
    const lines = ['#!/bin/sh', `{ env; ls -A "$HOME"; } >>'${folder}/seen'`, `exec '${real}' "$@"`, ''];
    await writeFile(tool, lines.join('\n'), { mode: 0o755 });
    const [planned] = await page('Render, then plan');
    expect(planned).toEqual(createResult('2 stacks'));
    const seen = (await readFile(join(folder, 'seen'), 'utf8'))
      .split('\n')
      .filter((line) => !/^(?:PWD|SHLVL|_)=/.test(line));
    const home = expect.stringMatching(/^HOME=\/.*tmp/);
    const path = `PATH=${env['PATH']}`;
    expect(seen.sort()).toEqual(['', home, home, path, path]);
  });
});

describeWith(['yq', 'kustomize'], 'yq', () => {
  it('changes a manifest, lists manifests, and splits a stream', async () => {
    const { page, folder, run } = await createProject();
    const [changed, listed, split] = await page('yq');
    expect(changed).toMatchObject({ status: 0, output: '' });
    const pool = await readFile(join(folder, 'manifests/postgres-pool.yaml'), 'utf8');
    expect(pool).toMatch(/^# yaml-language-server: [\s\S]*External\/blue: 50\n/);
    expect(listed).toEqual(createResult('WeightedBackend/postgres-pool'));
    expect(listed?.output).toMatch(/"name": "postgres",\n\s*"hostports": \[\n\s*"1\.tcp\.example\.net:20001"/);
    expect(split).toMatchObject({ status: 0 });
    expect((await readdir(join(folder, 'split'))).sort()).toEqual([
      'external-blue.yaml',
      'external-green.yaml',
      'stack-staging.yaml',
      'tcpedge-postgres.yaml',
      'weightedbackend-postgres-pool.yaml',
    ]);
    expect(await run('edgewise plan split --root split')).toEqual(createResult('2 to create'));
  });
});

describeWith(['helm'], 'helm template', () => {
  it('builds what edgewise plans', async () => {
    const { page } = await createProject();
    const [planned] = await page('helm template');
    expect(planned).toEqual(createResult('Plan for stack staging'));
    expect(planned).toEqual(createResult('1.tcp.example.net:20023'));
    expect(planned).toEqual(createResult('2 to create'));
  });
});

describeWith(['conftest'], 'conftest', () => {
  it('checks a plan against rules, and refuses what they deny', async () => {
    const { page, folder, run } = await createProject();
    const [created, applied] = await page('conftest');
    expect(created).toEqual(createResult('4 tests, 4 passed'));
    expect(applied).toEqual(createResult('Applied'));

    const edge = join(folder, 'manifests/postgres.yaml');
    const text = (await readFile(edge, 'utf8')).replace(/ {2}ip_restriction:[\s\S]*/, '');
    await writeFile(edge, text.replace('metadata:\n', 'metadata:\n  labels: { frozen: "true" }\n'));
    await rm(join(folder, 'manifests/dashboard.yaml'));
    const [denied, notApplied] = await page('conftest');
    for (const message of [
      'TCPEdge/postgres: everybody may connect',
      'TCPEdge/postgres is frozen: update',
      'delete: IPRestriction/dashboard',
    ])
      expect(denied).toMatchObject({ status: 1, output: expect.stringContaining(message) });
    expect(notApplied?.status).not.toBe(0);
    expect((await run('edgewise get IPRestriction/dashboard manifests --format name')).status).toBe(0);
  });

  it('refuses what the rules cannot see: of many stacks, a failed run, a cut file, another format and no plan', async () => {
    const { page, folder, run } = await createProject();
    await page('conftest');
    const stack = (name: string, more = '') =>
      `apiVersion: edgewise/v1\nkind: Stack\nmetadata: { name: ${name} }\n---\napiVersion: edgewise/v1\nkind: AgentIngress\nmetadata: { name: a }\nspec: { domain: ${name}.example.com }\n${more}`;
    const write = async (files: Readonly<Record<string, string>>) => {
      for (const [name, content] of Object.entries(files)) {
        await mkdir(join(folder, 'live', name), { recursive: true });
        await writeFile(join(folder, 'live', name, 'edgewise.yaml'), content);
      }
    };
    const test = (file: string) => run(`conftest test --policy plan-policy ${file}`);
    await write({ one: stack('one'), two: stack('two') });
    expect(await run('edgewise plan -R live --format json >many.json')).toMatchObject({ status: 0 });
    expect(await test('many.json')).toEqual(createResult('4 tests, 4 passed'));
    expect(await run('edgewise apply -R live --yes >applied.txt')).toMatchObject({ status: 0 });

    await write({ two: stack('two').replace(/---[\s\S]*/, '') });
    await run('edgewise plan -R live --format json >many.json');
    expect(await test('many.json')).toMatchObject({
      status: 1,
      output: expect.stringContaining('delete: AgentIngress/a'),
    });

    await write({ two: stack('two', 'colour: red\n') });
    const unseen = { status: 1, output: expect.stringContaining('not every stack has a plan of format') };
    for (const command of ['plan -R live', 'plan live/two', 'plan live/none', 'validate -R live', 'get -R live']) {
      await run(`edgewise ${command} --format json >failed.json`);
      expect(await test('failed.json'), command).toMatchObject(unseen);
    }
    const whole = await readFile(join(folder, 'plan.json'), 'utf8');
    await writeFile(join(folder, 'cut.json'), whole.slice(0, whole.length / 2));
    expect((await test('cut.json')).status).not.toBe(0);
    await writeFile(join(folder, 'later.json'), whole.replace('"format": 7', '"format": 8'));
    expect(await test('later.json')).toMatchObject(unseen);
  });
});

describeWith(['kubeconform'], 'kubeconform', () => {
  it('finds the schemas of the package', async () => {
    const { page } = await createProject();
    expect(await page('kubeconform')).toEqual([createResult('Valid: 7, Invalid: 0, Errors: 0')]);
  });
});

it('is run by a test in every block of commands', () => {
  const sections = PAGE.split(/^## /m)
    .slice(1)
    .filter((section) => section.includes('```sh'));
  expect(sections.map((section) => section.split('\n')[0])).toEqual([
    'Render, then plan',
    'yq',
    'helm template',
    'conftest',
    'kubeconform',
  ]);
});

it.each([
  ['Render, then plan', 'kustomize/v5'],
  ['yq', 'yq/v4'],
  ['helm template', 'cmd/helm'],
  ['conftest', 'conftest'],
  ['kubeconform', 'cmd/kubeconform'],
])('names the tested version of %s', (heading, module) => {
  const scripts = ['.ci/tools', '.ci/other-tools'].map((file) => readFileSync(file, 'utf8')).join('\n');
  const [, version] = new RegExp(`${module}@v(\\d+\\.\\d+)\\.\\d+`).exec(scripts) ?? [];
  expect(toSection(heading)).toMatch(new RegExp(`\\((?:\\w+ )?${version}\\)`));
});

function createResult(text: string): ToolResult {
  return { status: 0, output: expect.stringContaining(text) };
}

interface Project {
  readonly folder: string;
  /** Runs a script in the folder. */
  readonly run: (script: string) => Promise<ToolResult>;
  readonly env: Readonly<Record<string, string>>;
  /** Runs each block of commands of a section of the page. */
  readonly page: (heading: string) => Promise<readonly ToolResult[]>;
}

/** A folder with manifests, overlays, and edgewise as an installed package. */
async function createProject(variables: Readonly<Record<string, string>> = {}): Promise<Project> {
  const folder = await mkdtemp(join(tmpdir(), 'edgewise-other-tools-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await cp('examples/quickstart', join(folder, 'manifests'), { recursive: true });
  for (const name of ['base', 'overlays'])
    await cp(`examples/environments/${name}`, join(folder, name), { recursive: true });
  await cp('examples/account.json', join(folder, 'account.json'));
  await mkdir(join(folder, 'node_modules/edgewise'), { recursive: true });
  await symlink(resolve('schemas'), join(folder, 'node_modules/edgewise/schemas'));
  const program = join(folder, 'node_modules/edgewise/edgewise');
  const start = `#!/bin/sh\nexec '${process.execPath}' '${resolve('src/cli/main.ts')}' "$@"\n`;
  await writeFile(program, start, { mode: 0o755 });
  const env = {
    PATH: [join(folder, 'node_modules/edgewise'), process.env['PATH'] ?? ''].join(delimiter),
    EDGEWISE_BASE_URL: 'embedded:account.json',
    HOME: folder,
    ...variables,
  };
  const run: Project['run'] = (script) => runTool('bash', ['-c', `set -euo pipefail\n${script}`], { cwd: folder, env });
  const page: Project['page'] = async (heading) => {
    const results = [];
    for (const block of listBlocks(heading)) results.push(await run(block));
    return results;
  };
  return { folder, env, run, page };
}

function toSection(heading: string): string {
  return PAGE.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? '';
}

function listBlocks(heading: string): readonly string[] {
  return Array.from(toSection(heading).matchAll(/(?<=^```sh\n)[\s\S]*?(?=^```$)/gm), ([block]) => block);
}
