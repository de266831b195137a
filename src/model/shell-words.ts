/** Words of a command line that the user may paste into a POSIX shell. */

/**
 * Quotes a word for a POSIX shell, unless no shell gives any of its characters a meaning. Zsh gives one to a `=` at the
 * start.
 */
export function quoteForShell(word: string): string {
  return /^(?!=)[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Prevents a path that starts with `-` from being parsed as an option. `-` alone is standard input. */
export function escapePath(path: string): string {
  return path.startsWith('-') && path !== '-' ? `./${path}` : path;
}
