import { ACTIONS, formatAction, listShownActions } from '../../model/change.ts';
import { DANGER_GROUP_NAMES, type DangerGroup } from '../../model/danger.ts';
import { DRIFT_STATES, type DriftState } from '../../model/drift.ts';
import { assertNever } from '../../model/errors.ts';
import type { CommandLine } from '../report.ts';
import type { ChangeView } from '../view/change-view.ts';
import {
  type DangerView,
  type findDangerSourcePlace,
  splitAtBackticks,
  withoutRepeatedValues,
} from '../view/danger-view.ts';
import {
  type DriftedView,
  type DriftGroup,
  type DriftView,
  NEXT_APPLY_PREFIX,
  STATE_LABELS,
  UNMANAGED_WORDING,
} from '../view/drift-view.ts';
import type { FieldValueLine, FieldView } from '../view/field-view.ts';
import type { PlanView } from '../view/plan-view.ts';
import {
  ACTION_COUNT_LABELS,
  CHANGE_ORIGIN_HEADINGS,
  DELETES_AND_REPLACEMENTS_HEADING,
  formatApplyCommandLead,
  formatFilesToWriteLabel,
  formatOwnerNote,
  formatUnchangedFieldCount,
  SEE_ABOVE_NOTE,
} from '../view/plan-wording.ts';
import { formatCount } from '../view/wording.ts';
import { type Html, html, renderCounts } from './node.ts';

/** An entry of a filterable list: a change or a drifted resource. */
interface Item {
  /** The `id` of the element, unique on the page. */
  readonly anchor: string;
  /** The value for the group filter: an action or a drift state. Also the CSS class that sets the colour. */
  readonly group: string;
  readonly kind: string;
  readonly dangers: readonly DangerGroup[];
  readonly owner?: string | undefined;
  readonly glyph: string;
  readonly address: string;
  /** The id of the live resource, if there is one. */
  readonly id?: string | undefined;
  /** Text shown beside the address, such as the action. */
  readonly said: Html | undefined;
  /** The size of the body, such as `3 fields`. Empty if no size is shown. */
  readonly size: string;
  /** If the body has no pieces, the entry cannot be opened. */
  readonly body: readonly (Html | undefined)[];
  readonly isOpen: boolean;
}

/** The entries of one list below a heading. The browser lays out only the visible part of a long list. */
function renderItems(anchor: string, heading: string, items: readonly Item[]): Html {
  return html`<section class="part" aria-labelledby="${anchor}"><h2 id="${anchor}">${heading}</h2>
<div class="items${items.length > MAX_WHOLE ? ' many' : ''}">
${items.map(renderItem)}</div></section>
`;
}

/** Whether entries start open. They do only if the total number of their fields is small. */
function isOpenAtFirst(fields: number): boolean {
  return fields <= MAX_OPEN_FIELDS;
}

/** With more fields, what follows would be many screens away. */
const MAX_OPEN_FIELDS = 400;

/** If a list has more entries, the browser lays out only the visible ones: all would take noticeable time. */
const MAX_WHOLE = 100;

