import { toPrintable } from '../../model/printable.ts';

/**
 * Text from the API or a manifest is untrusted. All output of such text passes `toPrintable`, mostly through one of
 * these functions, so that it cannot move the cursor, hide or reorder text, or start a line that looks like Edgewise's
 * own.
 */

/** The text as a printable JSON string, so that `"\\n"` (backslash and n) differs from `"\n"` (line break). */
export function quoteText(text: string): string {
  return toPrintable(JSON.stringify(text));
}

/** Returns a single word, such as a name or an id, as it is; any other text in double quotes. */
export function quoteIfNeeded(text: string): string {
  return WORD.test(text) ? text : quoteText(text);
}

export function toPrintableLines(text: string): readonly string[] {
  return text.split('\n').map(toPrintable);
}

const WORD = /^[\w*./:~][\w*./:@=+-]*$/;

/** The width of text on a terminal. The functions below expect printable text without colour. */

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/gu;
const MARK = /\p{Mark}/gu;
const ASCII = /^[\x20-\x7e]*$/;

/** The number of terminal columns of a text. Combining marks take none, and wide characters take two. */
export function countColumns(text: string): number {
  if (ASCII.test(text)) return text.length;
  return Array.from(text.replace(MARK, '').replace(WIDE, '??')).length;
}

/** Cuts a text to fit the columns and ends it with `…`. 0 columns means no limit. */
export function clipToColumns(text: string, columns: number): string {
  if (columns === 0 || countColumns(text) <= columns) return text;
  let clipped = '';
  for (const character of text) {
    if (countColumns(clipped + character) > columns - 1) break;
    clipped += character;
  }
  return `${clipped}…`;
}
