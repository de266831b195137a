import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PROGRAM, runEdgewise } from '../end-to-end/processes.ts';

let home = '';

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'edgewise-cache-'));
});

afterEach(() => rmSync(home, { recursive: true }));

/** Runs the program without the cache of the tests, and without coverage, which would switch a cache off. */
const run = (env: NodeJS.ProcessEnv, words = ['--version']) =>
  runEdgewise(words, { NODE_V8_COVERAGE: '', NODE_COMPILE_CACHE: undefined, ...env });

/** The files of the cache, and when each was written. */
function listKept(): ReadonlyMap<string, number> {
  const files = readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.cjs'));
  return new Map(files.map((name) => [join(home, name), statSync(join(home, name)).mtimeMs]));
}

// Sources have no parts, so nothing of them is kept.
const describeBundle = describe.skipIf(PROGRAM.endsWith('.ts'));

describeBundle('compiled code of the bundle', () => {
  it('is taken from the cache by the next run of the command, and has the functions that the first one called', async () => {
    const first = await run({ XDG_CACHE_HOME: home });
    const kept = listKept();
    expect(kept.size).toBeGreaterThan(0);
    expect(await run({ XDG_CACHE_HOME: home })).toEqual(first);
    expect(listKept()).toEqual(kept);
    await run({ XDG_CACHE_HOME: home }, ['--help']);
    expect(listKept().size).toBeGreaterThan(kept.size);
  });

  it('is made anew where a file of the cache is broken', async () => {
    const first = await run({ XDG_CACHE_HOME: home });
    const [[file = ''] = []] = listKept();
    const half = Math.floor(statSync(file).size / 2);
    for (const length of [0, 10, half]) {
      truncateSync(file, length);
      const { ino } = statSync(file);
      expect(await run({ XDG_CACHE_HOME: home })).toEqual(first);
      expect(statSync(file).ino).not.toBe(ino);
    }
  });

  it('is not kept of a run that failed, or of a word that is no command', async () => {
    expect((await run({ XDG_CACHE_HOME: home }, ['plna'])).exitCode).toBe(3);
    expect((await run({ XDG_CACHE_HOME: home }, ['../up'])).exitCode).toBe(3);
    expect(listKept().size).toBe(0);
  });
});

describeBundle('the cache of compiled code', () => {
  it('is kept in the cache of the user', async () => {
    const cache = join(home, '.cache');
    mkdirSync(cache, { mode: 0o700 });
    const first = await run({ HOME: home, XDG_CACHE_HOME: '' });
    expect(readdirSync(join(cache, 'edgewise')).length).toBeGreaterThan(0);
    expect(await run({ HOME: home, XDG_CACHE_HOME: '' })).toEqual(first);
  });

  it('follows XDG_CACHE_HOME', async () => {
    await run({ XDG_CACHE_HOME: home });
    expect(readdirSync(join(home, 'edgewise')).length).toBeGreaterThan(0);
  });

  it('is not kept where somebody else could write it, or where no cache is', async () => {
    chmodSync(home, 0o777);
    expect((await run({ XDG_CACHE_HOME: home })).exitCode).toBe(0);
    expect((await run({ XDG_CACHE_HOME: join(home, 'missing') })).exitCode).toBe(0);
    expect(existsSync(join(home, 'edgewise'))).toBe(false);
  });

  it.each([undefined, '', '.'])('is not kept where the command runs, with the home %j', (HOME) => {
    mkdirSync(join(home, '.cache'), { mode: 0o700 });
    const env = HOME === undefined ? {} : { HOME };
    const { status } = spawnSync(process.execPath, [PROGRAM, '--version'], { cwd: home, env });
    expect(status).toBe(0);
    expect(readdirSync(join(home, '.cache'))).toEqual([]);
  });
});
