import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Ended, runEdgewise, type ServerProcess, SOURCES, startServerProcess } from '../end-to-end/processes.ts';

/** What a start leaves out, since loading is the longest part of a short run: `import()` where something is used does that. */

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

it('a plan with nothing to do loads no server, and not what Request is made of', async () => {
  expect((await listLoaded(['apply', 'examples/quickstart', '--yes'])).exitCode).toBe(0);
  const { stdout, loaded } = await listLoaded(['plan', 'examples/quickstart']);
  expect(stdout).toContain('Nothing to do');
  expect(loaded).toContain('undici-transport');
  for (const name of ['src/rehearse', 'src/server', 'hono', 'sshpk', 'pino', 'internal/deps'])
    expect(loaded).not.toContain(name);
});

it('a version is shown without what reads manifests', async () => {
  const { stdout, loaded } = await listLoaded(['--version']);
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  for (const name of ['zod', 'yaml', 're2js', 'crypto', 'src/manifest/load']) expect(loaded).not.toContain(name);
});

it('no short run loads what only others need', async () => {
  const { loaded } = await listLoaded(['validate', 'examples/quickstart']);
  for (const name of ['undici', 'pino', 'hono', 'sshpk', 'cel-js', 'crypto', 'src/report/html', 'plan-view'])
    expect(loaded).not.toContain(name);
});
