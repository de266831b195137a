import { type Html, html } from './node.ts';

/** One entry of a list that can be filtered. */
export interface Item {
  /** Unique in the page. */
  readonly anchor: string;
  /** What it is filtered by besides its kind: an action, a state. It is the class of its colour too. */
  readonly group: string;
  readonly kind: string;
  readonly glyph: string;
  readonly address: string;
  /** Id of the live resource. */
  readonly id?: string | undefined;
  /** What is said beside the address. */
  readonly said: Html | undefined;
  /** How much there is to see inside: `3 fields`. */
  readonly size: string;
  /** Nothing in it: there is nothing to open. */
  readonly body: readonly (Html | undefined)[];
  readonly isOpen: boolean;
}

/** The entries of one list below a heading. A long list is laid out as far as it is looked at. */
export function renderItems(anchor: string, heading: string, items: readonly Item[]): Html {
  return html`<section class="part" aria-labelledby="${anchor}"><h2 id="${anchor}">${heading}</h2>
<div class="items${items.length > MAX_WHOLE ? ' many' : ''}">
${items.map(renderItem)}</div></section>
`;
}

/** Whether entries begin unfolded: where all that they hold is not too much for one look. */
export function isOpenAtFirst(fields: number): boolean {
  return fields <= MAX_OPEN_FIELDS;
}

const MAX_OPEN_FIELDS = 400;

/** Entries up to which a list is laid out as a whole. */
const MAX_WHOLE = 100;

/** Entries of one resource have one key, and are counted once. */
function renderItem({ anchor, group, kind, body, isOpen, ...item }: Item): Html {
  const inside = body.filter((piece) => piece !== undefined);
  const attributes = html`class="item ${group}" id="${anchor}" data-key="${item.address} ${item.id}" data-group="${group}" data-kind="${kind}"`;
  if (inside.length === 0) {
    return html`<div ${attributes}><div class="head">${renderTitle({ ...item, size: '' })}</div></div>\n`;
  }
  return html`<details ${attributes}${isOpen ? html` open` : ''}><summary>${renderTitle(item)}</summary>
<div class="body">
${inside}</div></details>
`;
}

function renderTitle({
  glyph,
  address,
  id,
  said,
  size,
}: Pick<Item, 'glyph' | 'address' | 'id' | 'said' | 'size'>): Html {
  const slash = address.startsWith('"') ? -1 : address.indexOf('/');
  const name = html`<span class="kind">${address.slice(0, slash + 1)}</span>${address.slice(slash + 1)}`;
  const more = [
    ...(id === undefined ? [] : [html`<code>${id}</code>`]),
    ...(size === '' ? [] : [html`<span class="size">${size}</span>`]),
  ];
  return html`<span class="glyph" aria-hidden="true">${glyph}</span><span class="what"><h3>${name}</h3> <span class="said">${said}</span></span>
<span class="side">${more}</span>`;
}

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
