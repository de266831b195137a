/** A line of a plain document. Without content it says nothing: it is empty, or a comment. */
export interface PlainLine {
  readonly text: string;
  /** Columns before the content. */
  readonly indent: number;
  /** Where the content starts, and where it ends, without a comment. */
  readonly from: number;
  readonly to: number;
  /** The first colon that ends a key; -1: there is none. */
  readonly colon: number;
  /** Where the next line starts. */
  readonly next: number;
  /** The words around the content, as the parser of YAML counts them: indentation, comment, end of line. */
  readonly words: number;
}

const LINE_END = 0x0a;
const SPACE = 0x20;
const DOUBLE_QUOTE = 0x22;
const HASH = 0x23;
const DOLLAR = 0x24;
const PERCENT = 0x25;
const SINGLE_QUOTE = 0x27;
const COLON = 0x3a;

/** The line that starts there; `undefined`: it may mean something that plain documents have not. */
export function readLine(text: string, start: number): PlainLine | undefined {
  let from = start;
  while (text.charCodeAt(from) === SPACE) from += 1;
  const first = text.charCodeAt(from);
  if (first === PERCENT) return undefined;
  const found = scan(text, from);
  if (found === undefined) return undefined;
  const { end, hash, colon } = found;
  const words = (from > start ? 1 : 0) + (end < text.length ? 1 : 0) + (hash < 0 ? 0 : hash === from ? 1 : 2);
  const line = { text, indent: from - start, from, to: end, colon, next: Math.min(end + 1, text.length), words };
  if (hash >= 0) return { ...line, to: trimEnd(text, from, hash) };
  // Spaces at the end of a line may or may not belong to what is on it.
  return end > start && text.charCodeAt(end - 1) === SPACE ? undefined : line;
}

interface Scanned {
  /** Where the line ends. */
  readonly end: number;
  /** Where its comment starts; -1: it has none. */
  readonly hash: number;
  readonly colon: number;
}

function scan(text: string, from: number): Scanned | undefined {
  let [at, hash, colon] = [from, -1, -1];
  let isQuoted = false;
  for (; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char === LINE_END) break;
    if (!isPlainChar(char)) return undefined;
    if (hash >= 0) continue;
    if (char === COLON && colon < 0 && isBreak(text.charCodeAt(at + 1))) colon = at;
    else if (char === DOUBLE_QUOTE || char === SINGLE_QUOTE) isQuoted = true;
    else if (char === HASH && (at === from || text.charCodeAt(at - 1) === SPACE)) {
      // It may stand inside of the quotes.
      if (isQuoted) return undefined;
      hash = at;
    }
  }
  return { end: at, hash, colon };
}

/** What ends a key after its colon: a space, or the end of the line or of the text. */
function isBreak(char: number): boolean {
  return char === SPACE || char === LINE_END || Number.isNaN(char);
}

/** Characters that stand for themselves. `$` may begin a variable, and of other scripts only letters and signs are sure to be no spaces. */
function isPlainChar(char: number): boolean {
  if (char < 0x7f) return char >= SPACE && char !== DOLLAR;
  return (char > 0xa0 && char < 0x1680) || (char > 0x3000 && char < 0xd800);
}

function trimEnd(text: string, from: number, to: number): number {
  let end = to;
  while (end > from && text.charCodeAt(end - 1) === SPACE) end -= 1;
  return end;
}
