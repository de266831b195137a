import type { FieldView } from './field-view.ts';

/** A field on one line: `hostports: a → b`. Of each value no more than `room` characters: the whole stands elsewhere. */
export function toBrief({ path, inline, lines }: FieldView, room: number): string {
  const listed = (role: 'added' | 'removed'): string | undefined => {
    const texts = lines.filter((line) => line.role === role).map(({ text }) => text.trim().replace(/^(?:• )+/, ''));
    return texts.length === 0 ? undefined : toList(texts);
  };
  const { from, to } = inline ?? { from: listed('removed'), to: listed('added') };
  const sides = [from, to].map((side) => (side === undefined ? undefined : toCut(side, room)));
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

/** Of an id that has a name beside it, the name says more than the first half of the id. */
function toCut(text: string, room: number): string {
  if (text.length <= room) return text;
  const named = text.replace(NAMED_ID, '$1');
  return named.length <= room ? named : `${named.slice(0, room).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** `ipp_2k9… (External/office)`. */
const NAMED_ID = /\b[a-z]+_\w+ \(([A-Z]\w*\/[\w.-]+)\)/g;
