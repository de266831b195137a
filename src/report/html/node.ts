import { toPrintable } from '../../model/printable.ts';

/** A piece of an HTML document. Only `html` creates one, from Edgewise's own markup and from escaped text. */
export interface Html {
  readonly source: string;
}

type HtmlValue = string | number | Html | undefined | readonly HtmlValue[];

/**
 * Creates a piece of HTML or SVG from a template. Text values are made printable, put on one line, and escaped for the
 * two allowed positions: between tags, and within a double-quoted attribute. Never put text from outside into a script
 * or a style.
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

/** A number with its label. `look`: the CSS class that sets its colour. */
interface Count {
  readonly look: string;
  readonly label: string;
  readonly number: number;
}

/** The row of counts at the top of a page. `label`: its accessible name. */
export function renderCounts(label: string, counts: readonly Count[]): Html {
  return html`<ul class="counts" aria-label="${label}">
${counts.map(({ look, label: name, number }) => html`<li class="${look}${number === 0 ? ' zero' : ''}"><strong>${number}</strong><span>${name}</span></li>\n`)}</ul>
`;
}

/** A section with a list of sentences. Undefined if there are no sentences. */
export function renderListSection(anchor: string, heading: string, sentences: readonly string[]): Html | undefined {
  if (sentences.length === 0) return undefined;
  return html`<section aria-labelledby="${anchor}"><h2 id="${anchor}">${heading}</h2>
<ul class="list">${sentences.map((sentence) => html`<li>${sentence}</li>\n`)}</ul></section>
`;
}
