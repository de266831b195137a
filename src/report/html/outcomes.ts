import type { AppliedView, ApplyView, FailedView, FileView, SkippedView } from '../view/apply-view.ts';
import { RESULT_HEADINGS } from '../view/apply-wording.ts';
import { toCount } from '../view/wording.ts';
import { renderCounts } from './counts.ts';
import { renderPlace } from './diagnostics.ts';
import { type Html, html } from './node.ts';

/** How many writes ended in which way. */
export function renderOutcomeCounts({ totals }: Pick<ApplyView, 'totals'>): Html {
  return renderCounts('Writes by outcome', [
    { look: 'failed', label: 'failed', number: totals.failed },
    { look: 'skipped', label: 'skipped', number: totals.skipped },
    { look: 'applied', label: 'applied', number: totals.applied },
  ]);
}

/** What to do next, and what did not go as planned. Nothing when all did. */
export function renderTrouble({ failed, skipped, notStarted, next }: ApplyView): readonly (Html | undefined)[] {
  return [
    failed.length === 0 ? undefined : renderSection('failed', failed.map(renderFailed)),
    next.length === 0 ? undefined : renderSteps(next),
    skipped.length === 0 && notStarted === undefined
      ? undefined
      : renderSection('skipped', [...skipped.map(renderSkipped), ...renderNotStarted(notStarted)]),
  ];
}

/** What was done: writes, tokens, files. */
export function renderDone({ applied, tokens, files }: ApplyView): readonly (Html | undefined)[] {
  return [
    renderSentences('tokens', tokens.map(renderToken)),
    renderSentences('files', files.map(renderFile)),
    applied.length === 0 ? undefined : renderApplied(applied),
  ];
}

type Part = keyof typeof RESULT_HEADINGS;

function renderSection(part: Part, messages: readonly Html[]): Html {
  return html`<section aria-labelledby="${part}"><h2 id="${part}">${RESULT_HEADINGS[part]}</h2>
${messages}</section>
`;
}

function renderFailed({ name, request, sentences, place }: FailedView): Html {
  const where = request === undefined ? '' : html`<p class="where"><code>${request}</code></p>\n`;
  return html`<article class="message error"><p class="headline"><span class="label">failed</span> ${name}</p>
${where}${sentences.map((sentence) => html`<p>${sentence}</p>\n`)}${renderPlace(place)}</article>
`;
}

function renderSkipped({ name, reasons }: SkippedView): Html {
  return html`<article class="message warning"><p class="headline"><span class="label">skipped</span> ${name}</p>
${reasons.map((reason) => html`<p class="where">${reason}</p>\n`)}</article>
`;
}

function renderNotStarted(sentence: string | undefined): readonly Html[] {
  return sentence === undefined ? [] : [html`<p class="note">${sentence}</p>\n`];
}

function renderSteps(steps: readonly string[]): Html {
  return html`<section aria-labelledby="next"><h2 id="next">${RESULT_HEADINGS.next}</h2>
<ul class="list">${steps.map((step) => html`<li>${step}</li>\n`)}</ul></section>
`;
}

function renderSentences(part: Part, sentences: readonly Html[]): Html | undefined {
  if (sentences.length === 0) return undefined;
  return html`<section aria-labelledby="${part}"><h2 id="${part}">${RESULT_HEADINGS[part]}</h2>
<ul class="list">${sentences.map((sentence) => html`<li>${sentence}</li>\n`)}</ul></section>
`;
}

function renderToken({ address, place, rescued }: ApplyView['tokens'][number]): Html {
  return html`<code>${address}</code>: ${rescued ? html`<strong>rescued</strong> to ` : ''}${place}`;
}

function renderFile({ address, path, outcome, message = '' }: FileView): Html {
  const end = outcome === 'applied' ? '' : html` <strong>${outcome}</strong>: ${message}`;
  return html`<code>${path}</code> of <code>${address}</code>${end}`;
}

function renderApplied(applied: readonly AppliedView[]): Html {
  const rows = applied.map(
    ({ name, id = '', remark = '' }) =>
      html`<tr><th scope="row"><code>${name}</code></th><td><code>${id}</code></td><td>${remark}</td></tr>\n`,
  );
  return html`<details class="requests" open><summary><h2>${toCount(applied.length, 'write')} applied</h2></summary>
<table class="grid" aria-label="Applied writes"><thead><tr><th scope="col">Write</th><th scope="col">Id</th><th scope="col">Remark</th></tr></thead>
<tbody>
${rows}</tbody></table></details>
`;
}
