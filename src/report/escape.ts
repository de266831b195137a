/**
 * Text that came from the API or a manifest is untrusted. What is printed of it goes through here, so that nobody can move
 * the cursor, hide or reorder text, or start a line that looks like ours. Idempotent: printable text is left as it is.
 */

/** Control and format characters (C0, C1, bidi, zero-width), line and paragraph separators, lone surrogates, invisible fillers. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** The text on one line, each unprintable character escaped as JSON would: `\n`, `\u001b`, `\u202e`. */
export function toPrintable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => SHORT[character] ?? toEscape(character));
}

/** The text in double quotes: a JSON string that is printable, so that one can tell `"\\n"` from `"\n"`. */
export function toQuoted(text: string): string {
  return toPrintable(JSON.stringify(text));
}

/** A name, id or other word as it is when it can't be taken for anything else, else in double quotes. */
export function toWord(text: string): string {
  return WORD.test(text) ? text : toQuoted(text);
}

/** The lines of a text of several, each printable. */
export function toPrintableLines(text: string): readonly string[] {
  return text.split('\n').map(toPrintable);
}

const WORD = /^[\w*./:][\w*./:@=+-]*$/;

/** One escape for each UTF-16 unit, so that it means the same inside of a JSON text. */
function toEscape(character: string): string {
  return Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('');
}
