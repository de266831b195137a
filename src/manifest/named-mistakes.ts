import { isCollection, isMap, isScalar, type Node, type YAMLError } from 'yaml';
import type { SyntaxFinding } from '../model/finding.ts';

/**
 * Mistakes that make a text into other YAML than its author meant, often valid YAML. The error of the parser, or a missing
 * `apiVersion`, would not name them.
 */

/** Whether a document may have such a mistake although it can be parsed: it is no mapping, or a key is no plain name. */
export function mayHideMistake(root: Node | null): boolean {
  if (!isMap(root)) return root !== null;
  return root.items.some(({ key }) => isScalar(key) && /^[^\w"'<$]/.test(String(key.value)));
}

interface SearchedDocument {
  readonly start: number;
  readonly end: number;
  /** The first error of the parser. */
  readonly error: YAMLError | undefined;
  readonly root: Node | null;
}

/** Returns the mistake in a document that cannot be parsed, or that `mayHideMistake`. */
export function findNamedMistake(text: string, document: SearchedDocument): SyntaxFinding | undefined {
  const { start, end, error } = document;
  const part = text.slice(start, Math.max(end, error?.pos[1] ?? 0));
  const found = NAMED.map((one) => ({ ...one, at: one.find(part, { ...document, text }) })).find(({ at }) => at >= 0);
  if (found === undefined) return undefined;
  const { at, length, message, remedy } = found;
  return { code: 'yaml-syntax', message, remedy, range: { start: start + at, end: start + at + length } };
}

interface NamedMistake {
  readonly message: string;
  readonly remedy: string;
  /** The number of characters to mark. */
  readonly length: number;
  /** Returns the offset in the text of the document. -1: the document has no such mistake. */
  readonly find: (part: string, document: SearchedDocument & { readonly text: string }) => number;
}

/** A line that only a merge conflict has, and any of its three markers. */
const CONFLICT = /^(?:<{7}|>{7})(?=[ \r\n]|$)/m;
const CONFLICT_MARKER = /^(?:<{7}|>{7})(?=[ \r\n]|$)|^={7}(?=\r?$)/m;

const NAMED: readonly NamedMistake[] = [
  {
    message: 'this is a marker of a merge conflict',
    remedy: 'Keep one of the two sides, and remove the lines that start with <<<<<<<, ======= and >>>>>>>.',
    length: 7,
    find: (part, { text }) => (CONFLICT.test(text) ? part.search(CONFLICT_MARKER) : -1),
  },
  {
    message: 'this is a byte-order mark, which only the start of a file may have',
    remedy: 'Remove it: each of the files that were joined had one at its start.',
    length: 1,
    find: (part) => part.search(/^\uFEFF/m),
  },
  {
    message: 'JSON has no comments',
    remedy: 'Remove it. Or write a YAML file, in which `#` starts a comment.',
    length: 2,
    find: (part) => (startsAsJson(part) ? part.search(/(?<=^|[\s,{[])\/[/*]/) : -1),
  },
  {
    message: 'this is a second JSON document',
    remedy: 'Put a line `---` before it, or write the documents as the items of a List.',
    length: 1,
    find: findSecondJson,
  },
  {
    message: 'this line is indented as if it belonged to the line above, which has a value already',
    remedy: 'Indent it like the line above. Or, if it belongs to the line above, remove the value there.',
    length: 1,
    find: findDeeperLine,
  },
  {
    message: 'this line has no colon, and what is below it is indented as its value',
    remedy: 'End it with a colon. Or, if it is text of the line above, indent it more than that line.',
    length: 1,
    find: (part, { start, error }) =>
      error?.code === 'MULTILINE_IMPLICIT_KEY' && /^[\w.-]+[ \t]*\r?\n[ \t]+\S/.test(part.slice(error.pos[0] - start))
        ? error.pos[0] - start
        : -1,
  },
];

/** Finds a key that is indented more than the line above it, which is a key with a value on one line. */
function findDeeperLine(part: string, { start, error }: SearchedDocument): number {
  if (error?.code !== 'BLOCK_AS_IMPLICIT_KEY') return -1;
  const at = error.pos[0] - start;
  const [above = ''] = /[^\n]*$/.exec(part.slice(0, at)) ?? [];
  const below = /^[^\n:]*\r?\n([ \t]*)(?=["']?[\w./-]+["']?[ \t]*:(?:\s|$))/.exec(part.slice(at));
  const [lines = '', indent = ''] = below ?? [];
  return below !== null && indent.length > above.search(/\S|$/) ? at + lines.length : -1;
}

/** Whether a document starts as JSON, perhaps after comments. */
function startsAsJson(part: string): boolean {
  let rest = part.trimStart();
  while (rest.startsWith('//') || rest.startsWith('/*')) {
    const end = rest.startsWith('//') ? rest.indexOf('\n') : rest.indexOf('*/') + 1;
    if (end <= 0) return false;
    rest = rest.slice(end + 1).trimStart();
  }
  return rest.startsWith('{') || rest.startsWith('[');
}

function findSecondJson(
  part: string,
  { text, start, error, root }: SearchedDocument & { readonly text: string },
): number {
  if (error === undefined || !startsAsJson(part)) return -1;
  const [at] = error.pos;
  const isAfterFirst = isCollection(root) && root.flow === true && at >= (root.range?.[1] ?? at + 1);
  if (isAfterFirst && /[{[]/.test(text.charAt(at))) return at - start;
  return error.code === 'NON_STRING_KEY' ? part.search(/(?<=\}[ \t]*)\{/) : -1;
}
