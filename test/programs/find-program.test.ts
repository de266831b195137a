import { describe, expect, it } from 'vitest';
import { createProgramEnvironment, findProgram, type ProgramSystem } from '../../src/programs/find-program.ts';

/** A file system with these programs. `links`: folders or files that lead elsewhere. */
function createSystem(
  platform: NodeJS.Platform,
  programs: readonly string[],
  links: Readonly<Record<string, string>> = {},
): ProgramSystem {
  const toReal = (path: string): string => {
    const link = Object.keys(links).find(
      (from) => path === from || path.startsWith(`${from}${platform === 'win32' ? '\\' : '/'}`),
    );
    return link === undefined ? path : `${links[link]}${path.slice(link.length)}`;
  };
  return { platform, isExecutable: (path) => programs.includes(path), toReal };
}

describe('a program that is named without a slash', () => {
  const SYSTEM = createSystem(
    'linux',
    ['/repo/bin/vault', '/usr/bin/vault', '/opt/linked/vault', '/repo/out/vault', '/home/me/bin/vault', '/work/vault'],
    { '/opt/linked': '/repo/bin', '/repo/out': '/usr/bin', '/home/me/bin/vault': '/repo/bin/vault' },
  );
  const find = (PATH: string | undefined, name = 'vault') =>
    findProgram(name, { cwd: '/work', env: { PATH }, checkouts: ['/repo', '/work'] }, SYSTEM);

  it.each([
    ['absolute folder', '/repo/bin'],
    ['absolute folder by another way', '/usr/../repo/bin/'],
    ['root', '/repo'],
    ['relative folder', 'bin'],
    ['working folder', '.'],
    ['empty entry', ''],
    ['link to a folder', '/opt/linked'],
    ['committed link out of it', '/repo/out'],
    ['link to a file', '/home/me/bin'],
    ['working folder, absolute', '/work'],
  ])('is not looked up in the checkout: %s', (_, entry) => {
    expect(find(`${entry}:/usr/bin`)).toBe('/usr/bin/vault');
    expect(find(entry)).toBeUndefined();
  });

  it('is looked up where the system looks if there is no PATH', () => {
    expect(find(undefined)).toBe('/usr/bin/vault');
    expect(find('')).toBeUndefined();
  });

  it('is started from the checkout only by its path, relative to its working folder', () => {
    expect(find('/usr/bin', './vault')).toBe('/work/vault');
    expect(find('/usr/bin', '/repo/bin/vault')).toBe('/repo/bin/vault');
    expect(find('/usr/bin', 'bin/vault')).toBeUndefined();
  });

  it('gets a PATH without these folders, and every other variable', () => {
    const env = {
      PATH: '/repo/bin:bin::/usr/bin:/opt/linked:/bin',
      Path: '/repo',
      VAULT_ADDR: 'a',
      EMPTY: '',
      NONE: undefined,
    };
    expect(createProgramEnvironment({ cwd: '/work', env, checkouts: ['/repo'] }, SYSTEM)).toEqual({
      PATH: '/usr/bin:/bin',
      Path: '/repo',
      VAULT_ADDR: 'a',
      EMPTY: '',
    });
  });
});

describe('on Windows, a program that is named without a path', () => {
  const PROGRAMS = [
    'C:\\Program Files\\Git\\git.EXE',
    'C:\\repo\\bin\\git.exe',
    'C:\\Program Files\\Git\\git.exe',
    'D:\\tools\\vault.COM',
    'D:\\tools\\op.cmd',
  ];
  const SYSTEM = createSystem('win32', PROGRAMS, { 'D:\\linked': 'C:\\repo\\bin' });
  const find = (Path: string, name = 'git', PATHEXT = '.COM;.EXE;.BAT;.CMD') =>
    findProgram(name, { cwd: 'C:\\repo', env: { Path, PATHEXT }, checkouts: ['C:\\repo'] }, SYSTEM);
  const GIT = 'C:\\Program Files\\Git\\git.exe';

  it.each([
    ['absolute folder', 'C:\\repo\\bin'],
    ['in other case', 'c:\\REPO\\bin'],
    ['with slashes', 'C:/repo/bin'],
    ['in quotes', '"C:\\repo\\bin"'],
    ['relative folder', 'bin'],
    ['relative to a drive', 'C:bin'],
    ['without a drive', '\\repo\\bin'],
    ['working folder', '.'],
    ['empty entry', ''],
    ['link', 'D:\\linked'],
  ])('is not looked up in the checkout: %s', (_, entry) => {
    expect(find(`${entry};C:\\Program Files\\Git`)?.toLowerCase()).toBe(GIT.toLowerCase());
    expect(find(entry)).toBeUndefined();
  });

  it('has an ending of PATHEXT that needs no shell', () => {
    const find32 = (name: string, ext?: string) => find('D:\\tools;"C:\\Program Files\\Git"', name, ext);
    expect(find32('git')?.toLowerCase()).toBe(GIT.toLowerCase());
    expect(find32('git.exe')).toBe(GIT);
    expect(find32('vault')).toBe('D:\\tools\\vault.COM');
    expect(find32('vault', '.EXE')).toBeUndefined();
    expect(find32('op')).toBeUndefined();
    expect(find32('op.cmd')).toBeUndefined();
  });

  it('gets PATH under the name that it has, and what Windows needs', () => {
    const env = { Path: 'C:\\repo\\bin;D:\\tools', SystemRoot: 'C:\\Windows', PATHEXT: '.EXE' };
    expect(createProgramEnvironment({ cwd: 'C:\\repo', env, checkouts: ['C:\\repo'] }, SYSTEM)).toEqual({
      Path: 'D:\\tools',
      SystemRoot: 'C:\\Windows',
      PATHEXT: '.EXE',
    });
  });
});
