import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findKeptFile, MOST_BUILDS, MOST_COMMANDS, openCacheFolder } from '../../src/cli/compile-cache.ts';

let home = '';

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'edgewise-cache-'));
  chmodSync(home, 0o700);
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

interface Given {
  readonly env?: NodeJS.ProcessEnv;
  readonly version?: string;
  readonly build?: string;
  readonly user?: number;
  readonly words?: readonly string[];
}

function toSurroundings(given: Given = {}) {
  const { env = { HOME: home }, version = '1.0.0', build = 'abc', user = OWN, words = [] } = given;
  const { arch, getBuiltinModule } = process;
  const argv = ['node', join(home, 'cli.js'), ...words];
  return { process: { env, argv, version: 'v26.0.0', arch, getBuiltinModule, getuid: () => user }, version, build };
}

const OWN = process.getuid?.() ?? 0;

const open = (given?: Given) => openCacheFolder(toSurroundings(given));

describe('the folder for compiled code', () => {
  it('is in the cache of the user, who alone can write to it', () => {
    const folder = open() ?? '';
    expect(folder).toMatch(new RegExp(`^${home}/\\.cache/edgewise/compiled-1\\.0\\.0-abc-v26\\.0\\.0-`));
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(open()).toBe(folder);
  });

  it('follows XDG_CACHE_HOME, unless that is relative', () => {
    const cache = join(home, 'caches');
    expect(open({ env: { HOME: home, XDG_CACHE_HOME: cache } })).toContain(`${cache}/edgewise/`);
    expect(open({ env: { HOME: home, XDG_CACHE_HOME: 'caches' } })).toContain(`${home}/.cache/`);
  });

  it('follows what Node is told of the place of compiled code', () => {
    const cache = join(home, 'compiled');
    const XDG_CACHE_HOME = join(home, 'caches');
    expect(open({ env: { HOME: home, XDG_CACHE_HOME, NODE_COMPILE_CACHE: cache } })).toContain(`${cache}/edgewise/`);
    expect(open({ env: { HOME: home, XDG_CACHE_HOME, NODE_COMPILE_CACHE: '' } })).toContain(`${XDG_CACHE_HOME}/`);
  });

  it('is another one for another version, and for another build of the same', () => {
    const first = open();
    const second = open({ version: '1.0.1' });
    expect(new Set([first, second, open({ build: 'def' })]).size).toBe(3);
  });

  it('takes the place of the oldest one, so that there are never many', () => {
    const root = join(home, '.cache', 'edgewise');
    for (let index = 0; index < MOST_BUILDS + 3; index += 1) {
      const folder = open({ version: `1.0.${index}` }) ?? '';
      writeFileSync(join(folder, 'code'), '');
      utimesSync(folder, index + 1, index + 1);
    }
    mkdirSync(join(root, 'something-else'));
    expect(
      readdirSync(root)
        .filter((name) => name.startsWith('compiled-'))
        .map((name) => name.split('-')[1]),
    ).toEqual(Array.from({ length: MOST_BUILDS }, (_, index) => `1.0.${index + 3}`));
    open({ version: '2.0.0' });
    expect(existsSync(join(root, 'something-else'))).toBe(true);
  });
});

describe('the file for a command', () => {
  const find = (...words: readonly string[]) => findKeptFile(toSurroundings({ words }));

  it('is named for the command, or for the option that stands for one', () => {
    const folder = open() ?? '';
    expect([find('plan', '/tmp/x'), find('abuse-report'), find('--version')]).toEqual([
      join(folder, 'plan'),
      join(folder, 'abuse-report'),
      join(folder, '--version'),
    ]);
  });

  it('is one for everything else', () => {
    for (const word of ['../plan', 'a/b', '.', '..', 'x'.repeat(100), 'plan\n', ''])
      expect(find(word)).toBe(join(open() ?? '', 'other'));
    expect(find()).toBe(join(open() ?? '', 'other'));
  });

  it('takes the place of the oldest one, so that words that are no commands do not fill the disk', () => {
    const folder = open() ?? '';
    for (let index = 0; index < MOST_COMMANDS + 3; index += 1) {
      const file = find(`plan-${'abcdefghijklmno'.charAt(index)}`) ?? '';
      writeFileSync(file, '');
      utimesSync(file, index + 1, index + 1);
    }
    expect(readdirSync(folder)).toHaveLength(MOST_COMMANDS);
    expect(readdirSync(folder)).not.toContain('plan-a');
    expect(readdirSync(folder)).toContain('plan-o');
  });
});

describe('nothing is kept, and nothing fails,', () => {
  it('when Node is told to keep nothing, or code coverage is measured', () => {
    expect(open({ env: { HOME: home, NODE_DISABLE_COMPILE_CACHE: '1' } })).toBeUndefined();
    expect(open({ env: { HOME: home, NODE_V8_COVERAGE: 'coverage' } })).toBeUndefined();
    expect(existsSync(join(home, '.cache'))).toBe(false);
  });

  it('when there is no home, or it is not there', () => {
    expect(open({ env: {} })).toBeUndefined();
    expect(open({ env: { HOME: join(home, 'no', 'home') } })).toBeUndefined();
  });

  it('when the home is of somebody else, as it is under sudo', () => {
    expect(open({ user: 54_321 })).toBeUndefined();
    expect(existsSync(join(home, '.cache'))).toBe(false);
  });

  it('when somebody else can write to the folder', () => {
    const folder = open() ?? '';
    chmodSync(folder, 0o777);
    expect(open()).toBeUndefined();
    chmodSync(folder, 0o700);
    chmodSync(join(home, '.cache', 'edgewise'), 0o770);
    expect(open()).toBeUndefined();
  });

  it('when the folder cannot be made', () => {
    mkdirSync(join(home, '.cache'));
    writeFileSync(join(home, '.cache', 'edgewise'), '');
    expect(open()).toBeUndefined();
  });
});
