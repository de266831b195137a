import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommand } from './fake-context.ts';
import { createWorkspace, STACK } from './workspace.ts';

const FLAGS = '--name shop --base-url https://api.test';

describe('edgewise init', () => {
  it('writes a stack that validates without a warning, and can be planned', async () => {
    const { edgewise } = await createWorkspace();
    const result = await edgewise(`init network ${FLAGS}`);
    expect(result).toMatchObject({ exitCode: 0, stderr: '' });
    expect(result.stdout).toMatch(/^Wrote network\/edgewise\.yaml, network\/example\.yaml, /);
    const commands = Array.from(result.stdout.matchAll(/^ {2}edgewise (\w+ \w+) /gm), ([, line = '']) => line);
    expect(commands).toEqual(['validate network', 'plan network']);
    expect(await edgewise('validate network --strict')).toMatchObject({ exitCode: 0 });
    expect((await edgewise('plan network')).stdout).toMatch(
      /Plan for stack shop on https:\/\/api\.test\n(.|\n)*1 to create/,
    );
  });

  it.each([
    ['edgewise', 'on the path', 'usr/bin', {}],
    ['npx --no-install edgewise', 'in the project', 'node_modules/.bin', {}],
    ['npx --no-install edgewise', 'got by npx', undefined, { npm_command: 'exec' }],
    ['edgewise', 'run in another way', undefined, {}],
  ])('prints next commands that work: %s, where it is %s', async (command, _, bin, env) => {
    const { edgewise, folder } = await createWorkspace();
    if (bin !== undefined) {
      await mkdir(join(folder, bin), { recursive: true });
      await writeFile(join(folder, bin, 'edgewise'), '');
    }
    const PATH = ['usr/bin', 'node_modules/.bin'].map((path) => join(folder, path)).join(delimiter);
    const { stdout } = await edgewise(`init network ${FLAGS}`, { env: { PATH, ...env } });
    const commands = Array.from(
      stdout.matchAll(/^ {2}((?:npx --no-install )?edgewise \w+ network) /gm),
      ([, line]) => line,
    );
    expect(commands).toEqual([`${command} validate network`, `${command} plan network`]);
  });

  it('writes the line that keeps tokens out of git, and leaves a .gitignore that exists', async () => {
    const { edgewise, folder, write } = await createWorkspace();
    await edgewise(`init network ${FLAGS}`);
    expect(await readFile(join(folder, 'network/.gitignore'), 'utf8')).toMatch(/^# .*\n\/tokens\/\n$/);
    await write({ 'web/.gitignore': 'mine\n' });
    const { exitCode, stdout } = await edgewise('init web --name web --base-url https://api.test');
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: expect.stringContaining(' To keep tokens out of git, add /tokens/ to web/.gitignore.\n'),
    });
    expect(await readFile(join(folder, 'web/.gitignore'), 'utf8')).toBe('mine\n');
  });

  it('asks for what no option sets, and uses defaults for the rest', async () => {
    const { edgewise, folder } = await createWorkspace();
    const env = { EDGEWISE_BASE_URL: '' };
    const result = await edgewise('init my-network', { answers: ['', 'https://api.test'], env });
    expect(result).toMatchObject({ exitCode: 0 });
    expect(result.stderr).toContain('Name of the stack (my-network): ');
    const stack = await readFile(join(folder, 'my-network', 'edgewise.yaml'), 'utf8');
    expect(stack).toContain('name: my-network\n');
    expect(stack).toContain('base_url: https://api.test\n');
  });

  it('offers the embedded server first, with which every next command works', async () => {
    const { edgewise, folder } = await createWorkspace();
    const env = { EDGEWISE_BASE_URL: '', EDGEWISE_API_KEY: '' };
    const { stdout, stderr } = await edgewise('init shop', { answers: ['', ''], env });
    expect(stderr).toContain('(embedded:account.json): ');
    expect(await readFile(join(folder, 'shop', 'edgewise.yaml'), 'utf8')).toContain(
      'base_url: embedded:account.json\n',
    );
    expect(stdout).toMatch(
      /^ {2}edgewise validate shop {3}check the manifests; no request is sent\n {2}edgewise plan shop {7}show what would change$/m,
    );
    expect(await edgewise('plan shop', { env })).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('new and empty: account.json does not exist yet'),
    });
  });

  it('asks again after an answer that cannot be used', async () => {
    const { edgewise, folder } = await createWorkspace();
    const env = { EDGEWISE_BASE_URL: '' };
    const answers = ['My Shop', 'shop', 'api.test', 'https://api.test'];
    const { exitCode, stderr } = await edgewise('init', { answers, env });
    expect(stderr).toContain('My Shop is not a valid stack name. ');
    expect(stderr).toContain('The base URL must be an http or https URL');
    expect(exitCode).toBe(0);
    expect(await readFile(join(folder, 'manifests', 'edgewise.yaml'), 'utf8')).toContain('name: shop\n');
  });

  it('breaks no word of a question, of what it wrote and of a mistake at the end of a row', async () => {
    const { edgewise } = await createWorkspace();
    const answers = ['shop', 'api.test', 'https://api.test'];
    const { stdout, stderr } = await edgewise('init', { answers, env: { EDGEWISE_BASE_URL: '' }, terminal: 40 });
    const rows = stderr.split('\n').map((row) => row.replace(/(?<=\): ).*/, ''));
    const again = await edgewise('init', { terminal: 40 });
    const all = [...rows, ...`${stdout}${again.stderr}`.split('\n')];
    expect(all.filter((row) => row.length > 40 && row.includes(' '))).toEqual([]);
    expect(stdout).toContain('\n  edgewise plan manifests\n      show what would change\n');
    expect(rows).toContain('(embedded:account.json): ');
  });

  it.each([
    ['a file that exists', { 'manifests/example.yaml': 'mine' }, 5, 'already exists'],
    ['a Stack that exists', { 'manifests/stack.yaml': STACK }, 3, 'this is the second'],
  ])('asks nothing beside %s', async (_, files, exitCode, why) => {
    const { edgewise } = await createWorkspace(files);
    const { stderr, ...ended } = await edgewise('init', { answers: ['shop', 'https://api.test'] });
    expect({ ...ended, stderr }).toMatchObject({ exitCode, stderr: expect.stringContaining(why) });
    expect(stderr).not.toContain('Name of the stack');
  });

  it('leaves the base URL to the environment if none is given', async () => {
    const { edgewise, folder } = await createWorkspace();
    const env = { EDGEWISE_BASE_URL: '', EDGEWISE_API_KEY: '' };
    const { stdout } = await edgewise('init network --name shop', { env });
    expect(stdout).toContain('With the service: set EDGEWISE_BASE_URL and EDGEWISE_API_KEY, and leave out --base-url.');
    expect(stdout).toMatch(/^ {2}edgewise plan network --base-url embedded: {3}/m);
    expect((await edgewise('init web --name web')).stdout).not.toContain('With the service');
    expect(await readFile(join(folder, 'network', 'edgewise.yaml'), 'utf8')).toMatch(/^# {3}api:$/m);
  });

  it('reports what is missing or wrong, and writes nothing then', async () => {
    const { edgewise, folder } = await createWorkspace();
    expect(await edgewise('init network')).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('--name') });
    expect(await edgewise('init network --name Shop_')).toMatchObject({ exitCode: 3 });
    const wrong = await edgewise('init network --name shop --base-url api.test');
    expect(wrong).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('The base URL must be an http or https URL'),
    });
    expect(await readdir(folder)).toEqual([]);
  });

  it.each([
    [
      'a data file outside of the repository',
      'init network --name shop --base-url embedded:/elsewhere/account.json',
      'spec.api.base_url names /elsewhere/account.json, which is outside',
    ],
    [
      'a data file above the repository',
      'init network --name shop --base-url embedded:../../account.json',
      'which is outside the repository',
    ],
    ['a folder as the data file', 'init network --name shop --base-url embedded:only', 'is a folder, not a file'],
    ['a data file of something else', 'init network --name shop --base-url embedded:notes.txt', 'It is not JSON'],
    [
      'a data file below a file',
      'init network --name shop --base-url embedded:notes.txt/account.json',
      'has a part that is not a folder',
    ],
    [
      'a URL with a password',
      'init network --name shop --base-url https://user:pass@api.test',
      'without user, query and fragment',
    ],
    ['a folder with a Stack of another name', 'init live --name shop', 'this is the second'],
    ['a kind that the Defaults do not list', 'init only/web --name shop', 'does not list the kind'],
    ['Defaults with a mistake', 'init wrong/web --name shop', 'spec.apo is not a known field'],
  ])('refuses %s with a reason, and writes nothing', async (_, line, why) => {
    const toDefaults = (spec: object) => JSON.stringify({ apiVersion: 'edgewise/v1', kind: 'Defaults', spec });
    const { edgewise, folder } = await createWorkspace({
      'live/stack.yaml': STACK,
      'only/defaults.yaml': toDefaults({ kinds: ['Credential'] }),
      'wrong/defaults.yaml': toDefaults({ apo: {} }),
      '.git/HEAD': '',
      'notes.txt': 'mine',
    });
    const before = await readdir(folder, { recursive: true });
    const result = await edgewise(line, { answers: ['https://api.test'] });
    expect(result).toMatchObject({ exitCode: 3, stdout: '', stderr: expect.stringContaining(why) });
    expect(result.stderr).toContain('Nothing was written');
    expect(await readdir(folder, { recursive: true })).toEqual(before);
  });

  it.each([
    ['a name that YAML reads as another type', 'live/web', 'null', ''],
    ['a number as the name', 'live/web', '17', ''],
    ['a folder with spaces', 'my network', 'shop', 'https://api.test'],
    ['a data file in the repository', 'network', 'shop', 'embedded:account.json'],
    ['a data file in a folder that is not there yet', 'network', 'shop', 'embedded:data/account.json'],
    ['a folder above other stacks', '.', 'shop', 'https://api.test'],
  ])('writes manifests that its next commands accept: %s', async (_, at, name, url) => {
    const { folder, recorder } = await createWorkspace({
      'live/defaults.yaml':
        'apiVersion: edgewise/v1\nkind: Defaults\nspec: { api: { base_url: "https://api.test" } }\n',
      'live/other/edgewise.yaml': STACK,
    });
    const run = (argv: readonly string[]) =>
      runCommand(argv, { cwd: folder, transport: recorder.transport, env: { EDGEWISE_BASE_URL: '' } });
    const written = await run(['init', at, '--name', name, ...(url === '' ? [] : ['--base-url', url])]);
    expect(written, written.stderr).toMatchObject({ exitCode: 0 });
    const lines = Array.from(written.stdout.matchAll(/^ {2}edgewise (\w+ .*?) {3}/gm), ([, line = '']) => line);
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      const words = line
        .split(/ (.*)/)
        .slice(0, 2)
        .map((word) => word.replaceAll("'", ''));
      const result = await run(words);
      expect({ line, ...result }).toMatchObject({ exitCode: 0 });
    }
  });

  it('writes beside a file that Defaults skip', async () => {
    const { edgewise } = await createWorkspace({
      'charts/defaults.yaml': 'apiVersion: edgewise/v1\nkind: Defaults\nspec: { skip_files: [values.yaml] }\n',
      'charts/shop/values.yaml': 'kind: TCPEdge\n}{\n',
    });
    expect(await edgewise('init charts/shop --name shop --base-url embedded:')).toMatchObject({ exitCode: 0 });
    expect(await edgewise('validate charts/shop')).toMatchObject({ exitCode: 0 });
  });

  it('replaces no file', async () => {
    const { edgewise, folder } = await createWorkspace();
    await mkdir(join(folder, 'network'));
    await writeFile(join(folder, 'network', 'example.yaml'), 'mine');
    const result = await edgewise(`init network ${FLAGS}`);
    expect(result).toMatchObject({
      exitCode: 5,
      stderr: expect.stringContaining('network/example.yaml already exists'),
    });
    expect(result.stderr).not.toContain('--force');
    expect(await readdir(join(folder, 'network'))).toEqual(['example.yaml']);
    expect(await readFile(join(folder, 'network', 'example.yaml'), 'utf8')).toBe('mine');
  });

  it('names the schema of an installed package, and writes a hidden one elsewhere', async () => {
    const { edgewise, folder } = await createWorkspace();
    await edgewise(`init here ${FLAGS}`);
    expect(await readFile(join(folder, 'here', '.edgewise', 'manifest.schema.json'), 'utf8')).toContain('"$schema"');
    const schemas = join(folder, 'node_modules', 'edgewise', 'schemas');
    await mkdir(schemas, { recursive: true });
    await writeFile(join(schemas, 'manifest.schema.json'), '{}');
    await edgewise(`init there ${FLAGS}`);
    expect(await readFile(join(folder, 'there', 'example.yaml'), 'utf8')).toMatch(
      /^# yaml-language-server: \$schema=\.\.\/node_modules\/edgewise\/schemas\/manifest\.schema\.json\n/,
    );
    expect(await readdir(join(folder, 'there'))).toEqual(['.gitignore', 'edgewise.yaml', 'example.yaml']);
  });
});
