import { compileRe2 } from '../kinds/re2.ts';

/**
 * Patterns of paths. They come from manifests, so matching takes time linear in the length of a path, which the packages
 * for it do not promise. `*` and `?` match no slash, `**` as a whole part of a path matches any number of folders, and
 * `[…]` is a set of characters. Patterns of `spec.inputs` have the rules of git's `:(glob)`: a path without wildcards
 * selects a file or everything below a folder. Patterns of `spec.skip_files` have those of `.gitignore`.
 */

export interface InputPattern {
  /** The pattern relative to the root of the repository. Patterns with the same text select the same files. */
  readonly text: string;
  /** The folder that the pattern names before its first wildcard, or the whole path if it has none. */
  readonly fixed: string;
  /** Whether the pattern selects a file, given by its path relative to the root of the repository. */
  readonly matches: (path: string) => boolean;
  /** Whether the pattern may select a file below a folder. False only if it certainly selects none. */
  readonly mayMatchBelow: (folder: string) => boolean;
}

/**
 * Compiles a pattern. `folder`: the folder that the pattern is relative to. Paths are relative to the root of the
 * repository and have slashes. `undefined` if the pattern leads out of the repository.
 */
export function compileInputPattern(pattern: string, folder: string): InputPattern | undefined {
  const parts = resolveParts(pattern, folder);
  if (parts === undefined) return undefined;
  const isFixed = ({ text, isLiteral }: Part): boolean => isLiteral || !/[*?[\\]/.test(text);
  const count = parts.findIndex((part) => !isFixed(part));
  const fixed = toPatternPath(count < 0 ? parts : parts.slice(0, count));
  const text = parts.map((part) => (part.isLiteral ? quote(part.text) : part.text)).join('/');
  const whole = toPatternPath(parts);
  const mayPartsMatchBelow = compileFolderMatcher(parts);
  const mayMatchBelow = (path: string): boolean =>
    isAtOrBelow(path, whole) || isAtOrBelow(whole, path) || mayPartsMatchBelow(path);
  if (count < 0) return { text, fixed, matches: (path) => isAtOrBelow(path, fixed), mayMatchBelow };
  const expression = parts.map((part, index) => translate(part, index === parts.length - 1)).join('');
  const isFound = compileWhole(expression);
  const matches = (path: string): boolean => isAtOrBelow(path, whole) || (isAtOrBelow(path, fixed) && isFound(path));
  return { text, fixed, matches, mayMatchBelow };
}

/** Compares the names on the path of a folder with the parts of a pattern, up to one that may match a slash. */
function compileFolderMatcher(parts: readonly Part[]): (folder: string) => boolean {
  const matchers = parts.map((part) => {
    const mayMatchSlash = !part.isLiteral && /\[|\*\*/.test(part.text);
    return mayMatchSlash ? undefined : compileWhole(translate(part, true));
  });
  return (folder) => {
    const names = folder.split('/');
    const open = matchers.indexOf(undefined);
    if (open < 0 && names.length >= parts.length) return false;
    return names.slice(0, open < 0 ? names.length : open).every((name, index) => matchers[index]?.(name) === true);
  };
}

/** Git finds nothing with a set that is never closed, or a range from high to low. */
function compileWhole(expression: string): (text: string) => boolean {
  const compiled = compileRe2(`(?s)^${expression}$`);
  return 'finding' in compiled ? () => false : compiled.isFoundIn;
}

/** A pattern as in `.gitignore`. */
interface IgnorePattern {
  readonly index: number;
  /** Whether the pattern starts with `!`: what it matches is not ignored. */
  readonly isNegated: boolean;
  readonly isForFolders: boolean;
  readonly matches: (path: string) => boolean;
}

/**
 * Compiles patterns as in `.gitignore`. The result returns the index of the pattern that ignores a file, by its path
 * relative to the folder of the patterns, with slashes. `undefined`: the file is not ignored.
 */
export function compileIgnorePatterns(patterns: readonly string[]): (path: string) => number | undefined {
  const compiled = patterns.flatMap((pattern, index) => compileIgnorePattern(pattern, index) ?? []);
  return (path) => {
    const names = path.split('/');
    for (const at of names.keys()) {
      const [prefix, isFolder] = [names.slice(0, at + 1).join('/'), at < names.length - 1];
      const found = compiled.findLast((one) => (isFolder || !one.isForFolders) && one.matches(prefix));
      // What is below an ignored folder cannot be taken back.
      if (found !== undefined && !found.isNegated) return found.index;
    }
    return undefined;
  };
}

function compileIgnorePattern(written: string, index: number): IgnorePattern | undefined {
  const trimmed = written.replace(/(?<!\\) +$/, '');
  if (trimmed === '' || trimmed.startsWith('#')) return undefined;
  const isNegated = trimmed.startsWith('!');
  const isForFolders = trimmed.endsWith('/');
  const path = trimmed.slice(isNegated ? 1 : 0, isForFolders ? -1 : undefined);
  const parts = path.replace(/^\//, '').split('/');
  const toPart = (text: string): Part => ({ text, isLiteral: false });
  const expression = parts.map((part, at) => translate(toPart(part), at === parts.length - 1)).join('');
  const isFound = compileWhole(expression);
  const isAnywhere = !path.includes('/');
  const matches = (file: string): boolean => isFound(isAnywhere ? file.slice(file.lastIndexOf('/') + 1) : file);
  return { index, isNegated, isForFolders, matches };
}

/** Whether a path equals a folder or is below it. The root of the repository is the folder `''`. */
export function isAtOrBelow(path: string, folder: string): boolean {
  return folder === '' || path === folder || path.startsWith(`${folder}/`);
}

/** A part of a path between slashes. The parts of the folder are literal: their names may contain wildcards. */
interface Part {
  readonly text: string;
  readonly isLiteral: boolean;
}

function resolveParts(pattern: string, folder: string): readonly Part[] | undefined {
  const parts: Part[] = folder === '' ? [] : folder.split('/').map((text) => ({ text, isLiteral: true }));
  for (const text of pattern.split('/')) {
    if (text === '' || text === '.') continue;
    if (text !== '..') parts.push({ text, isLiteral: false });
    else if (parts.pop() === undefined) return undefined;
  }
  return parts;
}

function toPatternPath(parts: readonly Part[]): string {
  return parts.map(({ text }) => text).join('/');
}

/** Translates a part to RE2, with the slash after it. */
function translate({ text, isLiteral }: Part, isLast: boolean): string {
  if (text === '**' && !isLiteral) return isLast ? '.*' : '(?:.*/)?';
  return `${isLiteral ? quote(text) : text.replaceAll(TOKEN, translateToken)}${isLast ? '' : '/'}`;
}

/** A set of characters (`]` may be its first), an escaped character, several `*` at the end, or any other character. */
const TOKEN = /\[[!^]?\]?(?:\[:\w+:\]|\\.|[^\]\\])*\]|\\.|\*{2,}$|./gs;

function translateToken(token: string): string {
  if (token === '*') return '[^/]*';
  if (token.startsWith('**')) return '.*';
  if (token === '?') return '[^/]';
  if (token.length > 1 && token.startsWith('[')) return translateSet(token);
  return quote(token.length > 1 && token.startsWith('\\') ? token.slice(1) : token);
}

function translateSet(token: string): string {
  const isNegated = /^\[[!^]/.test(token);
  const members = token
    .slice(isNegated ? 2 : 1, -1)
    .replaceAll(/\[:\w+:\]|\\.|[^\w-]/gs, (one) => (one.startsWith('[:') ? one : quote(one.replace(/^\\(?=.)/s, ''))));
  return isNegated ? `[^/${members}]` : `[${members}]`;
}

function quote(text: string): string {
  return text.replaceAll(/[^\w/]/gu, (one) => (one.charCodeAt(0) < 0x80 ? `\\${one}` : one));
}
