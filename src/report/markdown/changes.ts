import type { Locate, ManifestStart } from '../../model/diagnostic.ts';
import { assertNever } from '../../model/errors.ts';
import type { Plan } from '../../model/plan.ts';
import type { FormatOptions } from '../report.ts';
import type { ChangeView } from '../view/change-view.ts';
import { type DangerView, findFieldPlace, isCoveredByDanger, listQuoted } from '../view/danger-view.ts';
import { createPlaceLinks } from '../view/diagnostic-view.ts';
import { type FieldLine, type FieldView, formatBrief, shortenNames } from '../view/field-view.ts';
import { formatUnchangedCount } from '../view/plan-wording.ts';
import { formatCount, shortenCommit } from '../view/wording.ts';
import {
  escapeProse,
  listFoldSections,
  renderAnchor,
  renderCode,
  renderFence,
  renderLink,
  renderRow,
  type Section,
} from './text.ts';

/** How much a row of a table shows: fields, and characters of each value. */
interface Room {
  readonly fields: number;
  readonly value: number;
}

/** More fields or characters would make the table unreadable. The diff has the whole values. */
const SHORT: Room = { fields: 6, value: 60 };

/** For few rows whose diff is folded, so that a reader who opens nothing still sees all but the longest values. */
const WHOLE: Room = { fields: 12, value: 240 };
const MAX_WHOLE_ROWS = 10;

/** Most changes whose diff is not folded. */
const MAX_OPEN_DIFFS = 3;

/** Most rows of a table that are not folded. */
const MAX_OPEN_ROWS = 50;

/** Most lines of a diff that is not folded. */
const MAX_OPEN_LINES = 40;

export interface TableContext {
  /** The table has a column for owners. */
  readonly hasOwners: boolean;
  readonly linkTo: LinkTo;
  readonly locate?: Locate | undefined;
  /** A sentence below the table. */
  readonly footnote?: string | undefined;
}

interface RowContext extends TableContext {
  readonly room: Room;
}

/** A table of changes with their effects, then their diff. Folds each of them if it is long. */
export function listChangeSections(changes: readonly ChangeView[], context: TableContext): readonly Section[] {
  const [open, folded] = [changes.slice(0, MAX_OPEN_ROWS), changes.slice(MAX_OPEN_ROWS)];
  const diffs = [...Map.groupBy(changes, ({ action }) => action)].map(([action, some]) => createDiff(action, some));
  const isFolded = changes.length > MAX_OPEN_DIFFS || countLines(diffs) > MAX_OPEN_LINES;
  const rows: RowContext = { ...context, room: isFolded && changes.length <= MAX_WHOLE_ROWS ? WHOLE : SHORT };
  return [
    ...listTablePieces(open, rows),
    ...(folded.length === 0 ? [] : listFoldedPieces(folded, rows)),
    { text: context.footnote === undefined ? '' : `${escapeProse(context.footnote)}\n\n`, weight: 'create' },
    ...listDiffPieces(diffs, isFolded),
  ];
}

function listTablePieces(changes: readonly ChangeView[], context: RowContext): readonly Section[] {
  const heads = ['', 'Resource', 'What', ...(context.hasOwners ? ['Owner'] : [])];
  return [
    { text: `${renderRow(heads)}${renderRow(heads.map(() => '---'))}`, weight: 'always' },
    ...changes.map((change) => createRowPiece(change, context)),
    { text: '\n', weight: 'always' },
  ];
}

function listFoldedPieces(changes: readonly ChangeView[], context: RowContext): readonly Section[] {
  const counts = [...Map.groupBy(changes, ({ action }) => action)].map(([action, { length }]) => `${length} ${action}`);
  return listFoldSections(
    { code: `${changes.length} more`, rest: counts.join(', ') },
    listTablePieces(changes, { ...context, linkTo: (place) => context.linkTo(place, 'text') }),
  );
}

function createRowPiece(change: ChangeView, { hasOwners, linkTo, locate, room }: RowContext): Section {
  const { action, glyph, address, id, owner, fields } = change;
  const names = [address, ...(id === undefined || change.change.duplicateOf === undefined ? [] : [id])].map(renderCode);
  const { at, linkField } = createRowLinks(change, { linkTo, locate });
  const isDrift = fields.some(({ origin }) => origin === 'drift');
  const cells = [
    `${renderCode(glyph)}&nbsp;${action}${isDrift ? '<br>reverts drift' : ''}`,
    [...names, ...(at === '' ? [] : [at])].join('<br>'),
    listRemarks(change, { room, linkField }).join('<br>'),
    ...(hasOwners ? [owner === undefined ? '' : escapeProse(owner)] : []),
  ];
  return {
    text: renderRow(cells),
    weight: action,
    names: [`row of resources to ${action}`, `rows of resources to ${action}`],
  };
}

/**
 * `at`: a link to the line of the row's first field. `linkField`: a link to the line of another field; empty if it is
 * the same line.
 */
