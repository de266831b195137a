/**
 * Where what the engine compiled of this program is kept, so that the next start is faster. The folder is the user's. Each build has a folder in
 * it, which holds one file for each command, and only a few builds and commands are kept.
 */

/** Builds that are kept. Each takes one or two megabytes for each command that is used. */
export const MOST_BUILDS = 4;

/** Commands that are kept for a build: more than one user uses, because a word that is mistyped counts as one. */
export const MOST_COMMANDS = 12;

/** What the cache depends on. Modules of Node's come from the process too: an import would load more of them than is needed here. */
export interface CacheSurroundings {
  readonly process: Pick<NodeJS.Process, 'env' | 'argv' | 'version' | 'arch' | 'getuid' | 'getBuiltinModule'>;
  /** The version of this program. */
  readonly version: string;
  /** Digest of its files: the engine takes what it compiled for any file of the same length. */
  readonly build: string;
}

/** The file for what this command line makes the engine compile, which need not be there. `undefined`: nothing can be kept. */
export function findKeptFile(surroundings: CacheSurroundings): string | undefined {
  const folder = openCacheFolder(surroundings);
  if (folder === undefined) return undefined;
  const { existsSync } = surroundings.process.getBuiltinModule('node:fs');
  const [, , word = ''] = surroundings.process.argv;
  const name = COMMAND.test(word) ? word : 'other';
  const file = surroundings.process.getBuiltinModule('node:path').join(folder, name);
  if (!existsSync(file)) tryTo(() => makeRoom(folder, { most: MOST_COMMANDS }, surroundings.process));
  return file;
}

/** A command, or an option that stands alone. */
const COMMAND = /^-{0,2}[a-z_]{1,20}(?:-[a-z]{1,20})?$/i;

/** The folder for this build, made when it is not there. `undefined`: the user wants none, or it cannot be had. */
export function openCacheFolder({ process, version, build }: CacheSurroundings): string | undefined {
  if (isOff(process.env)) return undefined;
  return tryTo(() => openFolder(process, `${PREFIX}${version}-${build}-${process.version}-${process.arch}`));
}

/** What an act gives; `undefined` when the file system is in its way. Without the cache everything is slower and nothing else, so that ends no run. */
export function tryTo<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}

const PREFIX = 'compiled-';

type Process = CacheSurroundings['process'];

/** Measuring which code is run is less exact with code from a cache. */
function isOff(env: Process['env']): boolean {
  return ['NODE_DISABLE_COMPILE_CACHE', 'NODE_V8_COVERAGE'].some((name) => (env[name] ?? '') !== '');
}

function openFolder(process: Process, name: string): string | undefined {
  const { existsSync, mkdirSync } = process.getBuiltinModule('node:fs');
  const { dirname, join } = process.getBuiltinModule('node:path');
  const base = findBase(process);
  // Nothing is made in the home of somebody else, which a program that runs as another user may see as its own.
  if (base === undefined || !isOwn(existsSync(base) ? base : dirname(base), process)) return undefined;
  const root = join(base, 'edgewise');
  mkdirSync(root, { recursive: true, mode: 0o700 });
  if (!isOwn(root, process)) return undefined;
  const folder = join(root, name);
  if (!existsSync(folder)) {
    makeRoom(root, { most: MOST_BUILDS, prefix: PREFIX }, process);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }
  return isOwn(folder, process) ? folder : undefined;
}

/** Whoever tells Node where to keep compiled code means this code too. Source of the rest: the XDG Base Directory Specification. A relative path counts as none. */
function findBase({ env, getBuiltinModule }: Process): string | undefined {
  const { isAbsolute, join } = getBuiltinModule('node:path');
  const home = join(env['HOME'] ?? env['USERPROFILE'] ?? '', '.cache');
  return [env['NODE_COMPILE_CACHE'] ?? '', env['XDG_CACHE_HOME'] ?? '', home].find(isAbsolute);
}

/** What is in the cache is run: nobody else may be able to write it. Windows has no user ids, and closes a home to others. */
function isOwn(path: string, { getuid, getBuiltinModule }: Process): boolean {
  const found = getBuiltinModule('node:fs').statSync(path);
  return found.isDirectory() && (getuid === undefined || (found.uid === getuid() && (found.mode & 0o022) === 0));
}

/** Removes the oldest of what is kept in a folder, so that one more makes it the most at best. */
function makeRoom(
  folder: string,
  { most, prefix = '' }: { readonly most: number; readonly prefix?: string },
  { getBuiltinModule }: Process,
): void {
  const { lstatSync, readdirSync, rmSync } = getBuiltinModule('node:fs');
  const { join } = getBuiltinModule('node:path');
  const byAge = readdirSync(folder)
    .filter((name) => name.startsWith(prefix))
    .map((name) => ({ path: join(folder, name), time: lstatSync(join(folder, name)).mtimeMs }))
    .sort((left, right) => right.time - left.time);
  for (const { path } of byAge.slice(most - 1)) rmSync(path, { recursive: true, force: true });
}
