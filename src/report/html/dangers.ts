import type { PlanView } from '../view/plan-view.ts';
import { LOSSES_HEADING } from '../view/plan-wording.ts';
import { toCount } from '../view/wording.ts';
import { type Html, html } from './node.ts';
import { toChangeAnchor } from './plan.ts';

/** What is dangerous in a plan, each a link to its change. Nothing when nothing is. Deletes are one line: they stand below by themselves. */
export function renderDangers({ dangers, parts }: Pick<PlanView, 'dangers' | 'parts'>): Html | undefined {
  if (dangers.length === 0) return undefined;
  const changes = parts.flatMap((part) => part.changes);
  const findAnchor = createFinder(changes);
  const others = dangers.filter(({ danger }) => danger !== 'delete');
  const items = others.map(({ address, said }) => {
    const anchor = findAnchor(address);
    const name = html`<code>${address}</code>`;
    return html`<li>${anchor === undefined ? name : html`<a href="#${anchor}">${name}</a>`} ${said}</li>\n`;
  });
  return html`<section aria-labelledby="dangers"><h2 id="dangers">Dangers</h2>
<ul class="list dangers">${renderDeletes(dangers.length - others.length)}${items}</ul></section>
`;
}

/** A change that is in two parts is found in the first. */
function createFinder(changes: readonly { readonly address: string }[]): (address: string) => string | undefined {
  const anchors = new Map<string, string>();
  for (const [index, { address }] of changes.entries()) {
    if (!anchors.has(address)) anchors.set(address, toChangeAnchor(index));
  }
  return (address) => anchors.get(address);
}

function renderDeletes(count: number): Html | undefined {
  if (count === 0) return undefined;
  return html`<li><a href="#losses">${toCount(count, 'delete')}</a>: see ${LOSSES_HEADING}</li>\n`;
}
