/** Control and format characters (C0, C1, bidi, zero-width), line and paragraph separators, lone surrogates, invisible fillers, noncharacters. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/gu;
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** The text on one line, each unprintable character escaped as JSON would: `\n`, `\u001b`, `\u202e`. Idempotent. */
export function toPrintable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => SHORT[character] ?? toEscape(character));
}

/** One escape for each UTF-16 unit, so that it means the same inside of a JSON text. */
function toEscape(character: string): string {
  return Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('');
}
