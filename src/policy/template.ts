/** A part of a template: text as it is, or an expression and where it starts. */
export type TemplatePart = { readonly text: string } | { readonly expression: string; readonly start: number };

/** What is wrong with a template, and where. */
export interface TemplateFault {
  readonly message: string;
  readonly start: number;
}

/** Splits a text at its `${…}`. Braces and quotes of an expression belong to it. */
export function parseTemplate(text: string): readonly TemplatePart[] | { readonly fault: TemplateFault } {
  const parts: TemplatePart[] = [];
  let from = 0;
  for (let at = text.indexOf(OPEN); at >= 0; at = text.indexOf(OPEN, from)) {
    const start = at + OPEN.length;
    const end = findEnd(text, start);
    if (end === undefined) return { fault: { message: `has a \`${OPEN}\` that no \`}\` closes`, start: at } };
    if (text.slice(start, end).trim() === '')
      return { fault: { message: `has a \`${OPEN}}\` with nothing in it`, start: at } };
    parts.push({ text: text.slice(from, at) }, { expression: text.slice(start, end), start });
    from = end + 1;
  }
  return [...parts, { text: text.slice(from) }];
}

const OPEN = '${';

/** The brace that closes an expression. */
function findEnd(text: string, start: number): number | undefined {
  let [depth, quote] = [1, ''];
  for (let at = start; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (quote !== '') {
      if (character === '\\') at += 1;
      else if (character === quote) quote = '';
    } else if (character === '"' || character === "'") quote = character;
    else if (character === '{') depth += 1;
    else if (character === '}') depth -= 1;
    if (depth === 0) return at;
  }
  return undefined;
}
