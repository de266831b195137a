import { type Html, html } from './node.ts';

/** What a list can be narrowed by. */
export interface Filter {
  /** What is listed: `changes`. */
  readonly what: string;
  /** What items are grouped by: `Action`. */
  readonly by: string;
  /** The groups that there are, and how they are called. */
  readonly groups: ReadonlyMap<string, string>;
  /** The kind of each item. */
  readonly kinds: readonly string[];
}

/** The controls above a list. Hidden until the script can serve them, which fills in the numbers too. */
export function renderFilter({ what, by, groups, kinds }: Filter): Html {
  const sorted = [...new Set(kinds)].sort();
  return html`<div class="filter" role="search" aria-label="Filter ${what}" hidden>
<input type="search" aria-label="Find in ${what}" placeholder="Address, field or value" autocomplete="off" spellcheck="false">
<p class="status" role="status"></p>
<div class="acts"><button type="button" data-act="clear" hidden>Clear</button><button type="button" data-act="expand">Expand all</button><button type="button" data-act="collapse">Collapse all</button></div>
${renderFacet('group', by, groups)}${renderFacet('kind', 'Kind', new Map(sorted.map((kind) => [kind, kind])))}</div>
`;
}

function renderFacet(facet: 'group' | 'kind', legend: string, words: ReadonlyMap<string, string>): Html {
  const buttons = [...words].map(
    ([value, label]) =>
      html`<button type="button" ${facet === 'group' ? html`class="${value}" ` : ''}aria-pressed="false" data-value="${value}">${label}<span class="count"></span></button>\n`,
  );
  return html`<fieldset data-facet="${facet}"><legend>${legend}</legend>
${buttons}</fieldset>
`;
}
