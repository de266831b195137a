import { isSameJson, type Json, toDigest } from './json.ts';
import type { SinkSettings } from './stack.ts';

/** The sink of a new credential's token, as a plan records it: everything that decides it, with placeholders not filled in. */
export type TokenPlace = { readonly directory: string } | TokenCommand;

/** A command that gets a token. */
export interface TokenCommand {
  readonly command: readonly string[];
  /** The command that is run before the first write. Absent: none. */
  readonly test?: readonly string[];
  readonly timeoutMs: number;
}

/** The place that settings name. Whether a folder lies in the repository is checked when it is used. */
export function describeSink(sink: SinkSettings): TokenPlace {
  if ('directory' in sink) return { directory: sink.directory };
  const { command, test, timeoutMs } = sink;
  return { command, ...(test !== undefined && { test }), timeoutMs };
}

/** Whether two sinks are the same, in the same words. */
export function isSameTokenPlace(left: TokenPlace | undefined, right: TokenPlace | undefined): boolean {
  return isSameJson(toJson(left), toJson(right));
}

function toJson(place: TokenPlace | undefined): Json {
  return place === undefined ? null : { ...place };
}

/** 132 bits: nobody finds two commands that have them in common. */
const DIGEST_LENGTH = 22;

/** A place on one line. Of long commands it has the start; the digest is of all words, of the test and of the timeout. */
export function describeTokenPlace(place: TokenPlace): string {
  if ('directory' in place) return `the folder ${toShownWord(place.directory)}`;
  const { command, test, timeoutMs } = place;
  const tested = test === undefined ? '' : `tested with ${toShownCommand(test)}, `;
  return `the command ${toShownCommand(command)} (${tested}timeout ${timeoutMs / 1000} s, sha256 ${toDigest(toJson(place), DIGEST_LENGTH)})`;
}

/** The sentence about a place that readers of a plan see. */
export function formatTokenNote(place: TokenPlace): string {
  return `its token goes to ${describeTokenPlace(place)}`;
}

/** Every word of a command whose line leaves some out, a line each; none where the line has all of them. */
export function listCutWords(place: TokenPlace | undefined): readonly string[] {
  if (place === undefined || 'directory' in place) return [];
  const { command, test = [] } = place;
  if (![command, test].some((words) => isLong(toLine(words)))) return [];
  const toLines = (words: readonly string[]) => words.map((word) => `  ${toShownWord(word)}`);
  return ['command:', ...toLines(command), ...(test.length === 0 ? [] : ['test:', ...toLines(test)])];
}

/** Characters of a command that a sentence has room for. */
const MAX_SHOWN = 200;

function toShownCommand(words: readonly string[]): string {
  const line = toLine(words);
  return isLong(line) ? `${line.slice(0, MAX_SHOWN)}… and so on, ${words.length} words` : line;
}

function isLong(line: string): boolean {
  return line.length > MAX_SHOWN;
}

function toLine(words: readonly string[]): string {
  return words.map(toShownWord).join(' ');
}

/** A word that can be told from every other: in quotes unless it is plain, each character that is not of ASCII escaped as in JSON. */
function toShownWord(word: string): string {
  if (/^[A-Za-z0-9_@%+=:,./{}~-]+$/.test(word)) return word;
  return JSON.stringify(word).replace(
    /[^\u0020-\u007e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
