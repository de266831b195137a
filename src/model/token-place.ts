import { isSameJson, type Json, toDigest } from './json.ts';
import type { SinkSettings } from './stack.ts';

/**
 * The sink of a new credential's token, as recorded in a plan: all settings of the sink, with placeholders not filled
 * in.
 */
export type TokenPlace = { readonly directory: string } | TokenCommand;

/** A command that receives a token on its standard input. */
export interface TokenCommand {
  readonly command: readonly string[];
  /** A command that tests the sink before the first write. Absent: no test. */
  readonly test?: readonly string[];
  readonly timeoutMs: number;
}

/** Returns the sink of some settings, as recorded in a plan. Does not check whether the folder is in the repository. */
export function toTokenPlace(sink: SinkSettings): TokenPlace {
  if ('directory' in sink) return { directory: sink.directory };
  const { command, test, timeoutMs } = sink;
  return { command, ...(test !== undefined && { test }), timeoutMs };
}

/** Whether two sinks have the same settings. Two absent sinks are the same. */
export function isSameTokenPlace(left: TokenPlace | undefined, right: TokenPlace | undefined): boolean {
  return isSameJson(toJson(left), toJson(right));
}

function toJson(place: TokenPlace | undefined): Json {
  return place === undefined ? null : { ...place };
}

/** 132 bits: enough to make it infeasible to construct two commands with the same digest. */
const DIGEST_LENGTH = 22;

/**
 * Describes a sink on one line. A long command is cut; the digest covers the whole command, the test and the timeout.
 */
export function describeTokenPlace(place: TokenPlace): string {
  if ('directory' in place) return `the folder ${formatWord(place.directory)}`;
  const { command, test, timeoutMs } = place;
  const tested = test === undefined ? '' : `tested with ${formatCommand(test)}, `;
  return `the command ${formatCommand(command)} (${tested}timeout ${timeoutMs / 1000} s, sha256 ${toDigest(toJson(place), DIGEST_LENGTH)})`;
}

/** The note about a token's sink that a plan shows. */
export function formatTokenNote(place: TokenPlace): string {
  return `its token goes to ${describeTokenPlace(place)}`;
}

/** All words of a sink's command, one per line, if `describeTokenPlace` cuts the command. Otherwise empty. */
export function listFullWords(place: TokenPlace | undefined): readonly string[] {
  if (place === undefined || 'directory' in place) return [];
  const { command, test = [] } = place;
  if (![command, test].some((words) => isLong(formatLine(words)))) return [];
  const formatLines = (words: readonly string[]) => words.map((word) => `  ${formatWord(word)}`);
  return ['command:', ...formatLines(command), ...(test.length === 0 ? [] : ['test:', ...formatLines(test)])];
}

/** Characters of a command that a sentence can show and still be readable. */
const MAX_SHOWN = 200;

function formatCommand(words: readonly string[]): string {
  const line = formatLine(words);
  return isLong(line) ? `${line.slice(0, MAX_SHOWN)}… and so on, ${words.length} words` : line;
}

function isLong(line: string): boolean {
  return line.length > MAX_SHOWN;
}

function formatLine(words: readonly string[]): string {
  return words.map(formatWord).join(' ');
}

/**
 * Formats a word so that different words look different: quoted unless it is plain, with all characters outside ASCII
 * escaped as in JSON.
 */
function formatWord(word: string): string {
  if (/^[A-Za-z0-9_@%+=:,./{}~-]+$/.test(word)) return word;
  return JSON.stringify(word).replace(
    /[^\u0020-\u007e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
