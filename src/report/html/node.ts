import { toPrintable } from '../../model/printable.ts';

/** A piece of a document. Only `html` creates one, from our own source and from escaped texts. */
export interface Html {
  readonly source: string;
}

/** Values in a template: text, other pieces, or nothing. */
type HtmlValue = string | number | Html | undefined | readonly HtmlValue[];

/**
 * Creates a piece of HTML or SVG from a template. Texts become printable, on one line, and escaped for the two
 * positions where they may be: between tags, and in the double quotes of an attribute. Text from outside must never be
 * in a script or a style.
 */
export function html(template: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return { source: template.map((own, index) => own + renderSource(values[index])).join('') };
}

function renderSource(value: HtmlValue): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return escapeHtml(value);
  return 'source' in value ? value.source : value.map(renderSource).join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return toPrintable(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** A number, its label, and the class of its colour. */
interface Count {
  readonly look: string;
  readonly label: string;
  readonly number: number;
}

/** The row of numbers at the top of a page. */
export function renderCounts(label: string, counts: readonly Count[]): Html {
  return html`<ul class="counts" aria-label="${label}">
${counts.map(({ look, label: name, number }) => html`<li class="${look}${number === 0 ? ' zero' : ''}"><strong>${number}</strong><span>${name}</span></li>\n`)}</ul>
`;
}

/** Sentences below a heading; undefined if there are none. */
export function renderList(anchor: string, heading: string, sentences: readonly string[]): Html | undefined {
  if (sentences.length === 0) return undefined;
  return html`<section aria-labelledby="${anchor}"><h2 id="${anchor}">${heading}</h2>
<ul class="list">${sentences.map((sentence) => html`<li>${sentence}</li>\n`)}</ul></section>
`;
}
