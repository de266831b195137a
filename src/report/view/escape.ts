import { toPrintable } from '../../model/printable.ts';

/**
 * Text that came from the API or a manifest is untrusted. What is printed of it goes through `toPrintable`, mostly by one of
 * these, so that nobody can move the cursor, hide or reorder text, or start a line that looks like ours.
 */

/** The text in double quotes: a JSON string that is printable, so that one can tell `"\\n"` from `"\n"`. */
export function toQuoted(text: string): string {
  return toPrintable(JSON.stringify(text));
}

/** A name, id or other word as it is when it cannot be taken for anything else, else in double quotes. */
export function toWord(text: string): string {
  return WORD.test(text) ? text : toQuoted(text);
}

/** The lines of a text of several, each printable. */
export function toPrintableLines(text: string): readonly string[] {
  return text.split('\n').map(toPrintable);
}

const WORD = /^[\w*./:~][\w*./:@=+-]*$/;
