import { omitUndefined, toDigest } from './json.ts';
import type { SinkSettings, TokenCommand } from './stack.ts';

/** The sink of a new token, as a plan contains it: all settings of the sink, with placeholders not filled in. */
export type PlannedTokenSink = { readonly directory: string; readonly file?: string } | TokenCommand;

/** Converts the settings of a sink to the form in a plan. Does not check whether the folder is in the repository. */
export function toPlannedTokenSink(sink: SinkSettings): PlannedTokenSink {
  if ('directory' in sink) {
    const { directory, file } = sink;
    return { directory, ...(file !== undefined && { file }) };
  }
  const { command, test, timeoutMs, folder } = sink;
  return { command, ...(test !== undefined && { test }), timeoutMs, ...(folder !== undefined && { folder }) };
}

/** 22 characters are 132 bits: it is infeasible to construct two commands with the same digest. */
const DIGEST_LENGTH = 22;

/** Describes a sink on one line. Cuts a long command, and adds a digest of the command, the test and the timeout. */
export function describeTokenSink(sink: PlannedTokenSink): string {
  if ('directory' in sink) {
    const name = sink.file === undefined ? '' : `, as ${sink.file}`;
    return `the folder ${formatWord(sink.directory)}${name}`;
  }
  const { command, test, timeoutMs, folder } = sink;
  const where = folder === undefined ? '' : `in ${formatWord(folder)}, `;
  const tested = test === undefined ? '' : `tested with ${formatSinkCommand(test)}, `;
  return `the command ${formatSinkCommand(command)} (${where}${tested}timeout ${timeoutMs / 1000} s, sha256 ${toDigest(omitUndefined({ ...sink, folder: folder ?? null }), DIGEST_LENGTH)})`;
}

export function formatTokenNote(sink: PlannedTokenSink): string {
  return `its token goes to ${describeTokenSink(sink)}`;
}

/** Returns the words of the command and the test, one per line, if `describeTokenSink` cuts them. Otherwise empty. */
export function listFullWordsOfCutCommand(sink: PlannedTokenSink | undefined): readonly string[] {
  if (sink === undefined || 'directory' in sink) return [];
  const { command, test = [] } = sink;
  if (![command, test].some((words) => isLong(formatLine(words)))) return [];
  const formatLines = (words: readonly string[]) => words.map((word) => `  ${formatWord(word)}`);
  return ['command:', ...formatLines(command), ...(test.length === 0 ? [] : ['test:', ...formatLines(test)])];
}

/** Maximum number of characters of a command in a sentence, so that the sentence is readable. */
const MAX_SHOWN = 200;

function formatSinkCommand(words: readonly string[]): string {
  const line = formatLine(words);
  return isLong(line) ? `${line.slice(0, MAX_SHOWN)}… and so on, ${words.length} words` : line;
}

function isLong(line: string): boolean {
  return line.length > MAX_SHOWN;
}

function formatLine(words: readonly string[]): string {
  return words.map(formatWord).join(' ');
}

/** Quotes a word unless it is plain, and escapes non-ASCII characters, so that different words look different. */
function formatWord(word: string): string {
  if (/^[A-Za-z0-9_@%+=:,./{}~-]+$/.test(word)) return word;
  return JSON.stringify(word).replace(
    /[^\u0020-\u007e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
