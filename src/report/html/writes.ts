import type { WriteView } from '../view/plan-view.ts';
import { REQUESTS_HEADING, REQUESTS_ORDER } from '../view/plan-wording.ts';
import { toCount } from '../view/wording.ts';
import { type Html, html } from './node.ts';

/** The API calls of a plan, in a valid order. Nothing when there are none. */
export function renderWrites(writes: readonly WriteView[]): Html | undefined {
  if (writes.length === 0) return undefined;
  return html`<details class="requests"><summary><h2>${toCount(writes.length, 'request')}, ${REQUESTS_ORDER}</h2></summary>
<table class="grid" aria-label="${REQUESTS_HEADING}">
<thead><tr><th scope="col" class="number">No.</th><th scope="col">Request</th><th scope="col">What for</th><th scope="col">Waits for</th></tr></thead>
<tbody>
${writes.map(renderWrite)}</tbody></table></details>
`;
}

function renderWrite({ number, id, method, path, reason, waitsFor, last }: WriteView): Html {
  const waits = waitsFor.map((one, index) => html`${index === 0 ? '' : ', '}<a href="#write-${one}">${one}</a>`);
  return html`<tr id="write-${number}"><td class="number">${number}</td><th scope="row"><code>${method} ${path}</code></th><td><code>${id}</code><br>${reason}</td><td>${waits}${last ? ' all others: it comes last' : ''}</td></tr>
`;
}
