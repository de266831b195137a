import { DANGER_GROUP_NAMES } from '../../model/danger.ts';
import { assertNever } from '../../model/errors.ts';
import type { Document, Entry, EntryDetails, Field, NextApply } from '../document.ts';
import type { FieldView } from '../view/field-view.ts';
import { formatTeamNote, formatUnchangedFieldCount, SEE_ABOVE_NOTE } from '../view/plan-wording.ts';
import { formatCount, NEXT_APPLY_PREFIX } from '../view/wording.ts';
import { type Html, html, renderHtmlPlace, renderHtmlProse, renderHtmlText } from './node.ts';

/** Which entries start open. `left`: the number of fields that may still be shown. */
export interface OpenEntries {
  /** Whether all start open, or only those that the user should look at. */
  readonly isAllOpen: boolean;
  readonly open: { left: number };
}

/** With more open fields, what follows would be many screens away. */
const MAX_OPEN_FIELDS = 400;

/** With more entries, only those that need attention start open, so that a reader finds them. */
const MAX_OPEN_ENTRIES = 3;

export function createOpenEntries(document: Document): OpenEntries {
  return { isAllOpen: listAllEntries(document).length <= MAX_OPEN_ENTRIES, open: { left: MAX_OPEN_FIELDS } };
}

interface PlacedEntry {
  readonly entry: Entry;
  readonly by: string;
  /** The stack of the entry. Absent on a page about a single stack. */
  readonly stack?: string | undefined;
}

/** The entries of a document and of its parts. */
function listAllEntries({ blocks }: Document, stack?: string): readonly PlacedEntry[] {
  return blocks.flatMap((block): readonly PlacedEntry[] => {
    if (block.block === 'entries') return block.entries.map((entry) => ({ entry, by: block.by, stack }));
    if (block.block !== 'part' || block.document === undefined) return [];
    return listAllEntries(block.document, block.isStack ? block.title : stack);
  });
}

/**
 * The filter controls above all entries. They are hidden until the page's script runs and fills in the counts.
 * Undefined if there are no entries.
 */
export function renderFilter(document: Document): Html | undefined {
  const placed = listAllEntries(document);
  const [first] = placed;
  if (first === undefined) return undefined;
  const entries = placed.map(({ entry }) => entry);
  const dangers = new Set(entries.flatMap(({ dangerGroups }) => dangerGroups));
  return html`<div class="filter" role="search" aria-label="Filter" hidden>
<input type="search" aria-label="Find a resource" placeholder="Address, field or value" autocomplete="off" spellcheck="false">
<p class="status" role="status"></p>
<div class="acts"><button type="button" data-act="clear" hidden>Clear</button><button type="button" data-act="expand">Expand all</button><button type="button" data-act="collapse">Collapse all</button></div>
${[
  renderFacet('danger', 'Danger', createLabels(DANGER_GROUP_NAMES.filter((group) => dangers.has(group)))),
  renderFacet('group', first.by, new Map(entries.map(({ group, label }) => [group, label]))),
  renderFacet('kind', 'Kind', createLabels(entries.map(({ kind }) => kind).sort())),
  renderFacet('team', 'Team', createLabels(entries.flatMap(({ team }) => team ?? []).sort())),
  renderFacet('stack', 'Stack', createLabels(placed.flatMap(({ stack }) => stack ?? []))),
]}</div>
`;
}

function createLabels(values: readonly string[]): ReadonlyMap<string, string> {
  return new Map(values.map((value) => [value, value]));
}

type Facet = 'danger' | 'group' | 'kind' | 'stack' | 'team';

/** The buttons for one facet. Undefined if there are no values to filter by. */
function renderFacet(facet: Facet, legend: string, words: ReadonlyMap<string, string>): Html | undefined {
  if (words.size === 0) return undefined;
  const buttons = [...words].map(
    ([value, label]) =>
      html`<button type="button" ${facet === 'group' ? html`class="${value}" ` : ''}aria-pressed="false" data-value="${value}">${label}<span class="count"></span></button>\n`,
  );
  return html`<fieldset data-facet="${facet}"><legend>${legend}</legend>
${buttons}</fieldset>
`;
}

/** Entries of one resource have the same `data-key`, so that the page's script counts the resource once. */
export function renderItem(entry: Entry, { isAllOpen, open }: OpenEntries): Html {
  const { anchor, group, kind, dangerGroups, team, address, id } = entry;
  const details = entry.describe();
  const { fields, lost, next } = details;
  const size = fields.length + lost.length + (next?.fields.length ?? 0);
  const attributes = html`class="item ${group}" id="${anchor}" data-key="${address} ${id}" data-group="${group}" data-kind="${kind}"${dangerGroups.length === 0 ? '' : html` data-danger="${[...new Set(dangerGroups)].join(' ')}"`}${team === undefined ? '' : html` data-team="${team}"`}`;
  const inside = listInside(entry, details);
  if (inside.length === 0)
    return html`<div ${attributes}><div class="head">${renderEntryTitle(entry, '')}</div></div>\n`;
  const isOpen = (isAllOpen || entry.isHeeded) && size <= open.left;
  if (isOpen) open.left -= size;
  return html`<details ${attributes}${isOpen ? html` open` : ''}><summary>${renderEntryTitle(entry, size === 0 ? '' : formatCount(size, 'field'))}</summary>
<div class="body">
${inside}</div></details>
`;
}

