import { toPrintable } from '../../model/printable.ts';

/** A piece of a document. Only `html` makes one, of our own source and of texts that cannot be anything but text. */
export interface Html {
  readonly source: string;
}

/** What may stand in a piece: text, other pieces, or nothing. */
export type HtmlValue = string | number | Html | undefined | readonly HtmlValue[];

/**
 * A piece of HTML or SVG from a template. A text in it is on one line, printable and escaped, whether it stands between tags or in the double
 * quotes of an attribute: those are the only places for it. Nothing from outside may stand in a script or a style.
 */
export function html(template: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return { source: template.map((own, index) => own + toSource(values[index])).join('') };
}

function toSource(value: HtmlValue): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return toEscaped(value);
  return 'source' in value ? value.source : value.map(toSource).join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function toEscaped(text: string): string {
  return toPrintable(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
