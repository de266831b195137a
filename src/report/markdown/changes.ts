import { formatAction } from '../../model/change.ts';
import type { LocateManifest, ManifestStart } from '../../model/diagnostic.ts';
import { assertNever } from '../../model/errors.ts';
import type { Plan } from '../../model/plan.ts';
import type { FormatOptions } from '../report.ts';
import type { ChangeView } from '../view/change-view.ts';
import {
  type DangerView,
  findDangerSourcePlace,
  isFieldCoveredByDanger,
  splitAtBackticks,
} from '../view/danger-view.ts';
import { createPlaceLinks } from '../view/diagnostic-view.ts';
import { type FieldValueLine, type FieldView, formatShortField, removeIdsBeforeNames } from '../view/field-view.ts';
import { formatUnchangedFieldCount } from '../view/plan-wording.ts';
import { formatCount, shortenCommit } from '../view/wording.ts';
import {
  joinMarkdownCells,
  renderAnchor,
  renderCodeSpan,
  renderFence,
  renderUnescapedLink,
  type Section,
  toShortProse,
  wrapSectionsInFold,
} from './text.ts';

/** The limits of a table row: the number of fields, and the number of characters of each value. */
interface Room {
  readonly fields: number;
  readonly value: number;
}

/** The usual limits. More would make the table unreadable. The diff has the whole values. */
const SHORT: Room = { fields: 6, value: 60 };

/** Larger limits, for few rows whose diff is folded. Most readers then need not open the diff. */
const WHOLE: Room = { fields: 12, value: 240 };
/** With more rows, the table would be longer than the usual screen. */
const MAX_WHOLE_ROWS = 10;

/** With more changes, all diffs are folded, so that the table stays in view. */
const MAX_OPEN_DIFFS = 3;

/** Further rows of a table are folded: a comment must not hide the discussion below it. */
const MAX_OPEN_ROWS = 50;

/** With more lines, all diffs are folded: these fill about one screen. */
const MAX_OPEN_LINES = 40;

export interface TableContext {
  /** The table has a column for owners. */
  readonly hasOwners: boolean;
  readonly linkTo: RenderManifestLink;
  readonly locate?: LocateManifest | undefined;
  /** A sentence to show below the table. */
  readonly footnote?: string | undefined;
}

interface RowContext extends TableContext {
  readonly room: Room;
}

/** A table of changes with their effects, then their diffs. Folds the end of a long table, and long diffs. */
export function listChangeSections(changes: readonly ChangeView[], context: TableContext): readonly Section[] {
  const [open, folded] = [changes.slice(0, MAX_OPEN_ROWS), changes.slice(MAX_OPEN_ROWS)];
  const diffs = [...Map.groupBy(changes, ({ action }) => action)].map(([action, some]) => createDiff(action, some));
  const isFolded = changes.length > MAX_OPEN_DIFFS || countLines(diffs) > MAX_OPEN_LINES;
  const rows: RowContext = { ...context, room: isFolded && changes.length <= MAX_WHOLE_ROWS ? WHOLE : SHORT };
  return [
    ...listTableSections(open, rows),
    ...(folded.length === 0 ? [] : listFoldedSections(folded, rows)),
    { text: context.footnote === undefined ? '' : `${toShortProse(context.footnote)}\n\n`, priority: 'create' },
    ...listDiffSections(diffs, isFolded),
  ];
}

function listTableSections(changes: readonly ChangeView[], context: RowContext): readonly Section[] {
  const heads = ['', 'Resource', 'What', ...(context.hasOwners ? ['Owner'] : [])];
  return [
    { text: `${joinMarkdownCells(heads)}${joinMarkdownCells(heads.map(() => '---'))}`, priority: 'always' },
    ...changes.map((change) => createRowSection(change, context)),
    { text: '\n', priority: 'always' },
  ];
}

function listFoldedSections(changes: readonly ChangeView[], context: RowContext): readonly Section[] {
  const counts = [...Map.groupBy(changes, ({ action }) => action)].map(
    ([action, { length }]) => `${length} ${formatAction(action)}`,
  );
  return wrapSectionsInFold(
    { code: `${changes.length} more`, rest: counts.join(', ') },
    listTableSections(changes, { ...context, linkTo: (place) => context.linkTo(place, 'text') }),
  );
}

