import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
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
const run = (env: NodeJS.ProcessEnv) =>
  runEdgewise(['--version'], { NODE_V8_COVERAGE: '', NODE_COMPILE_CACHE: undefined, ...env });

describe('compiled code', () => {
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
