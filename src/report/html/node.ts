import { toPrintable } from '../../model/printable.ts';
import type { PlaceLink, Text } from '../document.ts';

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
  if (typeof value === 'string') return escapeHtmlText(value);
  return 'source' in value ? value.source : value.map(renderSource).join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtmlText(text: string): string {
  return toPrintable(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** A text with its styles and links. */
export function renderHtmlText(text: Text): Html {
  if (typeof text === 'string') return renderHtmlProse(text);
  return html`${text.map((span) => {
    if (typeof span === 'string') return span;
    const isCode = span.style !== undefined && span.style !== 'strong';
    const shown = isCode ? html`<code>${span.text}</code>` : html`${span.text}`;
    const strong = span.style === 'strong' ? html`<strong>${shown}</strong>` : shown;
    return span.page === undefined ? strong : html`<a href="${span.page}">${strong}</a>`;
  })}`;
}

/** A sentence in which what stands between backticks is code. */
export function renderHtmlProse(text: string): Html {
  return html`${text.split(/`([^`\n]+)`/).map((part, index) => (index % 2 === 0 ? html`${part}` : html`<code>${part}</code>`))}`;
}

/** A position in a manifest. A link if its page is known. */
export function renderHtmlPlace({ label, page }: PlaceLink): Html {
  return renderHtmlText([{ text: label, style: 'code', page }]);
}