function createRowSection(change: ChangeView, { hasOwners, linkTo, locate, room }: RowContext): Section {
  const { action, glyph, address, id, owner, fields } = change;
  const names = [address, ...(id === undefined || change.change.duplicateOf === undefined ? [] : [id])].map(
    renderCodeSpan,
  );
  const { at, linkField } = createRowManifestLinks(change, { linkTo, locate });
  const isDrift = fields.some(({ origin }) => origin === 'drift');
  const cells = [
    `${renderCodeSpan(glyph)}&nbsp;${formatAction(action)}${isDrift ? '<br>reverts drift' : ''}`,
    [...names, ...(at === '' ? [] : [at])].join('<br>'),
    listDetails(change, { room, linkField }).join('<br>'),
    ...(hasOwners ? [owner === undefined ? '' : toShortProse(owner)] : []),
  ];
  return {
    text: joinMarkdownCells(cells),
    priority: action,
    names: [`row of resources to ${formatAction(action)}`, `rows of resources to ${formatAction(action)}`],
  };
}

/**
 * `at`: a link to the manifest line of the row's first differing field. `linkField`: returns a link to the manifest
 * line of another field, or an empty text if `at` links to the same line.
 */
export function createRowManifestLinks(
  row: Pick<ChangeView, 'manifestPath'> & Parameters<typeof findDangerSourcePlace>[0],
  { linkTo, locate }: Pick<TableContext, 'linkTo' | 'locate'>,
): { readonly at: string; readonly linkField: NonNullable<BriefOptions['linkField']> } {
  const place = findDangerSourcePlace(row, { locate });
  return {
    at: place === undefined ? '' : linkTo(place),
    linkField: ({ manifestPath }) => {
      const own =
        manifestPath === undefined
          ? undefined
          : findDangerSourcePlace({ change: row.change, manifestPath }, { locate });
      return own === undefined || own.line === place?.line ? '' : linkTo(own, 'line');
    },
  };
}

/** The notes on a change in its row: protection, reason, traits, notes and fields. */
function listDetails(change: ChangeView, options: BriefOptions): readonly string[] {
  const { action, reason, notes, protect, traits, fields, dangers } = change;
  const isWhole = action === 'create' || action === 'delete';
  return [
    ...(protect ? ['protected'] : []),
    ...joinClauses([...(reason === undefined ? [] : [toShortProse(reason)]), ...traits.map(formatClause)]),
    ...notes.map(toShortProse),
    ...(isWhole && traits.length > 0 ? [] : listShortFieldTexts(fields, { ...options, dangers })),
  ];
}

function joinClauses(clauses: readonly string[]): readonly string[] {
  return clauses.length === 0 ? [] : [clauses.join('; ')];
}

function formatClause({ said, values }: ChangeView['traits'][number]): string {
  return values === '' ? toShortProse(said) : `${toShortProse(said)} ${renderCodeSpan(values)}`;
}

interface BriefOptions {
  readonly room?: Room;
  /** Dangers shown above the table. If one contains a field's values, the field has a link to it instead of values. */
  readonly dangers?: readonly DangerView[];
  /** Returns a link to the manifest line of a field. Empty if the line is unknown, or if it is the line of the row. */
  readonly linkField?: (field: FieldView) => string;
}

/** A short text for each field, for a table cell. Fields beyond the limit of `room` are only counted. */
export function listShortFieldTexts(
  fields: readonly FieldView[],
  { room = SHORT, dangers = [], linkField = () => '' }: BriefOptions = {},
): readonly string[] {
  const hidden = fields.length - room.fields;
  const briefs = fields.slice(0, room.fields).map((field) => {
    const notes = field.notes.length === 0 ? '' : ` (${toShortProse(field.notes.join(', '))})`;
    const danger = dangers.find((one) => isFieldCoveredByDanger(one, field));
    if (danger !== undefined)
      return `${renderCodeSpan(removeIdsBeforeNames(field.path))}: ${linkToDanger(danger)}${notes}`;
    return [`${renderCodeSpan(formatShortField(field, room.value))}${notes}`, linkField(field)]
      .filter(Boolean)
      .join(' ');
  });
  return hidden > 0 ? [...briefs, `and ${formatCount(hidden, 'more field')}`] : briefs;
}

