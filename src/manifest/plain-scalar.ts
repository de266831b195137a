import type { Json } from '../model/json.ts';

/** A value that stands on one line, and its words as the parser of YAML counts them. */
export interface PlainValue {
  readonly value: Json;
  readonly words: number;
}

/** The value between two places of a line; `undefined`: it may be something else than it looks like. */
export function readScalar(text: string, from: number, to: number): PlainValue | undefined {
  const first = text.charAt(from);
  if (first === '"' || first === "'") return readQuoted(text, from, to);
  if (first === '[' || first === '{') return readFlow(text, from, to);
  if (!FIRST.test(first) || text.charAt(to - 1) === ':') return undefined;
  const colon = text.indexOf(': ', from);
  if (colon >= 0 && colon < to) return undefined;
  return resolve(text.slice(from, to));
}

/** What a text without quotes may begin with: nothing that means something else there. */
const FIRST = /^[A-Za-z0-9_./(^+=<\u00a1-\uffff]/;

/** What begins like a number or a word of YAML. */
const SUSPECT = /^[-+.0-9nNtTfF~]/;

/** Whole numbers as everybody writes them. */
const NUMBER = /^(?:0|[1-9][0-9]{0,14})$/;

/** Texts that the core schema of YAML 1.2 takes for numbers, and those that it takes for no text. Source: its section 10.3.2. */
const OTHER =
  /^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+|[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.nan|\.NaN|\.NAN|~|[Nn]ull|NULL|TRUE|FALSE|True|False)$/;

function resolve(word: string): PlainValue | undefined {
  if (!SUSPECT.test(word)) return { value: word, words: 2 };
  if (NUMBER.test(word)) return { value: Number(word), words: 2 };
  if (word === 'true' || word === 'false') return { value: word === 'true', words: 2 };
  return OTHER.test(word) ? undefined : { value: word, words: 2 };
}

/** Text in quotes, without escapes. */
function readQuoted(text: string, from: number, to: number): PlainValue | undefined {
  const end = text.indexOf(text.charAt(from), from + 1);
  if (end !== to - 1) return undefined;
  const value = text.slice(from + 1, end);
  return value.includes('\\') ? undefined : { value, words: 1 };
}

/** A list or a mapping on one line, in brackets. */
function readFlow(text: string, from: number, to: number): PlainValue | undefined {
  const reading: Flow = { text, at: from, to, words: 0 };
  const value = readFlowValue(reading, 0);
  return value === undefined || reading.at !== to ? undefined : { value, words: reading.words };
}

interface Flow {
  readonly text: string;
  readonly to: number;
  at: number;
  words: number;
}

/** No value on one line is nested as deeply. */
const MOST_DEPTH = 10;

function readFlowValue(flow: Flow, depth: number): Json | undefined {
  const first = flow.text.charAt(flow.at);
  if (depth > MOST_DEPTH) return undefined;
  if (first === '[') return readFlowList(flow, depth + 1);
  if (first === '{') return readFlowMap(flow, depth + 1);
  if (first === '"' || first === "'") return readFlowQuoted(flow);
  const [word] = match(WORD, flow);
  const resolved = word === undefined ? undefined : resolve(word);
  if (resolved === undefined) return undefined;
  flow.words += resolved.words;
  return resolved.value;
}

/** A word in brackets. Behind a colon the next character tells that it ends no key. */
const WORD = /[A-Za-z0-9_/](?:[A-Za-z0-9_./@=+-]|:(?=[A-Za-z0-9/]))*(?=[ ,\]}])/y;

/** A key in brackets, with its colon and a space. */
const KEY = /([A-Za-z0-9_][A-Za-z0-9_./-]{0,200}): +/y;

const SPACES = / +/y;

function match(pattern: RegExp, flow: Flow): readonly (string | undefined)[] {
  pattern.lastIndex = flow.at;
  const found = pattern.exec(flow.text);
  if (found === null || pattern.lastIndex > flow.to) return [];
  flow.at = pattern.lastIndex;
  return found;
}

function skipSpaces(flow: Flow): void {
  if (match(SPACES, flow).length > 0) flow.words += 1;
}

function readFlowQuoted(flow: Flow): string | undefined {
  const { text, at, to } = flow;
  const end = text.indexOf(text.charAt(at), at + 1);
  if (end < 0 || end >= to || !/[ ,\]}]/.test(text.charAt(end + 1))) return undefined;
  const value = text.slice(at + 1, end);
  if (value.includes('\\')) return undefined;
  flow.at = end + 1;
  flow.words += 1;
  return value;
}

/** What stands in the brackets, up to the closing one; false: there is something else. */
function readMembers(flow: Flow, close: string, readMember: () => boolean): boolean {
  skipSign(flow);
  skipSpaces(flow);
  if (flow.text.charAt(flow.at) === close) return skipSign(flow);
  while (readMember()) {
    skipSpaces(flow);
    const sign = flow.text.charAt(flow.at);
    skipSign(flow);
    if (sign !== ',') return sign === close;
    skipSpaces(flow);
  }
  return false;
}

function skipSign(flow: Flow): true {
  flow.at += 1;
  flow.words += 1;
  return true;
}

function readFlowList(flow: Flow, depth: number): Json | undefined {
  const members: Json[] = [];
  const isWhole = readMembers(flow, ']', () => {
    const value = readFlowValue(flow, depth);
    if (value !== undefined) members.push(value);
    return value !== undefined;
  });
  return isWhole ? members : undefined;
}

function readFlowMap(flow: Flow, depth: number): Json | undefined {
  const value: Record<string, Json> = {};
  const isWhole = readMembers(flow, '}', () => {
    const [, key] = match(KEY, flow);
    if (key === undefined || key === '__proto__' || Object.hasOwn(value, key)) return false;
    flow.words += 4;
    const member = readFlowValue(flow, depth);
    if (member === undefined) return false;
    value[key] = member;
    return true;
  });
  return isWhole ? value : undefined;
}

/** Whether a text is a key as plain documents have them: it means itself wherever it stands. */
export function isPlainKey(text: string, from: number, to: number): boolean {
  PLAIN_KEY.lastIndex = from;
  return PLAIN_KEY.test(text) && PLAIN_KEY.lastIndex === to;
}

const PLAIN_KEY = /[A-Za-z0-9_][A-Za-z0-9_./-]{0,200}/y;