export function createRowLinks(
  row: Pick<ChangeView, 'stated'> & Parameters<typeof findFieldPlace>[0],
  { linkTo, locate }: Pick<TableContext, 'linkTo' | 'locate'>,
): { readonly at: string; readonly linkField: NonNullable<BriefOptions['linkField']> } {
  const place = findFieldPlace(row, { locate });
  return {
    at: place === undefined ? '' : linkTo(place),
    linkField: ({ stated }) => {
      const own = stated === undefined ? undefined : findFieldPlace({ change: row.change, stated }, { locate });
      return own === undefined || own.line === place?.line ? '' : linkTo(own, 'line');
    },
  };
}

/** What a row shows about a change: its protection, reason, traits, notes and fields. */
function listRemarks(change: ChangeView, options: BriefOptions): readonly string[] {
  const { action, reason, notes, protect, traits, fields, dangers } = change;
  const isWhole = action === 'create' || action === 'delete';
  return [
    ...(protect ? ['protected'] : []),
    ...joinClauses([...(reason === undefined ? [] : [escapeProse(reason)]), ...traits.map(formatClause)]),
    ...notes.map(escapeProse),
    ...(isWhole && traits.length > 0 ? [] : listBriefs(fields, { ...options, dangers })),
  ];
}

function joinClauses(clauses: readonly string[]): readonly string[] {
  return clauses.length === 0 ? [] : [clauses.join('; ')];
}

function formatClause({ said, values }: ChangeView['traits'][number]): string {
  return values === '' ? escapeProse(said) : `${escapeProse(said)} ${renderCode(values)}`;
}

interface BriefOptions {
  readonly room?: Room;
  /** Dangers that are shown above, with their values. */
  readonly dangers?: readonly DangerView[];
  /** Returns a link to the line of a field; empty if it is the line of the row, or unknown. */
  readonly linkField?: (field: FieldView) => string;
}

/** Fields in short, for a table cell. */
export function listBriefs(
  fields: readonly FieldView[],
  { room = SHORT, dangers = [], linkField = () => '' }: BriefOptions = {},
): readonly string[] {
  const hidden = fields.length - room.fields;
  const briefs = fields.slice(0, room.fields).map((field) => {
    const remarks = field.notes.length === 0 ? '' : ` (${escapeProse(field.notes.join(', '))})`;
    const danger = dangers.find((one) => isCoveredByDanger(one, field));
    if (danger !== undefined) return `${renderCode(shortenNames(field.path))}: ${linkToDanger(danger)}${remarks}`;
    return [`${renderCode(formatBrief(field, room.value))}${remarks}`, linkField(field)].filter(Boolean).join(' ');
  });
  return hidden > 0 ? [...briefs, `and ${formatCount(hidden, 'more field')}`] : briefs;
}

/** A link to the danger that shows the values of a field. */
function linkToDanger({ group, anchor }: DangerView): string {
  return renderLink(`${group} danger above`, `#${anchor}`);
}

/** The fields of all changes with one action, below a line for each resource. */
interface Diff {
  readonly action: ChangeView['action'];
  readonly lines: readonly string[];
  /** Number of resources in the diff. */
  readonly resources: number;
}

function createDiff(action: ChangeView['action'], changes: readonly ChangeView[]): Diff {
  const shown = changes.filter(({ fields, lost }) => fields.length + lost.length > 0);
  const lines = shown.flatMap(({ address, id, fields, lost, unchanged }) => [
    `@@ ${action} ${address}${id === undefined ? '' : ` (${id})`} @@`,
    ...listDiffLines([...fields, ...lost], unchanged),
  ]);
  return { action, lines, resources: shown.length };
}

function countLines(diffs: readonly Diff[]): number {
  return diffs.reduce((sum, { lines }) => sum + lines.length, 0);
}

/** One section for each action, so that each can be omitted by itself. */
function listDiffPieces(diffs: readonly Diff[], isFolded: boolean): readonly Section[] {
  const shown = diffs.filter(({ lines }) => lines.length > 0);
  const pieces = shown.map(({ action, lines }): Section => {
    const names = [`diff of resources to ${action}`, `diffs of resources to ${action}`] as const;
    return { text: `${renderFence('diff', lines)}\n\n`, weight: `${action}-fields`, names };
  });
  if (!isFolded || pieces.length === 0) return pieces;
  const resources = shown.reduce((sum, one) => sum + one.resources, 0);
  const rest = `${formatCount(countLines(shown), 'line')} on ${formatCount(resources, 'resource')}`;
  return listFoldSections({ code: 'Diff', rest }, pieces);
}

/** Fields as lines of a diff: `-` before the old value, `+` before the new one. */
export function listDiffLines(fields: readonly FieldView[], unchanged = 0): readonly string[] {
  const more = unchanged === 0 ? [] : [`  (${formatUnchangedCount(unchanged)})`];
  return [...fields.flatMap(listFieldLines), ...more];
}

