import { lstatSync, readlinkSync, realpathSync, type Stats, type statSync } from 'node:fs';
import { dirname, isAbsolute, parse, resolve, sep } from 'node:path';
import { isFileError } from './read-input.ts';

/** Maximum number of symbolic links on a path, as in Linux. */
const MAX_LINKS = 40;

/** Returns the real path of an absolute path, also of a missing file. If its links form a cycle: the path unchanged. */
export function resolveLinks(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (isFileError(error)) return resolveEachLink(path) ?? path;
    throw error;
  }
}

interface LinkWalk {
  readonly most?: number;
  /** Called for each symbolic link on the path, with the real path of its folder and its name. */
  readonly onLink?: (link: string) => void;
}

/**
 * Resolves link by link, because `realpath` fails for a missing file. `undefined` if the path leads through more than
 * `most` folders.
 */
export function resolveEachLink(
  path: string,
  { most = Number.POSITIVE_INFINITY, onLink }: LinkWalk = {},
): string | undefined {
  const { root } = parse(path);
  const parts = path.slice(root.length).split(sep);
  let real = root;
  for (let left = MAX_LINKS; parts.length > 0; ) {
    if (parts.length + real.split(sep).length > most) return undefined;
    const part = parts.shift() ?? '';
    const next = resolve(real, part);
    const target = part === '..' ? undefined : readLink(next);
    if (target === undefined) {
      real = next;
      continue;
    }
    onLink?.(next);
    left -= 1;
    if (left === 0) return path;
    if (isAbsolute(target)) real = root;
    parts.unshift(...target.split(sep));
  }
  return real;
}

function readLink(path: string): string | undefined {
  if (findStats(path)?.isSymbolicLink() !== true) return undefined;
  return readlinkSync(path);
}

/** Returns a path and the folders above it, nearest first. */
export function listAncestors(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [path, ...listAncestors(parent)];
}

/** Follows a symbolic link only if `look` is `statSync`. `undefined` if the file is missing or cannot be accessed. */
export function findStats(path: string, look: typeof lstatSync | typeof statSync = lstatSync): Stats | undefined {
  try {
    return look(path, { throwIfNoEntry: false });
  } catch (error) {
    if (isFileError(error)) return undefined;
    throw error;
  }
}
