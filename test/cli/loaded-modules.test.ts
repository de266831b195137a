import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseKeptCode } from '../../src/cli/kept-code.ts';
import { findBuiltProgram } from '../built-program.ts';
import { type Ended, runEdgewise, type ServerProcess, SOURCES, startServerProcess } from '../end-to-end/processes.ts';

/**
 * What a start loads: the longest part of a short run. A module more in these lists is time for every user, so let it be one that
 * the command cannot do without: `import()` where it is used leaves it out.
 */

let folder = '';
let server: ServerProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'edgewise-loaded-'));
  server = await startServerProcess(['--api-key', 'key:admin']);
});

afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

/** The packages and the modules of src that a run loads, sorted. */
async function listLoaded(words: readonly string[]): Promise<Ended & { readonly loaded: string }> {
  const file = join(folder, 'loaded.json');
  const hook = new URL('list-loaded.mjs', import.meta.url).href;
  const env = { NODE_OPTIONS: `--import ${hook}`, LOADED_FILE: file };
  const service = { EDGEWISE_BASE_URL: server.url, EDGEWISE_API_KEY: 'key' };
  const ended = await runEdgewise(words, { ...env, ...service }, SOURCES);
  const urls: readonly string[] = JSON.parse(readFileSync(file, 'utf8'));
  const names = urls.flatMap(
    (url) =>
      /NativeModule (.*)/.exec(url)?.[1] ??
      /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ??
      /src\/.*(?=\.ts)/.exec(url)?.[0] ??
      [],
  );
  return {
    ...ended,
    loaded: [...new Set(names)]
      .sort()
      .map((name) => `${name}\n`)
      .join(''),
  };
}

it.each([
  ['version', ['--version']],
  ['help', ['--help']],
  ['validate', ['validate', 'examples/quickstart']],
  ['plan', ['plan', 'examples/quickstart']],
])('%s loads no more than it needs', async (name, words) => {
  const { exitCode, stderr, loaded } = await listLoaded(words);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  await expect(loaded).toMatchFileSnapshot(`goldens/loaded/${name}.txt`);
});

it('a plan with nothing to do loads no server, and not what Request is made of', async () => {
  expect((await listLoaded(['apply', 'examples/quickstart', '--yes'])).exitCode).toBe(0);
  const { stdout, loaded } = await listLoaded(['plan', 'examples/quickstart']);
  expect(stdout).toContain('Nothing to do');
  expect(loaded).toContain('undici-transport');
  for (const name of ['src/rehearse', 'src/server', 'hono', 'sshpk', 'internal/deps'])
    expect(loaded).not.toContain(name);
});

it('no short run loads what only others need', async () => {
  const { loaded } = await listLoaded(['validate', 'examples/quickstart']);
  for (const name of ['undici', 'pino', 'hono', 'sshpk', 'src/report/html']) expect(loaded).not.toContain(name);
});

const BUILT = findBuiltProgram() ?? '';

/** The files that a run of the built program loads: those whose compiled code it keeps. */
async function listParts(words: readonly string[]): Promise<Ended & { readonly parts: readonly string[] }> {
  const cache = mkdtempSync(join(folder, 'cache-'));
  const service = { EDGEWISE_BASE_URL: server.url, EDGEWISE_API_KEY: 'key' };
  const env = { ...service, NODE_COMPILE_CACHE: cache, NODE_V8_COVERAGE: '' };
  const ended = await runEdgewise(words, env, BUILT);
  const [kept = ''] = readdirSync(cache, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith(`${words[0]}`),
  );
  const bytes = readFileSync(join(cache, kept));
  // A second run takes it as it is, and ends the same.
  expect(await runEdgewise(words, env, BUILT)).toEqual(ended);
  expect(readFileSync(join(cache, kept)).equals(bytes)).toBe(true);
  const names = [...(parseKeptCode(bytes)?.code.keys() ?? [])];
  return { ...ended, parts: names.map((name) => name.replace(/(?:-.{8})?[.]cjs$/, '')).sort() };
}

it.runIf(BUILT !== '')('the built program loads few files, and the large ones when they are needed', async () => {
  const manifests = 'examples/quickstart';
  expect(
    (
      await runEdgewise(
        ['apply', manifests, '--yes'],
        { EDGEWISE_BASE_URL: server.url, EDGEWISE_API_KEY: 'key' },
        BUILT,
      )
    ).exitCode,
  ).toBe(0);
  const start = ['program', 'rolldown-runtime'];
  expect((await listParts(['--version'])).parts).toEqual(start);
  expect((await listParts(['validate', manifests])).parts).toEqual(['form', ...start, 'validate']);
  expect((await listParts(['plan', manifests])).parts).toEqual(
    [...start, 'form', 'open-transport', 'plan', 'validate'].sort(),
  );
});

it.runIf(BUILT !== '')('the built program loads what reads SSH keys where there are some', async () => {
  const { stdout, parts } = await listParts(['validate', 'examples/everything']);
  expect(stdout).toMatch(/valid[.]$/m);
  expect(parts).toContain('sshpk');
});

it.runIf(BUILT !== '')('the built program loads what makes schemas for what is wrong', async () => {
  const file = join(folder, 'wrong.yaml');
  writeFileSync(file, 'apiVersion: edgewise/v1\nkind: External\nmetadata: { name: a }\nspec: { id: 1 }\n');
  const { stdout, parts } = await listParts(['validate', file]);
  expect(stdout).toContain('must be text, but is the number 1');
  expect(parts).toContain('zod');
  expect(parts).not.toContain('re2js');
});
