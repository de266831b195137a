import { findKind } from '../../kinds/tables/registry.ts';
import { type Change, formatAction, formatChangeAddress, isProtected } from '../../model/change.ts';
import { countDangersByGroup } from '../../model/danger.ts';
import type { Place } from '../../model/place.ts';
import type { Plan } from '../../model/plan.ts';
import {
  type DangerLine,
  type DangersBlock,
  type EntriesBlock,
  type Entry,
  type EntryDetails,
  type Field,
  type PlaceLink,
  type ShownFinding,
  type Span,
  type Text,
  toCode,
} from '../document.ts';
import type { FormatOptions } from '../report.ts';
import {
  type ChangeShare,
  countUnchanged,
  createFieldContext,
  formatReason,
  formatWarningNote,
  GLYPHS,
  listChangeNotes,
  listResourceSummaryClauses,
  type SummaryClauseView,
} from '../view/change-wording.ts';
import {
  type DangerView,
  findDangerSourcePlace,
  formatDangerCounts,
  isFieldCoveredByDanger,
  listDangerViews,
  splitAtBackticks,
} from '../view/danger-view.ts';
import { quoteIfNeeded } from '../view/escape.ts';
import {
  createDifferenceView,
  type FieldView,
  formatPathWithTargetName,
  listNonDefaultFieldViews,
  listTokenCommandFields,
} from '../view/field-view.ts';
import { createPlaceLinks } from '../view/finding-wording.ts';
import { formatTeam } from '../view/plan-wording.ts';
import type { RepeatedNotes } from '../view/repeated-notes.ts';
import type { ResourceNames } from '../view/value-text.ts';
import { createFinding } from './create-finding.ts';

/** What `findPlace` needs of an entry, a danger or a field. */
type Placed = Parameters<typeof findDangerSourcePlace>[0];

/** Returns the position of what a manifest says about an entry, a danger or a field. Undefined if it is unknown. */
export type FindPlaceLink = (about: Placed) => PlaceLink | undefined;

export function createPlaceFinder(plan: Pick<Plan, 'made'>, options: FormatOptions): FindPlaceLink {
  const findLink = createPlaceLinks(plan, options);
  return (about) => {
    const place: Place | undefined = findDangerSourcePlace(about, options);
    const link = place === undefined ? undefined : findLink(place);
    return place === undefined || link === undefined ? undefined : { ...link, line: place.line };
  };
}

interface DangerContext {
  readonly findPlace: FindPlaceLink;
  readonly entries: readonly Entry[];
  readonly createFinding: (danger: DangerView) => ShownFinding;
}

/** Empty if there are no dangers. */
export function listDangersBlocks(
  dangers: readonly DangerView[],
  { findPlace, entries, createFinding: createOwnFinding }: DangerContext,
): readonly DangersBlock[] {
  if (dangers.length === 0) return [];
  const anchors = new Map(entries.toReversed().map(({ address, anchor }) => [address, anchor]));
  const lines = dangers.map((one) => ({ ...createDangerLine(one, findPlace), entry: anchors.get(one.address) }));
  const findings = dangers.map(createOwnFinding);
  return [{ block: 'dangers', count: formatDangerCounts(countDangersByGroup(dangers)), dangers: lines, findings }];
}

export function createDangerLine(danger: DangerView, findPlace: FindPlaceLink): DangerLine {
  const { group, address, team, anchor } = danger;
  return { group, address, team, anchor, said: formatDanger(danger), place: findPlace(danger) };
}

/** The clause of a danger. Its values, and what it has in backticks, are code. */
export function formatDanger({ clause, then }: DangerView): Text {
  return [
    ...quoteAtBackticks(clause.lead),
    ...(clause.values === '' ? [] : [' ', toCode(clause.values)]),
    ...(then === '' ? [] : [': ', ...quoteAtBackticks(then)]),
  ];
}

function quoteAtBackticks(text: string): readonly Span[] {
  return splitAtBackticks(text).map(({ piece, isCode }) => (isCode ? { text: piece, style: 'quoted' } : piece));
}

export function formatTrait({ said, values }: SummaryClauseView): Text {
  return values === '' ? said : [`${said} `, toCode(values)];
}

/** A field with its place, unless that is the line of its entry, and with the danger that has its values. */
export function createField(
  field: FieldView,
  {
    change,
    place,
    dangers,
    findPlace,
  }: Pick<Placed, 'change'> & {
    readonly place: PlaceLink | undefined;
    readonly dangers: readonly DangerView[];
    readonly findPlace: FindPlaceLink;
  },
): Field {
  const { manifestPath } = field;
  const own = manifestPath === undefined ? undefined : findPlace({ change, manifestPath });
  const danger = dangers.find((one) => isFieldCoveredByDanger(one, field));
  return {
    ...field,
    place: own?.line === place?.line ? undefined : own,
    danger: danger === undefined ? undefined : { group: danger.group, anchor: danger.anchor },
  };
}

export interface EntryContext {
  readonly anchor: string;
  readonly names: ResourceNames;
  readonly findPlace: FindPlaceLink;
  /** Notes that the report says once, for many changes. */
  readonly repeated?: RepeatedNotes | undefined;
  /** Warnings that the change causes. */
  readonly warnings?: readonly ShownFinding[] | undefined;
  readonly order?: number | undefined;
}

