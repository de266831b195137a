import type { FieldView } from './field-view.ts';

/** Characters of a value on one line; more would make a table that nobody reads. */
const MAX_SIDE = 60;

/** A field on one line: `hostports: a → b`. What does not fit is cut, and stands in full elsewhere. */
export function toBrief({ path, inline, lines }: FieldView): string {
  const listed = (role: 'added' | 'removed'): string | undefined => {
    const texts = lines.filter((line) => line.role === role).map(({ text }) => text.trim().replace(/^(?:• )+/, ''));
    return texts.length === 0 ? undefined : toList(texts);
  };
  const { from, to } = inline ?? { from: listed('removed'), to: listed('added') };
  const sides = [from, to].map((side) => (side === undefined ? undefined : toCut(side)));
  return `${path}: ${toSides(sides[0], sides[1])}`;
}

/** What a line introduces follows it. */
function toList(texts: readonly string[]): string {
  return texts
    .map((text, index) => `${index === 0 ? '' : texts[index - 1]?.endsWith(':') ? ' ' : ', '}${text}`)
    .join('');
}

function toSides(from: string | undefined, to: string | undefined): string {
  if (from === undefined) return to === undefined ? '…' : `+ ${to}`;
  return to === undefined ? `- ${from}` : `${from} → ${to}`;
}

function toCut(text: string): string {
  return text.length <= MAX_SIDE ? text : `${text.slice(0, MAX_SIDE).replace(/[\ud800-\udbff]$/, '')}…`;
}
