import { toPrintable } from '../../model/printable.ts';

/** A piece of a document. Only `html` makes one, of our own source and of texts that cannot be anything but text. */
export interface Html {
  readonly source: string;
}

/** What may stand in a piece: text, other pieces, or nothing. */
type HtmlValue = string | number | Html | undefined | readonly HtmlValue[];

/**
 * A piece of HTML or SVG from a template. A text in it is on one line, printable and escaped for its only two positions: between tags, and in the double
 * quotes of an attribute. Text from outside must never be in a script or a style.
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

/** A number with its name, and the class of its colour. */
interface Count {
  readonly look: string;
  readonly label: string;
  readonly number: number;
}

/** The numbers that a page begins with. */
export function renderCounts(label: string, counts: readonly Count[]): Html {
  return html`<ul class="counts" aria-label="${label}">
${counts.map(({ look, label: name, number }) => html`<li class="${look}${number === 0 ? ' zero' : ''}"><strong>${number}</strong><span>${name}</span></li>\n`)}</ul>
`;
}

/** Sentences below a heading; nothing when there are none. */
export function renderList(anchor: string, heading: string, sentences: readonly string[]): Html | undefined {
  if (sentences.length === 0) return undefined;
  return html`<section aria-labelledby="${anchor}"><h2 id="${anchor}">${heading}</h2>
<ul class="list">${sentences.map((sentence) => html`<li>${sentence}</li>\n`)}</ul></section>
`;
}
