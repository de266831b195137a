import { toPrintable } from './printable.ts';

/** Words of a command line that the user may paste into a POSIX shell. */

/**
 * Quotes a word for a POSIX shell, unless no shell gives any of its characters a meaning. Zsh gives one to a `=` at the
 * start. A control character is shown as an escape: such a word is no longer the same, but one that shows no second line.
 */
export function quoteForShell(word: string): string {
  if (/^(?!=)[\w@%+=:,./-]+$/.test(word)) return word;
  return `'${toPrintable(word).replaceAll("'", `'\\''`)}'`;
}

/** Prevents a path that starts with `-` from being parsed as an option. `-` alone is standard input. */
export function escapePath(path: string): string {
  return path.startsWith('-') && path !== '-' ? `./${path}` : path;
}
