import { type Html, html } from './node.ts';

/** A number with its name, and the class of its colour. */
export interface Count {
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