/** A link to the danger that shows the values of a field. */
function linkToDanger({ group, anchor }: DangerView): string {
  return renderUnescapedLink(`${group} danger above`, `#${anchor}`);
}

/** The diff of all changes with the same action: a line for each resource, followed by its fields. */
interface Diff {
  readonly action: ChangeView['action'];
  readonly lines: readonly string[];
  readonly resources: number;
}

function createDiff(action: ChangeView['action'], changes: readonly ChangeView[]): Diff {
  const shown = changes.filter(({ fields, lost }) => fields.length + lost.length > 0);
  const lines = shown.flatMap(({ address, id, fields, lost, unchanged }) => [
    `@@ ${formatAction(action)} ${address}${id === undefined ? '' : ` (${id})`} @@`,
    ...listFieldDiffLines([...fields, ...lost], unchanged),
  ]);
  return { action, lines, resources: shown.length };
}

function countLines(diffs: readonly Diff[]): number {
  return diffs.reduce((sum, { lines }) => sum + lines.length, 0);
}

/** One section for each action, so that the sections can be omitted one by one from a comment that is too long. */
function listDiffSections(diffs: readonly Diff[], isFolded: boolean): readonly Section[] {
  const shown = diffs.filter(({ lines }) => lines.length > 0);
  const sections = shown.map(({ action, lines }): Section => {
    const verb = formatAction(action);
    const names = [`diff of resources to ${verb}`, `diffs of resources to ${verb}`] as const;
    return { text: `${renderFence('diff', lines)}\n\n`, priority: `${action}-fields`, names };
  });
  if (!isFolded || sections.length === 0) return sections;
  const resources = shown.reduce((sum, one) => sum + one.resources, 0);
  const rest = `${formatCount(countLines(shown), 'line')} on ${formatCount(resources, 'resource')}`;
  return wrapSectionsInFold({ code: 'Diff', rest }, sections);
}

/**
 * Fields as lines of a diff: `-` before the old value, `+` before the new value. Adds the number of unchanged fields.
 */
export function listFieldDiffLines(fields: readonly FieldView[], unchanged = 0): readonly string[] {
  const more = unchanged === 0 ? [] : [`  (${formatUnchangedFieldCount(unchanged)})`];
  return [...fields.flatMap(listFieldLines), ...more];
}

function listFieldLines({ path, notes, inline, lines }: FieldView): readonly string[] {
  const note = notes.length === 0 ? '' : `  (${notes.join(', ')})`;
  if (inline === undefined) return [`  ${path}:${note}`, ...lines.map(formatDiffLine)];
  const { from, to, is } = inline;
  if (is !== undefined) return [`  ${path}: ${is}${note}`];
  const before = from === undefined ? [] : [`- ${path}: ${from}${to === undefined ? note : ''}`];
  return [...before, ...(to === undefined ? [] : [`+ ${path}: ${to}${note}`])];
}

function formatDiffLine({ role, text }: FieldValueLine): string {
  switch (role) {
    case 'added':
      return `+   ${text}`;
    case 'removed':
      return `-   ${text}`;
    case 'same':
      return `    ${text}`;
    case 'folded':
      return `    … ${text}`;
    default:
      return assertNever(role);
  }
}

/**
 * Renders the position of a manifest as Markdown; empty for standard input. `link` (the default): a link if the forge
 * is known. `text`: never a link. `line`: a link that shows only the line number, for use beside the file name.
 */
export type RenderManifestLink = (place: ManifestStart, format?: 'link' | 'text' | 'line') => string;

/**
 * Creates links to manifests at the commit that the plan was made from. If the page of a manifest is unknown, its
 * position is not a link.
 */
