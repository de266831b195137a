import { accessSync, constants, statSync } from 'node:fs';
import { platform } from 'node:os';
import { posix, win32 } from 'node:path';
import { isBelow } from '../files/boundary.ts';
import { isFileError } from '../files/read-input.ts';
import { resolveLinks } from '../files/real-path.ts';

/** Where a program is looked up, and what it gets. */
export interface ProgramPlace {
  /** The working folder of the program. A name with a slash is relative to it. */
  readonly cwd: string;
  readonly env: ProgramEnvironment;
  /** Folders whose files the author of a commit may decide. A program that is named without a slash is not from there. */
  readonly checkouts: readonly string[];
}

export type ProgramEnvironment = Readonly<Record<string, string | undefined>>;

/** The rules of a platform, and its file system. */
export interface ProgramSystem {
  readonly platform: NodeJS.Platform;
  readonly isExecutable: (path: string) => boolean;
  readonly toReal: (path: string) => string;
}

/**
 * Returns the absolute path of a program. A name without a slash is looked up on PATH, without the folders of a checkout:
 * `npm` and direnv add folders such as `node_modules/.bin`, and a commit may have put a program there. `undefined` if
 * there is none.
 */
export function findProgram(name: string, place: ProgramPlace, system: ProgramSystem): string | undefined {
  const { path, isPath } = getRules(system);
  const endings = listEndings(name, place.env, system);
  const find = (base: string): string | undefined =>
    endings.map((ending) => `${base}${ending}`).find((file) => system.isExecutable(file));
  if (isPath(name)) return find(path.resolve(place.cwd, name));
  for (const folder of listSearchFolders(place, system)) {
    const found = find(path.join(folder, name));
    if (found !== undefined && !isInCheckout(found, place, system)) return found;
  }
  return undefined;
}

/** Returns the environment of a program, in whose PATH there are no folders of a checkout and no relative ones. */
export function createProgramEnvironment(place: ProgramPlace, system: ProgramSystem): Record<string, string> {
  const { path } = getRules(system);
  const kept = Object.entries(place.env).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  );
  const search = listSearchFolders(place, system).join(path.delimiter);
  return Object.fromEntries(kept.map(([name, value]) => [name, isSearchPath(name, system) ? search : value]));
}

interface PlatformRules {
  readonly path: typeof posix;
  /** Whether a name is a path, which is not looked up. */
  readonly isPath: (name: string) => boolean;
}

function getRules({ platform }: ProgramSystem): PlatformRules {
  if (platform !== 'win32') return { path: posix, isPath: (name) => name.includes('/') };
  // `C:tool.exe` is relative to the working folder of that drive.
  return { path: win32, isPath: (name) => /[\\/:]/.test(name) };
}

/** Windows has `Path`, and ignores case. */
function isSearchPath(name: string, { platform }: ProgramSystem): boolean {
  return name === 'PATH' || (platform === 'win32' && name.toUpperCase() === 'PATH');
}

/** The folders of PATH that are absolute and lead, by name and by link, out of each checkout. */
function listSearchFolders(place: ProgramPlace, system: ProgramSystem): readonly string[] {
  const { path } = getRules(system);
  const [, given] = Object.entries(place.env).find(([name]) => isSearchPath(name, system)) ?? [];
  const written = given ?? (system.platform === 'win32' ? '' : DEFAULT_PATH);
  const folders = written.split(path.delimiter).map((folder) => unquote(folder, system));
  return folders.filter((folder) => isWhole(folder, system) && !isInCheckout(folder, place, system));
}

/** Where the C library looks if PATH is not set. */
const DEFAULT_PATH = '/usr/bin:/bin';

function unquote(folder: string, { platform }: ProgramSystem): string {
  return platform === 'win32' ? folder.replace(/^"(.*)"$/, '$1') : folder;
}

/** Whether a folder does not depend on the working folder, nor on its drive. */
function isWhole(folder: string, system: ProgramSystem): boolean {
  return system.platform === 'win32' ? /^(?:[A-Za-z]:[\\/]|[\\/]{2}[^\\/])/.test(folder) : posix.isAbsolute(folder);
}

function isInCheckout(file: string, { checkouts }: ProgramPlace, system: ProgramSystem): boolean {
  const { path } = getRules(system);
  const names = [path.resolve(file), system.toReal(path.resolve(file))];
  return checkouts.some((checkout) => {
    const tops = [path.resolve(checkout), system.toReal(path.resolve(checkout))];
    return names.some((name) => tops.some((top) => isBelow(name, top, path)));
  });
}

/**
 * The endings that a name may lack. Windows adds those in PATHEXT; of them, only these two can be started without a
 * shell.
 */
function listEndings(name: string, env: ProgramEnvironment, { platform }: ProgramSystem): readonly string[] {
  if (platform !== 'win32') return [''];
  const [, given = '.COM;.EXE'] = Object.entries(env).find(([variable]) => variable.toUpperCase() === 'PATHEXT') ?? [];
  const endings = given.split(';').filter((ending) => STARTABLE.test(ending));
  return STARTABLE.test(name) ? ['', ...endings] : endings;
}

const STARTABLE = /\.(?:com|exe)$/i;

export const SYSTEM: ProgramSystem = {
  platform: platform(),
  isExecutable: (path) => {
    try {
      accessSync(path, constants.X_OK);
      return statSync(path).isFile();
    } catch (error) {
      if (isFileError(error)) return false;
      throw error;
    }
  },
  toReal: resolveLinks,
};
