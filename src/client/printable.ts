import { toPrintable } from '../model/printable.ts';
import type { Strike } from './strike-key.ts';

const EXCERPT_LENGTH = 200;
/** Well above what is shown: the key is struck out before the text is cut, so that no half of it remains. */
const CONSIDERED_LENGTH = 65_536;

/** Text of the service on one line, with what a terminal would obey or hide written out. */
export function toOneLine(text: string): string {
  return toPrintable(text.replace(/\s+/g, ' ').trim());
}

/** The first characters of a body that is not what it should be, fit to be shown. */
export function toExcerpt(body: string, strike: Strike): string {
  const text = toOneLine(strike(body.slice(0, CONSIDERED_LENGTH)));
  return text.length > EXCERPT_LENGTH ? `${text.slice(0, EXCERPT_LENGTH)}…` : text;
}