export function createManifestLinks(plan: Pick<Plan, 'made'>, options: FormatOptions): RenderManifestLink {
  const findLink = createPlaceLinks(plan, options);
  return (place, format = 'link') => {
    const { label, page } = findLink(place) ?? {};
    if (label === undefined) return '';
    const shown = renderCodeSpan(format === 'line' ? `:${place.line}` : label);
    return page === undefined || format === 'text' ? shown : renderUnescapedLink(shown, page);
  };
}

interface Footed extends Pick<Plan, 'made'> {
  readonly tool: Pick<Plan['tool'], 'version'>;
}

/** The last line of a comment: the commit, the pipeline run, the time, and the version of Edgewise. */
export function renderFooter({ made, tool }: Footed, { pipeline = {} }: FormatOptions): string {
  const { commit } = made ?? {};
  const page = commit === pipeline.commit ? pipeline.commitUrl : undefined;
  const label = commit === undefined ? '' : renderCodeSpan(shortenCommit(commit));
  const parts = [
    ...(commit === undefined ? [] : [`Commit ${page === undefined ? label : renderUnescapedLink(label, page)}`]),
    ...(pipeline.runUrl === undefined
      ? []
      : [renderUnescapedLink(`run ${/\d+$/.exec(pipeline.runUrl)?.[0] ?? ''}`.trim(), pipeline.runUrl)]),
    ...listTimeTexts(made?.at),
    `edgewise ${toShortProse(tool.version)}`,
  ];
  return `<sub>${parts.join(' · ')}</sub>`;
}

function listTimeTexts(at = ''): readonly string[] {
  const [, day = '', time = ''] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/.exec(at) ?? [];
  return day === '' ? [] : [`${day} ${time} UTC`];
}

/** Returns a link to the manifest line that a danger is about, or an empty text if the line is unknown. */
export type RenderDangerManifestLink = (danger: DangerView) => string;

interface DangersView {
  readonly dangers: readonly DangerView[];
  readonly dangerCount: string;
}

/**
 * One section for each danger, with its values and a link, by group. If the comment is too long, the last dangers are
 * omitted first, so the most severe remain.
 */
export function listDangerSections(
  { dangers, dangerCount }: DangersView,
  linkToDanger: RenderDangerManifestLink,
): readonly Section[] {
  const items = dangers.map((danger) => renderDangerItem(danger, linkToDanger(danger)));
  return wrapDangersInCautionBox(dangerCount, items);
}

/** A danger as a list item. `lead`: Markdown that names the stack and the owner, in a report on many stacks. */
export function renderDangerItem(
  { group, address, clause, then, owner, path, anchor }: DangerView,
  link: string,
  lead?: string,
): Section {
  const whose = owner === undefined || lead !== undefined ? '' : ` (${toShortProse(owner)})`;
  const values = clause.values === '' ? '' : ` ${renderCodeSpan(clause.values)}`;
  const said = `${escapeQuotingProse(clause.lead)}${values}${then === '' ? '' : `: ${toShortProse(then)}`}`;
  // Only rows of fields link to a danger, so a danger without a field needs no anchor.
  const target = path === undefined ? '' : renderAnchor(anchor);
  const text = `> - ${lead ?? ''}**${group}** ${renderCodeSpan(address)}${whose} ${said}${link === '' ? '' : ` ${link}`}${target}\n`;
  return { text, priority: 'delete', names: ['danger', 'dangers'] };
}

/** Escapes prose, except that text in backticks becomes code. */
function escapeQuotingProse(text: string): string {
  return splitAtBackticks(text)
    .map(({ piece, isCode }) => (isCode ? renderCodeSpan(piece) : toShortProse(piece)))
    .join('');
}

/** A caution box with the number of dangers and a list of them. Empty if there are no items. */
export function wrapDangersInCautionBox(dangerCount: string, items: readonly Section[]): readonly Section[] {
  if (items.length === 0) return [];
  const heading = `> [!CAUTION]\n> **${toShortProse(dangerCount)}**\n>\n`;
  return [{ text: heading, priority: 'always' }, ...items, { text: '\n', priority: 'always' }];
}