function listFieldLines({ path, notes, inline, lines }: FieldView): readonly string[] {
  const remark = notes.length === 0 ? '' : `  (${notes.join(', ')})`;
  if (inline === undefined) return [`  ${path}:${remark}`, ...lines.map(formatDiffLine)];
  const { from, to, is } = inline;
  if (is !== undefined) return [`  ${path}: ${is}${remark}`];
  const before = from === undefined ? [] : [`- ${path}: ${from}${to === undefined ? remark : ''}`];
  return [...before, ...(to === undefined ? [] : [`+ ${path}: ${to}${remark}`])];
}

function formatDiffLine({ role, text }: FieldLine): string {
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
 * Renders the start of a resource's manifest as Markdown. `link`: a link if the forge is known. `text`: a position
 * without a link. `line`: a link that shows only the line, for use beside the file. Empty for standard input.
 */
export type LinkTo = (place: ManifestStart, format?: 'link' | 'text' | 'line') => string;

/**
 * Creates links to manifests in the commit that the plan was made from. Without a known page, positions are not links.
 */
export function createLinks(plan: Pick<Plan, 'made'>, options: FormatOptions): LinkTo {
  const findLink = createPlaceLinks(plan, options);
  return (place, format = 'link') => {
    const { label, page } = findLink(place) ?? {};
    if (label === undefined) return '';
    const shown = renderCode(format === 'line' ? `:${place.line}` : label);
    return page === undefined || format === 'text' ? shown : renderLink(shown, page);
  };
}

interface Footed extends Pick<Plan, 'made'> {
  readonly tool: Pick<Plan['tool'], 'version'>;
}

/** The last line of a comment: the commit, the run, the time, and the version of Edgewise. */
export function renderFooter({ made, tool }: Footed, { pipeline = {} }: FormatOptions): string {
  const { commit } = made ?? {};
  const page = commit === pipeline.commit ? pipeline.commitUrl : undefined;
  const label = commit === undefined ? '' : renderCode(shortenCommit(commit));
  const parts = [
    ...(commit === undefined ? [] : [`Commit ${page === undefined ? label : renderLink(label, page)}`]),
    ...(pipeline.runUrl === undefined
      ? []
      : [renderLink(`run ${/\d+$/.exec(pipeline.runUrl)?.[0] ?? ''}`.trim(), pipeline.runUrl)]),
    ...listTimeTexts(made?.at),
    `edgewise ${escapeProse(tool.version)}`,
  ];
  return `<sub>${parts.join(' · ')}</sub>`;
}

function listTimeTexts(at = ''): readonly string[] {
  const [, day = '', time = ''] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/.exec(at) ?? [];
  return day === '' ? [] : [`${day} ${time} UTC`];
}

/** A link to the line that a danger is about; empty: there is none. */
export type LinkToDanger = (danger: DangerView) => string;

interface DangersView {
  readonly dangers: readonly DangerView[];
  readonly dangerCount: string;
}

/**
 * The dangers by group, each with its values and a link. Each is a section of its own, so that the most severe remain
 * when some are omitted.
 */
export function listDangerSections(
  { dangers, dangerCount }: DangersView,
  linkToDanger: LinkToDanger,
): readonly Section[] {
  const items = dangers.map((danger) => renderDangerSection(danger, linkToDanger(danger)));
  return wrapInCaution(dangerCount, items);
}

/** One danger as a list item. `lead`: Markdown with its stack and owner, in a report on many stacks. */
export function renderDangerSection(
  { group, address, clause, then, owner, path, anchor }: DangerView,
  link: string,
  lead?: string,
): Section {
  const whose = owner === undefined || lead !== undefined ? '' : ` (${escapeProse(owner)})`;
  const values = clause.values === '' ? '' : ` ${renderCode(clause.values)}`;
  const said = `${escapeQuotingProse(clause.lead)}${values}${then === '' ? '' : `: ${escapeProse(then)}`}`;
  // Only rows of fields link to this anchor.
  const target = path === undefined ? '' : renderAnchor(anchor);
  const text = `> - ${lead ?? ''}**${group}** ${renderCode(address)}${whose} ${said}${link === '' ? '' : ` ${link}`}${target}\n`;
  return { text, weight: 'delete', names: ['danger', 'dangers'] };
}

/** Prose in which text in backticks becomes code. Escapes both. */
function escapeQuotingProse(text: string): string {
  return listQuoted(text)
    .map(({ piece, isCode }) => (isCode ? renderCode(piece) : escapeProse(piece)))
    .join('');
}

/** A list of dangers below their number; empty if there are none. */
export function wrapInCaution(dangerCount: string, items: readonly Section[]): readonly Section[] {
  if (items.length === 0) return [];
  const heading = `> [!CAUTION]\n> **${escapeProse(dangerCount)}**\n>\n`;
  return [{ text: heading, weight: 'always' }, ...items, { text: '\n', weight: 'always' }];
}
