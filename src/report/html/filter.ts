import { type Html, html } from './node.ts';

/** What a list can be narrowed by. */
export interface Filter {
  /** What is listed: `changes`. */
  readonly what: string;
  /** What items are grouped by: `Action`. */
  readonly by: string;
  /** The group and the kind of each item. Groups are offered in the order in which they come. */
  readonly items: readonly { readonly group: string; readonly kind: string }[];
}

/** The controls above a list. Hidden until the script can serve them, which fills in the numbers too. */
export function renderFilter({ what, by, items }: Filter): Html {
  const groups = [...new Set(items.map(({ group }) => group))];
  const kinds = [...new Set(items.map(({ kind }) => kind))].sort();
  return html`<div class="filter" role="search" aria-label="Filter ${what}" hidden>
<input type="search" aria-label="Find in ${what}" placeholder="Address, field or value" autocomplete="off" spellcheck="false">
<p class="status" role="status"></p>
<div class="acts"><button type="button" data-act="clear" hidden>Clear</button><button type="button" data-act="expand">Expand all</button><button type="button" data-act="collapse">Collapse all</button></div>
${renderFacet('group', by, groups)}${renderFacet('kind', 'Kind', kinds)}</div>
`;
}

function renderFacet(facet: 'group' | 'kind', legend: string, words: readonly string[]): Html {
  const buttons = words.map(
    (word) =>
      html`<button type="button" aria-pressed="false" data-value="${word}">${word}<span class="count"></span></button>\n`,
  );
  return html`<fieldset data-facet="${facet}"><legend>${legend}</legend>
${buttons}</fieldset>
`;
}