function renderEntryTitle({ glyph, address, id, label, reason, isProtected, isContinued }: Entry, size: string): Html {
  const slash = address.startsWith('"') ? -1 : address.indexOf('/');
  const name = html`<span class="kind">${address.slice(0, slash + 1)}</span>${address.slice(slash + 1)}`;
  const why = isContinued ? `, ${SEE_ABOVE_NOTE}` : reason === undefined ? '' : `: ${reason}`;
  const badge = isProtected ? html` <span class="badge">protected</span>` : '';
  const more = [
    ...(id === undefined ? [] : [html`<code>${id}</code>`]),
    ...(size === '' ? [] : [html`<span class="size">${size}</span>`]),
  ];
  return html`<span class="glyph" aria-hidden="true">${glyph}</span><span class="what"><h3>${name}</h3> <span class="said"><span class="word">${label}</span>${why}${badge}</span></span>
<span class="side">${more}</span>`;
}

/** The body of an entry. Empty if there is nothing to show in it. */
function listInside({ address, team, isContinued }: Entry, details: EntryDetails): readonly Html[] {
  const { place, traits, dangers, notes, fields, lost, unchanged, next } = details;
  const isBare = fields.length + lost.length === 0;
  const said = [...(team === undefined || isContinued ? [] : [formatTeamNote(team)]), ...notes];
  return [
    ...dangers.map(renderDanger),
    ...(isBare ? traits.map((trait) => html`<p>${renderHtmlText(trait)}</p>\n`) : []),
    ...said.map((note) => html`<p>${renderHtmlProse(note)}</p>\n`),
    ...(place === undefined ? [] : [html`<p>${renderHtmlPlace(place)}</p>\n`]),
    ...renderFieldTable(`Fields of ${address}`, fields),
    ...renderFieldTable(`Fields of ${address} that will be deleted`, lost),
    ...(isBare || unchanged === 0 ? [] : [html`<p class="rest">${formatUnchangedFieldCount(unchanged)}</p>\n`]),
    ...(next === undefined ? [] : renderNextApply(next, address)),
  ];
}

function renderNextApply({ said, dangers, notes, fields }: NextApply, address: string): readonly Html[] {
  return [
    html`<p>${NEXT_APPLY_PREFIX}: ${said}</p>\n`,
    ...dangers.map(renderDanger),
    ...notes.map((note) => html`<p>${renderHtmlProse(note)}</p>\n`),
    ...renderFieldTable(`Fields of ${address} that the next apply changes`, fields),
  ];
}

function renderDanger({ group, said }: EntryDetails['dangers'][number]): Html {
  return html`<p class="danger"><strong>${group}:</strong> ${renderHtmlText(said)}</p>\n`;
}

/** A table of fields with old and new values. Empty if there are no fields. */
function renderFieldTable(caption: string, fields: readonly Field[]): readonly Html[] {
  if (fields.length === 0) return [];
  return [
    html`<table class="fields" aria-label="${caption}">
${fields.map(renderField)}</table>
`,
  ];
}

function renderField({ path, notes, forcesReplace, inline, lines, place }: Field): Html {
  const details = [
    ...notes.map((note) => html` <span class="detail">${note}</span>`),
    ...(place === undefined ? [] : [html` <span class="detail">${renderHtmlPlace(place)}</span>`]),
  ];
  const value =
    inline === undefined ? html`<div class="lines">${lines.map(renderLine)}</div>` : renderInlineValues(inline);
  return html`<tr${forcesReplace ? html` class="forces"` : ''}><th scope="row">${renderPath(path)}${details}</th><td>${value}</td></tr>
`;
}

/** A path may continue on the next line after a dot, so that no id is broken where it fits on a line. */
function renderPath(path: string): Html {
  return html`${path.split(/(?<=\.)/).map((part, index) => (index === 0 ? part : html`<wbr>${part}`))}`;
}

function renderInlineValues({ from, to, is }: NonNullable<Field['inline']>): Html {
  if (is !== undefined) return html`${is}`;
  const before = from === undefined ? undefined : html`<del>${from}</del>`;
  const after = to === undefined ? undefined : html`<ins>${to}</ins>`;
  const arrow = before === undefined || after === undefined ? '' : html` <span class="arrow">→</span> `;
  return html`${before}${arrow}${after}`;
}

function renderLine({ role, text }: FieldView['lines'][number]): Html {
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
