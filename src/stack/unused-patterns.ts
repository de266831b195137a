import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { findStats, resolveLinks } from '../files/real-path.ts';
import { compileInputPattern, type InputPattern } from '../manifest/path-pattern.ts';
import type { SkipPatternInFolder } from '../manifest/skip-files.ts';

/** Patterns of a Stack that select no file. Names decide, also where the file system has no case. */

/** Beyond this many entries, a pattern counts as used: what is wrong with it shows in a small folder first. */
const MAX_ENTRIES = 20_000;

/** Returns whether a pattern of `spec.inputs`, relative to the working folder, selects no file of the repository at `top`. */
export function isUnusedInput(pattern: string, { cwd, top }: { readonly cwd: string; readonly top: string }): boolean {
  const path = relative(top, resolve(resolveLinks(cwd), pattern))
    .split(sep)
    .join('/');
  const compiled = compileInputPattern(path, '');
  return compiled !== undefined && !selectsFile(compiled, top);
}

/** Returns whether a pattern of `spec.skip_files` matches no file in the folder of its Stack, whoever reads the file. */
export function isUnusedSkipPattern({ folder, matches }: SkipPatternInFolder, cwd: string): boolean {
  return !hasFile({ top: resolve(cwd, folder), start: '', matches, mayMatchBelow: () => true });
}

function selectsFile({ fixed, matches, mayMatchBelow }: InputPattern, top: string): boolean {
  if (!hasExactPath(fixed, top)) return false;
  if (findStats(join(top, fixed), statSync)?.isDirectory() !== true) return matches(fixed);
  return hasFile({ top, start: fixed, matches, mayMatchBelow });
}

interface FileSearch extends Pick<InputPattern, 'matches' | 'mayMatchBelow'> {
  readonly top: string;
  /** The folder to search, relative to `top`, as are the paths that are matched. */
  readonly start: string;
}

function hasFile({ top, start, matches, mayMatchBelow }: FileSearch): boolean {
  const open = [start];
  let entries = 0;
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const entry of listEntries(join(top, folder))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      entries += 1;
      // What is behind a link is not searched, so it may be selected.
      const isSelected = entry.isSymbolicLink() ? mayMatchBelow(path) : entry.isFile() && matches(path);
      if (isSelected || entries > MAX_ENTRIES) return true;
      if (entry.isDirectory() && entry.name !== '.git' && mayMatchBelow(path)) open.push(path);
    }
  }
  return false;
}

/** Whether each folder on a path lists the next name exactly as it is written. */
function hasExactPath(path: string, top: string): boolean {
  const names = path === '' ? [] : path.split('/');
  return names.every((name, index) =>
    listEntries(join(top, ...names.slice(0, index))).some((entry) => entry.name === name),
  );
}

/** What cannot be listed has no entries: reading it is not the task of a warning. */
function listEntries(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
