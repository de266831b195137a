import type { Json } from '../model/json.ts';
import { DOCUMENT_WORDS } from './lex.ts';
import { type PlainLine, readLine } from './plain-line.ts';
import { isPlainKey, readScalar } from './plain-scalar.ts';

/**
 * Reads documents that are written plainly, which is most of them: mappings and lists in lines, each value on the line of its key.
 * The parser of YAML takes ten times as long. It decides all the same: whatever leaves a doubt is left to it, and so are all places.
 * `test/manifest/plain-yaml.test.ts` compares the two.
 */

/** A document that was read. */
export interface PlainDocument {
  readonly value: Json;
  /** Where it starts: at its `---`, or at the first line that says something. */
  readonly start: number;
  /** Where the next document starts, with its `---`, or the text ends. */
  readonly end: number;
  /** The words and signs in it, as the parser of YAML counts them. */
  readonly words: number;
}

/** No plain document is longer: the limits on larger ones are the parser's. */
const MOST_CHARACTERS = 100_000;

/** No plain document is nested as deeply. */
const MOST_DEPTH = 30;

/** Thrown where the parser of YAML has to decide. */
const DOUBT = Symbol('doubt');

/** The document that starts there, with its `---` if it has one; `undefined`: the parser of YAML has to decide what it says. */
export function readPlainDocument(text: string, start: number): PlainDocument | undefined {
  const reading: Reading = { text, limit: start + MOST_CHARACTERS, line: undefined, at: start, words: 0 };
  try {
    if (text.startsWith(MARKER, start)) skipMarker(reading);
    else if (start > 0) return undefined;
    if (start === 0) reading.words += 1;
    advance(reading);
    const { line } = reading;
    if (line?.indent !== 0 || isMember(line)) return undefined;
    const value = readMapping(reading, 0, 0);
    if (reading.line !== undefined) return undefined;
    return { value, start: text.startsWith(MARKER, start) ? start : line.from, end: reading.at, words: reading.words };
  } catch (error) {
    if (error === DOUBT) return undefined;
    throw error;
  }
}

/** The line between two documents. */
export const MARKER = '---\n';

/** Its words are those of a document, and the end of the line. */
function skipMarker(reading: Reading): void {
  reading.at += MARKER.length;
  reading.words += DOCUMENT_WORDS + 1;
}

/** How far a document is read. */
interface Reading {
  readonly text: string;
  readonly limit: number;
  /** The line that is next; absent: the document is over. */
  line: PlainLine | undefined;
  /** Where the line after it starts. */
  at: number;
  words: number;
}

function doubt(): never {
  throw DOUBT;
}

/** Goes on to the next line that says something. */
function advance(reading: Reading): void {
  const { text } = reading;
  reading.line = undefined;
  while (reading.line === undefined && reading.at < text.length && !text.startsWith(MARKER, reading.at)) {
    const line = text.startsWith('---', reading.at) ? undefined : readLine(text, reading.at);
    if (line === undefined || line.next > reading.limit) throw DOUBT;
    reading.at = line.next;
    reading.words += line.words;
    if (line.from < line.to) reading.line = line;
  }
}

/** A member of a list: `- value`. */
function isMember({ text, from, to }: PlainLine): boolean {
  return text.charCodeAt(from) === DASH && (from + 1 === to || text.charCodeAt(from + 1) === SPACE);
}

const DASH = 0x2d;
const SPACE = 0x20;

/** What stands below a key, or in a member of a list. */
function readBlock(reading: Reading, line: PlainLine, depth: number): Json {
  return isMember(line) ? readList(reading, line.indent, depth) : readMapping(reading, line.indent, depth);
}

function readMapping(reading: Reading, indent: number, depth: number): Json {
  if (depth > MOST_DEPTH) doubt();
  const value: Record<string, Json> = {};
  while (reading.line?.indent === indent && !isMember(reading.line)) {
    const { line } = reading;
    const { colon } = line;
    if (!isPlainKey(line.text, line.from, colon)) return doubt();
    const key = line.text.slice(line.from, colon);
    if (key === '__proto__' || Object.hasOwn(value, key)) doubt();
    reading.words += 3;
    value[key] = readValue(reading, line, depth);
  }
  if (reading.line !== undefined && reading.line.indent >= indent) doubt();
  return value;
}

function readValue(reading: Reading, line: PlainLine, depth: number): Json {
  const { text, indent, to, colon } = line;
  if (colon + 1 === to) {
    advance(reading);
    const below = reading.line;
    if (below === undefined || below.indent < indent) return null;
    if (below.indent > indent) return readBlock(reading, below, depth + 1);
    return isMember(below) ? readList(reading, indent, depth + 1) : null;
  }
  let from = colon + 1;
  while (text.charCodeAt(from) === SPACE) from += 1;
  reading.words += 1;
  return readInline(reading, line, { from, to });
}

/** A value that ends on its line: nothing below may belong to it. */
function readInline(
  reading: Reading,
  line: PlainLine,
  { from, to }: { readonly from: number; readonly to: number },
): Json {
  const scalar = readScalar(line.text, from, to);
  if (scalar === undefined) return doubt();
  reading.words += scalar.words;
  advance(reading);
  if (reading.line !== undefined && reading.line.indent > line.indent) doubt();
  return scalar.value;
}

/** What a value begins with in which a colon ends no key of the line. */
const BRACKETS_OR_QUOTES = '[{"\'';

function readList(reading: Reading, indent: number, depth: number): Json {
  if (depth > MOST_DEPTH) doubt();
  const members: Json[] = [];
  while (reading.line?.indent === indent && isMember(reading.line)) {
    const { line } = reading;
    const from = line.from + 2;
    if (from >= line.to || line.text.charCodeAt(from) === SPACE || line.text.charCodeAt(from) === DASH) doubt();
    reading.words += 2;
    if (line.colon >= 0 && !BRACKETS_OR_QUOTES.includes(line.text.charAt(from))) {
      reading.line = { ...line, indent: indent + 2, from };
      members.push(readMapping(reading, indent + 2, depth + 1));
    } else members.push(readInline(reading, line, { from, to: line.to }));
  }
  if (reading.line !== undefined && reading.line.indent > indent) doubt();
  return members;
}
