import { formatAction } from '../../model/change.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Place } from '../../model/place.ts';
import type { Plan } from '../../model/plan.ts';
import {
  type DangerLine,
  type DangersBlock,
  type DiagnosticsBlock,
  type EntriesBlock,
  type Entry,
  type EntryDetails,
  type Field,
  type PlaceLink,
  type Sentence,
  type Span,
  type Text,
  toCode,
} from '../document.ts';
import type { FormatOptions } from '../report.ts';
import type { ChangeHead, ChangeView, SummaryClauseView } from '../view/change-view.ts';
import {
  type DangerView,
  findDangerSourcePlace,
  isFieldCoveredByDanger,
  splitAtBackticks,
} from '../view/danger-view.ts';
import { createPlaceLinks } from '../view/diagnostic-view.ts';
import type { FieldView } from '../view/field-view.ts';

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
}

/** Empty if there are no diagnostics. */
export function listDiagnosticsBlocks(diagnostics: readonly Diagnostic[]): readonly DiagnosticsBlock[] {
  return diagnostics.length === 0 ? [] : [{ block: 'diagnostics', diagnostics }];
}

/** Empty if there are no dangers. */
export function listDangersBlocks(
  { dangers, dangerCount }: { readonly dangers: readonly DangerView[]; readonly dangerCount: string },
  { findPlace, entries }: DangerContext,
): readonly DangersBlock[] {
  if (dangers.length === 0) return [];
  const anchors = new Map(entries.toReversed().map(({ address, anchor }) => [address, anchor]));
  const lines = dangers.map((one) => ({ ...createDangerLine(one, findPlace), entry: anchors.get(one.address) }));
  return [{ block: 'dangers', count: dangerCount, dangers: lines }];
}

export function createDangerLine(danger: DangerView, findPlace: FindPlaceLink): DangerLine {
  const { group, address, owner, anchor } = danger;
  return { group, address, owner, anchor, said: formatDanger(danger), place: findPlace(danger) };
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
  readonly findPlace: FindPlaceLink;
}

export function createChangeEntry(
  head: ChangeHead,
  show: () => ChangeView,
  { anchor, findPlace }: EntryContext,
): Entry {
  const { action, glyph, kind, address, id, reason, protect, owner, change, isContinued } = head;
  const dangerGroups = (change.dangers ?? []).map(({ group }) => group);
  return {
    anchor,
    glyph,
    kind,
    address,
    id,
    isDuplicate: change.duplicateOf !== undefined,
    isContinued,
    group: action,
    label: formatAction(action),
    reason,
    isProtected: protect && !isContinued,
    owner,
    dangerGroups,
    isHeeded: action === 'delete' || action === 'replace' || (dangerGroups.length > 0 && !isContinued),
    describe: () => describeChange(show(), findPlace),
  };
}

/** A change of a plan in full. */
export function describeChange(view: ChangeView, findPlace: FindPlaceLink): EntryDetails {
  const { traits, dangers, notes, warnings, fields, lost, unchanged } = view;
  const context = { change: view.change, place: findPlace(view), dangers, findPlace };
  return {
    place: context.place,
    traits: traits.map(formatTrait),
    dangers: dangers.map((one) => ({ group: one.group, said: formatDanger(one) })),
    notes,
    warnings,
    fields: fields.map((field) => createField(field, context)),
    lost: lost.map((field) => createField(field, context)),
    unchanged,
  };
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

/** Sentences that point to diagnostics and dangers. Empty texts are left out by `listSaid`. */
export function listPointers(found: string, dangerCount: string): readonly Sentence[] {
  return [
    { role: 'pointer', to: 'diagnostics', text: found, tone: 'warning' },
    { role: 'pointer', to: 'dangers', text: dangerCount === '' ? '' : `! ${dangerCount}`, tone: 'error' },
  ];
}

/** Leaves out sentences without a text. */
export function listSaid(sentences: readonly Sentence[]): readonly Sentence[] {
  return sentences.filter(({ text }) => text !== '');
}
