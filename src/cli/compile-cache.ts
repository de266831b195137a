/**
 * Where Node keeps what it compiled of this program, so that the next start is faster. The folder is the user's. Each installation has
 * a folder in it, which holds one file for each file of the program, and only a few installations are kept.
 */

/** Installations that are kept. Each takes a few megabytes. */
export const MOST_INSTALLATIONS = 4;

/** What the cache depends on. Modules of Node's come from the process too: an import would load more of them than is needed here. */
export interface CacheSurroundings {
  readonly process: Pick<NodeJS.Process, 'env' | 'argv' | 'version' | 'arch' | 'getuid' | 'getBuiltinModule'>;
  /** The version of this program. */
  readonly version: string;
}

/** Has Node keep what it compiles from here on. Without the cache everything is slower and nothing else: no fault of it ends a run. */
export function useCompileCache(surroundings: CacheSurroundings): void {
  const { enableCompileCache, getCompileCacheDir } = surroundings.process.getBuiltinModule('node:module');
  if (getCompileCacheDir() !== undefined) return;
  const folder = openCacheFolder(surroundings);
  if (folder !== undefined) enableCompileCache(folder);
}

/** The folder for this installation, made when it is not there. `undefined`: the user wants none, or it cannot be had. */
export function openCacheFolder({ process, version }: CacheSurroundings): string | undefined {
  if (isOff(process.env)) return undefined;
  try {
    const name = `${PREFIX}${version}-${process.version}-${process.arch}-${toFileId(process)}`;
    return openFolder(process, name);
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

/** Another copy of the program, or a new build of it, is another file. */
function toFileId({ argv, getBuiltinModule }: Process): string {
  const { dev, ino, mtimeMs, size } = getBuiltinModule('node:fs').statSync(argv[1] ?? '');
  return [dev, ino, Math.trunc(mtimeMs), size].map((part) => part.toString(36)).join('-');
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
  if (mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined) removeOldest(root, name, process);
  return isOwn(folder, process) ? folder : undefined;
}

/** Source: the XDG Base Directory Specification. A relative path counts as none. */
function findBase({ env, getBuiltinModule }: Process): string | undefined {
  const { isAbsolute, join } = getBuiltinModule('node:path');
  return [env['XDG_CACHE_HOME'] ?? '', join(env['HOME'] ?? env['USERPROFILE'] ?? '', '.cache')].find(isAbsolute);
}

/** What is in the cache is run: nobody else may be able to write it. Windows has no user ids, and closes a home to others. */
function isOwn(path: string, { getuid, getBuiltinModule }: Process): boolean {
  const found = getBuiltinModule('node:fs').statSync(path);
  return found.isDirectory() && (getuid === undefined || (found.uid === getuid() && (found.mode & 0o022) === 0));
}

function removeOldest(root: string, kept: string, { getBuiltinModule }: Process): void {
  const { lstatSync, readdirSync, rmSync } = getBuiltinModule('node:fs');
  const { join } = getBuiltinModule('node:path');
  const others = readdirSync(root).filter((name) => name.startsWith(PREFIX) && name !== kept);
  const byAge = others
    .map((name) => ({ path: join(root, name), time: lstatSync(join(root, name)).mtimeMs }))
    .sort((left, right) => right.time - left.time);
  for (const { path } of byAge.slice(MOST_INSTALLATIONS - 1)) rmSync(path, { recursive: true, force: true });
}
