import { assertNever } from '../../model/errors.ts';
import type { FieldLine, FieldView } from '../view/field-view.ts';
import { type Html, html } from './node.ts';

/** A table of fields: what was, and what will be. Nothing when there are none. */
export function renderFields(caption: string, fields: readonly FieldView[]): Html | undefined {
  if (fields.length === 0) return undefined;
  return html`<table class="fields" aria-label="${caption}">
${fields.map(renderField)}</table>
`;
}

function renderField({ path, notes, forcesReplace, inline, lines }: FieldView): Html {
  const remarks = notes.map((note) => html` <span class="remark">${note}</span>`);
  const value = inline === undefined ? renderLines(lines) : renderInline(inline);
  return html`<tr${forcesReplace ? html` class="forces"` : ''}><th scope="row">${path}${remarks}</th><td>${value}</td></tr>
`;
}

function renderInline({ from, to }: NonNullable<FieldView['inline']>): Html {
  const before = from === undefined ? undefined : html`<del>${from}</del>`;
  const after = to === undefined ? undefined : html`<ins>${to}</ins>`;
  const arrow = before === undefined || after === undefined ? '' : html` <span class="arrow">→</span> `;
  return html`${before}${arrow}${after}`;
}

function renderLines(lines: readonly FieldLine[]): Html {
  return html`<div class="lines">${lines.map(renderLine)}</div>`;
}

function renderLine({ role, text }: FieldLine): Html {
  switch (role) {
    case 'added':
      return html`<ins>+ ${text}</ins>`;
    case 'removed':
      return html`<del>- ${text}</del>`;
    case 'same':
      return html`<span>  ${text}</span>`;
    case 'folded':
      return html`<i>… ${text}</i>`;
    default:
      return assertNever(role);
  }
}
