import type { TextPart } from '../model/diagnostic.ts';

/** Where an expression names something first, and not as a part of another name. */
export function findNamePart(text: string, name: string): TextPart | undefined {
  for (let start = text.indexOf(name); start >= 0; start = text.indexOf(name, start + 1)) {
    const isInside = /[\w.]/.test(text.charAt(start - 1)) || /\w/.test(text.charAt(start + name.length));
    if (!isInside) return { of: text, start, length: name.length };
  }
  return undefined;
}