/** A change in one part of a plan. Only its first part has facts about the whole change. */
export function createChangeEntry(share: ChangeShare, context: EntryContext): Entry {
  const { change, action, isContinued } = share;
  const { kind, address, live, dangers = [], duplicateOf } = change;
  return {
    anchor: context.anchor,
    glyph: GLYPHS[action],
    kind: quoteIfNeeded(kind),
    address: quoteIfNeeded(address),
    id: live === undefined ? undefined : quoteIfNeeded(live.id),
    isDuplicate: duplicateOf !== undefined,
    isContinued,
    group: action,
    label: formatAction(action),
    reason: isContinued ? undefined : formatReason(change),
    isProtected: isProtected(change) && !isContinued,
    team: formatTeam(change),
    dangerGroups: dangers.map(({ group }) => group),
    isHeeded: action === 'delete' || action === 'replace' || (dangers.length > 0 && !isContinued),
    describe: () => describeChange(share, context),
    listFindings: () =>
      isContinued ? [] : listChangeFindings(change).map((finding) => ({ ...finding, order: context.order })),
  };
}

/** A delete or a replace, and what an apply reverts. Dangers are in their own block. */
function listChangeFindings(change: Change): readonly ShownFinding[] {
  const { action, reason, live, differences } = change;
  const address = formatChangeAddress(change);
  const id = live === undefined ? '' : ` (${quoteIfNeeded(live.id)})`;
  const lost = `${quoteIfNeeded(address)}${id} will be ${action}d${reason === undefined ? '' : `: ${reason}`}`;
  const drifted = differences.filter(({ origin }) => origin === 'drift' || origin === 'both');
  const reverted = `${quoteIfNeeded(change.address)}: ${drifted.map(({ path }) => path).join(', ')} changed at the service; the apply sets the values of the manifest`;
  return [
    ...(action === 'delete' || action === 'replace'
      ? [createFinding(action, 'warning', lost, { address, nature: 'danger' })]
      : []),
    ...(drifted.length === 0 ? [] : [createFinding('drift', 'notice', reverted, { address: change.address })]),
  ];
}

/** What differs: of a create, all fields that are not at their defaults. */
export function describeChange(
  share: ChangeShare,
  { names, findPlace, repeated, warnings = [] }: Omit<EntryContext, 'anchor'>,
): EntryDetails {
  const { change, action, differences, isContinued } = share;
  const { duplicateOf, kind, token } = change;
  const said = duplicateOf === undefined && !isContinued ? warnings.map(formatWarningNote) : [];
  const context = createFieldContext(share, names);
  const created = action === 'create' ? change.desired : undefined;
  const deleted = action === 'delete' ? change.live?.spec : undefined;
  const described = created ?? deleted;
  const dangers = isContinued ? [] : listDangerViews([change], names);
  const [first] = differences;
  const place = findPlace({ change, manifestPath: first && formatPathWithTargetName(first.path, context) });
  const fields = [
    ...(created === undefined
      ? differences.map((difference) => createDifferenceView(difference, context))
      : listNonDefaultFieldViews(created, 'added', context)),
    ...(isContinued ? [] : listTokenCommandFields(token)),
  ];
  const lost = deleted === undefined ? [] : listNonDefaultFieldViews(deleted, 'removed', context);
  return {
    place,
    traits:
      described === undefined ? [] : listResourceSummaryClauses(findKind(kind), described, names).map(formatTrait),
    dangers: dangers.map((one) => ({ group: one.group, said: formatDanger(one) })),
    notes: isContinued ? [] : [...listChangeNotes(withoutRepeated(change, repeated), names), ...said],
    warnings: said,
    fields: fields.map((field) => createField(field, { change, place, dangers, findPlace })),
    lost: lost.map((field) => createField(field, { change, place, dangers, findPlace })),
    unchanged: isContinued ? 0 : countUnchanged(change),
  };
}

function withoutRepeated(change: Change, repeated: RepeatedNotes = new Map()): Change {
  const { action, notes } = change;
  if (action !== 'adopt' || notes === undefined) return change;
  return { ...change, notes: notes.filter((note) => !repeated.has(note)) };
}

interface EntryGroup<Item> {
  readonly heading: string | undefined;
  readonly items: readonly Item[];
}

/** Creates a block for each group. The numbers of the entries, which start at 1, do not start again in a group. */
export function createEntriesBlocks<Item>(
  groups: readonly EntryGroup<Item>[],
  by: Omit<EntriesBlock, 'block' | 'heading' | 'entries'>,
  createEntry: (item: Item, number: number) => Entry,
): readonly EntriesBlock[] {
  let number = 0;
  return groups.map(({ heading, items }) => {
    const entries = items.map((item) => {
      number += 1;
      return createEntry(item, number);
    });
    return { block: 'entries', heading, ...by, entries };
  });
}

/** Entries of changes, which may have different actions. */
export const BY_ACTION = { by: 'Action', hasLabels: true, hasNext: false } as const;
