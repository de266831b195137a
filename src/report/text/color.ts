import { type InspectColor, styleText } from 'node:util';

/** What a piece of text means to the reader; how it looks is decided here alone. */
export type Style = 'added' | 'removed' | 'changed' | 'replaced' | 'muted' | 'warning' | 'error' | 'strong';

/** Gives a text the look of a style. */
export type Paint = (style: Style, text: string) => string;

const LOOKS = {
  added: ['green'],
  removed: ['red'],
  changed: ['yellow'],
  replaced: ['magenta'],
  muted: ['dim'],
  warning: ['bold', 'yellow'],
  error: ['bold', 'red'],
  strong: ['bold'],
} as const satisfies Record<Style, readonly InspectColor[]>;

/** The painter for a text with or without colour. Never asks the environment: whoever calls has decided. */
export function toPaint(color: boolean): Paint {
  if (!color) return (_, text) => text;
  return (style, text) => (text === '' ? '' : styleText(LOOKS[style], text, { validateStream: false }));
}