/** Entries of one resource have the same `data-key`, so that the page's script counts the resource once. */
function renderItem({ anchor, group, kind, dangers, owner, body, isOpen, ...item }: Item): Html {
  const inside = body.filter((piece) => piece !== undefined);
  const attributes = html`class="item ${group}" id="${anchor}" data-key="${item.address} ${item.id}" data-group="${group}" data-kind="${kind}"${dangers.length === 0 ? '' : html` data-danger="${[...new Set(dangers)].join(' ')}"`}${owner === undefined ? '' : html` data-owner="${owner}"`}`;
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

interface FilteredItem extends Pick<Item, 'kind' | 'dangers' | 'owner'> {
  /** The stack of the item. Absent on a page about a single stack. */
  readonly stack?: string;
}

export interface FilterableList {
  /** The noun for the items in labels, such as `changes`. */
  readonly what: string;
  /** The label above the group buttons, such as `Action`. */
  readonly by: string;
  /** Maps each group to its label. */
  readonly groups: ReadonlyMap<string, string>;
  readonly items: readonly FilteredItem[];
}

/** A rendered filter with its data. A page about many stacks joins the filters of its parts. */
export interface RenderedFilter extends Html {
  readonly filter: FilterableList;
}

/** The filter controls above a list. They are hidden until the page's script runs and fills in the counts. */
export function renderFilter(filter: FilterableList): RenderedFilter {
  const { what, by, groups, items } = filter;
  const dangers = new Set(items.flatMap((item) => item.dangers));
  const owners = items.flatMap(({ owner }) => owner ?? []);
  const stacks = items.flatMap(({ stack }) => stack ?? []);
  const { source } = html`<div class="filter" role="search" aria-label="Filter ${what}" hidden>
<input type="search" aria-label="Find in ${what}" placeholder="Address, field or value" autocomplete="off" spellcheck="false">
<p class="status" role="status"></p>
<div class="acts"><button type="button" data-act="clear" hidden>Clear</button><button type="button" data-act="expand">Expand all</button><button type="button" data-act="collapse">Collapse all</button></div>
${[
  renderFacet('danger', 'Danger', createLabels(DANGER_GROUP_NAMES.filter((group) => dangers.has(group)))),
  renderFacet('group', by, groups),
  renderFacet('kind', 'Kind', createLabels(items.map(({ kind }) => kind).sort())),
  renderFacet('owner', 'Owner', createLabels(owners.sort())),
  renderFacet('stack', 'Stack', createLabels(stacks)),
]}</div>
`;
  return { source, filter };
}

function createLabels(values: readonly string[]): ReadonlyMap<string, string> {
  return new Map(values.map((value) => [value, value]));
}

type Facet = 'danger' | 'group' | 'kind' | 'owner' | 'stack';

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

/** A table of fields with old and new values. Undefined if there are no fields. */
function renderFields(
  caption: string,
  fields: readonly FieldView[],
  renderPlace: (field: FieldView) => Html | undefined = () => undefined,
): Html | undefined {
  if (fields.length === 0) return undefined;
  return html`<table class="fields" aria-label="${caption}">
${fields.map((field) => renderField(field, renderPlace(field)))}</table>
`;
}

function renderField({ path, notes, forcesReplace, inline, lines }: FieldView, place: Html | undefined): Html {
  const details = [
    ...notes.map((note) => html` <span class="detail">${note}</span>`),
    ...(place === undefined ? [] : [html` <span class="detail">${place}</span>`]),
  ];
  const value = inline === undefined ? renderLines(lines) : renderInline(inline);
  return html`<tr${forcesReplace ? html` class="forces"` : ''}><th scope="row">${path}${details}</th><td>${value}</td></tr>
`;
}

function renderInline({ from, to, is }: NonNullable<FieldView['inline']>): Html {
  if (is !== undefined) return html`${is}`;
  const before = from === undefined ? undefined : html`<del>${from}</del>`;
  const after = to === undefined ? undefined : html`<ins>${to}</ins>`;
  const arrow = before === undefined || after === undefined ? '' : html` <span class="arrow">→</span> `;
  return html`${before}${arrow}${after}`;
}

function renderLines(lines: readonly FieldValueLine[]): Html {
  return html`<div class="lines">${lines.map(renderLine)}</div>`;
}

function renderLine({ role, text }: FieldValueLine): Html {
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

/** The counts of resources by action, and of files to write. */
export function renderPlanCounts({ totals, files }: Pick<PlanView, 'totals' | 'files'>): Html {
  const actions = listShownActions(ACTIONS, totals);
  const counts = actions.map((action) => ({
    look: action,
    label: ACTION_COUNT_LABELS[action],
    number: totals[action],
  }));
  const written = { look: 'update', label: formatFilesToWriteLabel(files), number: files.length };
  return renderCounts('Resources by action', files.length === 0 ? counts : [...counts, written]);
}

/** The command that applies the plan, for the user to copy. Undefined if unknown, or if the plan is not applicable. */
export function renderApplyCommand(
  { isApplicable }: Pick<PlanView, 'isApplicable'>,
  command: CommandLine | undefined,
): Html | undefined {
  if (command?.lineElsewhere === undefined || !isApplicable) return undefined;
  return html`<p class="command">${formatApplyCommandLead(command)} <code>${command.lineElsewhere}</code></p>\n`;
}

/** A filter for all changes, then one list for each part of the plan. Empty if there are no changes. */
export function renderChanges(
  { parts }: { readonly parts: readonly ChangePart[] },
  { renderPlace = () => undefined, isPart = false }: ChangesOptions = {},
): readonly (Html | RenderedFilter)[] {
  const changes = parts.flatMap((part) => part.changes);
  if (changes.length === 0) return [];
  const heeded = changes.length <= MAX_OPEN_CHANGES && !isPart ? changes : changes.filter(isHeeded);
  const isOpen = isOpenAtFirst(heeded.reduce((sum, { fields, lost }) => sum + fields.length + lost.length, 0));
  const open = new Set(isOpen ? heeded : []);
  const items = new Map(
    changes.map((change, index) => [change, createItem(change, { index, isOpen: open.has(change), renderPlace })]),
  );
  const filter = renderFilter({
    what: 'changes',
    by: 'Action',
    groups: new Map(changes.map(({ action }) => [action, action])),
    items: [...items.values()],
  });
  const lists = parts.map((part) =>
    renderItems(
      part.part,
      part.heading ?? HEADINGS[part.part],
      part.changes.flatMap((change) => items.get(change) ?? []),
    ),
  );
  return [filter, ...lists];
}

interface ChangesOptions {
  readonly renderPlace?: RenderFieldPlace;
  /** Whether the changes are only a part of the page. If so, only changes that need attention start open. */
  readonly isPart?: boolean | undefined;
}

/** Renders the position of the manifest field that a change or danger is about. Returns undefined if it is unknown. */
export type RenderFieldPlace = (about: Parameters<typeof findDangerSourcePlace>[0]) => Html | undefined;

/** If there are more changes on the page, only changes that need attention start open, so that a reader finds them. */
const MAX_OPEN_CHANGES = 3;

/** Whether the user should look at the change before approving the plan. */
function isHeeded({ action, dangers }: ChangeView): boolean {
  return action === 'delete' || action === 'replace' || dangers.length > 0;
}

/** The anchor of the change at this index among all changes on the page. */
export function formatChangeAnchor(index: number): string {
  return `change-${index + 1}`;
}

interface ChangePart {
  readonly part: keyof typeof HEADINGS;
  readonly heading?: string;
  readonly changes: readonly ChangeView[];
}

/** The default heading of each part. */
const HEADINGS = {
  losses: DELETES_AND_REPLACEMENTS_HEADING,
  change: 'Changes',
  missing: CHANGE_ORIGIN_HEADINGS.missing,
  drift: CHANGE_ORIGIN_HEADINGS.drift,
  more: 'More',
  less: 'Less',
} as const;

interface Place {
  readonly index: number;
  readonly isOpen: boolean;
  readonly renderPlace: RenderFieldPlace;
}

function createItem(change: ChangeView, { index, isOpen, renderPlace }: Place): Item {
  const { action, kind, glyph, address, id, fields, lost, owner } = change;
  const notes = [...(owner === undefined ? [] : [formatOwnerNote(owner)]), ...change.notes];
  const place = renderPlace(change);
  return {
    anchor: formatChangeAnchor(index),
    group: action,
    kind,
    // If a change has two entries, only the first shows its dangers, but the danger filter must find both.
    dangers: (change.change.dangers ?? []).map(({ group }) => group),
    owner,
    glyph,
    address,
    id,
    said: renderAction(change),
    size: fields.length + lost.length === 0 ? '' : formatCount(fields.length + lost.length, 'field'),
    body: [
      ...renderClauses(change.dangers, fields),
      ...notes.map((note) => html`<p>${note}</p>\n`),
      place === undefined ? undefined : html`<p>${place}</p>\n`,
      renderFields(`Fields of ${address}`, fields, createFieldPlaces(change, { fields, renderPlace })),
      renderFields(`Fields of ${address} that will be deleted`, lost),
      renderUnchanged(change),
    ],
    isOpen,
  };
}

/**
 * Returns a function that renders the manifest position of a field. It returns undefined if the entry has only this
 * field, or already shows the same position.
 */
function createFieldPlaces(
  entry: Pick<ChangeView, 'manifestPath'> & Parameters<RenderFieldPlace>[0],
  { fields, renderPlace }: { readonly fields: readonly FieldView[]; readonly renderPlace: RenderFieldPlace },
): (field: FieldView) => Html | undefined {
  const place = renderPlace(entry);
  return ({ manifestPath }) => {
    const own = manifestPath === undefined ? undefined : renderPlace({ change: entry.change, manifestPath });
    return fields.length === 1 || own?.source === place?.source ? undefined : own;
  };
}

function renderAction({ action, reason, isContinued, protect }: ChangeView): Html {
  const why = isContinued ? `, ${SEE_ABOVE_NOTE}` : reason === undefined ? '' : `: ${reason}`;
  return html`<span class="word">${formatAction(action)}</span>${why}${protect ? html` <span class="badge">protected</span>` : ''}`;
}

function renderUnchanged({ fields, unchanged }: ChangeView): Html | undefined {
  if (fields.length === 0 || unchanged === 0) return undefined;
  return html`<p class="rest">${formatUnchangedFieldCount(unchanged)}</p>\n`;
}

const GLYPHS: Readonly<Record<DriftState, string>> = {
  drifted: '~',
  'drifted-and-pending': '≈',
  differs: '≠',
  missing: '✗',
  unowned: '?',
  'file-differs': '≠',
  pending: '»',
  'to-prune': '-',
  'in-sync': '=',
};

export function renderDriftCounts(counts: DriftView['counts']): Html {
  return renderCounts(
    'Resources by state',
    DRIFT_STATES.map((state) => ({ look: state, label: STATE_LABELS[state], number: counts[state] })),
  );
}

/** A filter for all resources that differ, then one list for each state. Empty if no resource differs. */
export function renderDriftGroups(
  { groups }: Pick<DriftView, 'groups'>,
  renderPlace: RenderFieldPlace,
): readonly (Html | RenderedFilter)[] {
  if (groups.length === 0) return [];
  const all = groups.flatMap(({ resources }) => resources);
  const isOpen = isOpenAtFirst(all.reduce((sum, { fields, pending }) => sum + fields.length + pending.length, 0));
  const indexes = new Map(all.map((one, index) => [one, index]));
  const lists = groups.map(({ state, heading, resources }) =>
    renderItems(
      state,
      heading,
      resources.map((one) => createDriftItem(one, { state, index: indexes.get(one) ?? 0, isOpen, renderPlace })),
    ),
  );
  const filter = renderFilter({
    what: 'resources',
    by: 'State',
    groups: new Map(groups.map(({ state }) => [state, STATE_LABELS[state]])),
    items: all.map(({ kind, owner, dangers }) => ({ kind, owner, dangers: dangers.map(({ group }) => group) })),
  });
  return [filter, ...lists];
}

interface DriftPlace extends Place {
  readonly state: DriftGroup['state'];
}

function createDriftItem(resource: DriftedView, { state, index, isOpen, renderPlace }: DriftPlace): Item {
  const { kind, address, id, owner, reason, expected, dangers, fields, pending, next } = resource;
  const place = renderPlace(resource);
  const renderFieldPlace = createFieldPlaces(resource, { fields: [...fields, ...pending], renderPlace });
  const size = fields.length + pending.length;
  return {
    anchor: formatResourceAnchor(index),
    group: state,
    kind,
    dangers: dangers.map(({ group }) => group),
    owner,
    glyph: GLYPHS[state],
    address,
    id,
    said: reason === undefined ? undefined : html`${reason}`,
    size: size === 0 ? '' : formatCount(size, 'field'),
    body: [
      expected === undefined ? undefined : html`<p>${expected}</p>\n`,
      ...renderClauses(dangers, fields),
      owner === undefined ? undefined : html`<p>${formatOwnerNote(owner)}</p>\n`,
      place === undefined ? undefined : html`<p>${place}</p>\n`,
      renderFields(`Fields of ${address}: expected and live`, fields, renderFieldPlace),
      next === undefined ? undefined : html`<p>${NEXT_APPLY_PREFIX}: ${next}</p>\n`,
      renderFields(`Fields of ${address}: live and next apply`, pending, renderFieldPlace),
    ],
    isOpen,
  };
}

/** The anchor of the resource at this index among all resources on the page. */
export function formatResourceAnchor(index: number): string {
  return `resource-${index + 1}`;
}

/** The dangers of one entry, without the values that its fields show below. */
function renderClauses(dangers: readonly DangerView[], fields: readonly FieldView[]): readonly Html[] {
  return dangers
    .map((one) => withoutRepeatedValues(one, fields))
    .map((one) => html`<p class="danger"><strong>${one.group}:</strong> ${renderDanger(one)}</p>\n`);
}

/** A danger as a clause. The values, and text in backticks, are shown as code. */
export function renderDanger({ clause, then }: DangerView): Html {
  const values = clause.values === '' ? '' : html` <code>${clause.values}</code>`;
  const lead = splitAtBackticks(clause.lead).map(({ piece, isCode }) => (isCode ? html`<code>${piece}</code>` : piece));
  return html`${lead}${values}${then === '' ? '' : `: ${then}`}`;
}

/** A section on the resources that no stack manages. Undefined if there are none. */
export function renderUnmanagedResources(unmanaged: DriftView['unmanaged']): Html | undefined {
  if (unmanaged.length === 0) return undefined;
  const items = unmanaged.map((one) => html`<li>${one.kind} <code>${one.id}</code> ${one.description}</li>\n`);
  return html`<section aria-labelledby="unmanaged"><h2 id="unmanaged">${UNMANAGED_WORDING.heading}</h2>
<ul class="list">${items}</ul><p class="note">${UNMANAGED_WORDING.hint}</p></section>
`;
}
