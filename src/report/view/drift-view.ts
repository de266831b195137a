import { findKind } from '../../kinds/tables/registry.ts';
import { toShownAddress } from '../../model/address.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import {
  countDriftStates,
  DRIFT_STATES,
  type Drift,
  type DriftState,
  type ResourceDrift,
  toCoverage,
} from '../../model/drift.ts';
import { toPrintable } from '../../model/printable.ts';
import type { FormOptions } from '../report.ts';
import { toPrintableDiagnostic } from './diagnostic-view.ts';
import { STATE_HEADINGS, toCoverageSentence, toDriftSummary, toDriftTitle } from './drift-wording.ts';
import { toWord } from './escape.ts';
import { type FieldView, type OriginWords, toDifferenceView } from './field-view.ts';
import { listNarrowing } from './plan-wording.ts';
import { redactDrift } from './redact.ts';
import type { Names } from './value-lines.ts';
import { toReadSentence } from './wording.ts';

/** The one view of a comparison that all forms for people share: printable texts in reading order. */
export interface DriftView {
  readonly title: string;
  readonly notes: readonly string[];
  /** What is not as it should be, by state; none of them is empty. */
  readonly groups: readonly DriftGroup[];
  readonly counts: Readonly<Record<DriftState, number>>;
  /** What it comes to, in one sentence. */
  readonly summary: string;
  /** How much of what is live somebody manages, in one sentence. */
  readonly coverage: string;
  /** What reading took, in one sentence. */
  readonly requests: string;
  readonly diagnostics: readonly Diagnostic[];
}

/** The resources of one state. */
export interface DriftGroup {
  readonly state: Exclude<DriftState, 'in-sync'>;
  /** What the state means. */
  readonly heading: string;
  readonly resources: readonly DriftedView[];
}

/** One resource that is not as it should be. */
export interface DriftedView {
  readonly kind: string;
  readonly address: string;
  readonly id?: string;
  readonly reason?: string;
  /** Fields that drifted, and of which nobody knows what they were. */
  readonly moved: readonly string[];
  /** What is live, and what it should be. */
  readonly fields: readonly FieldView[];
}

/** The view of a comparison. */
export function toDriftView(compared: Drift, { isPart = false }: Pick<FormOptions, 'isPart'> = {}): DriftView {
  const drift = redactDrift(compared);
  const { against, targets, strangers } = drift;
  const groups = listGroups(drift);
  const counts = countDriftStates(drift);
  return {
    title: toDriftTitle(drift),
    notes: [
      ...(against === undefined ? [] : [`Compared with the planned result of ${toPrintable(against)}.`]),
      ...listNarrowing(targets),
    ],
    groups,
    counts,
    summary: toDriftSummary(counts, groups.length === 0),
    coverage: toCoverageSentence(toCoverage(drift), {
      unmanaged: countBy(strangers.filter(({ stack }) => stack === undefined).map(({ kind }) => kind)),
      foreign: countBy(strangers.flatMap(({ stack }) => stack ?? [])),
    }),
    requests: isPart ? '' : toReadSentence(drift.requests),
    diagnostics: drift.diagnostics.map(toPrintableDiagnostic),
  };
}

function listGroups(drift: Drift): readonly DriftGroup[] {
  const names = toNames(drift);
  return DRIFT_STATES.flatMap((state): readonly DriftGroup[] => {
    const found = drift.resources.filter((resource) => resource.state === state);
    if (state === 'in-sync' || found.length === 0) return [];
    return [{ state, heading: STATE_HEADINGS[state], resources: found.map((one) => toDriftedView(one, names)) }];
  });
}

function toNames({ resources, externals }: Drift): Names {
  const named = Object.entries(externals).map(([address, id]) => [id, address] as const);
  return new Map([
    ...named,
    ...resources.flatMap((one) => (one.id === undefined ? [] : [[one.id, toShownAddress(one)] as const])),
  ]);
}

const ORIGINS: OriginWords = { drift: 'drifted', both: 'changed here and drifted' };

function toDriftedView(
  { address, kind, id, reason, moved = [], differences }: ResourceDrift,
  names: Names,
): DriftedView {
  const context = { kind: findKind(kind), names, origins: ORIGINS };
  return {
    kind: toWord(kind),
    address: toWord(address),
    ...(id !== undefined && { id: toWord(id) }),
    ...(reason !== undefined && { reason: toPrintable(reason) }),
    moved: moved.map(toWord),
    fields: differences.map((difference) => toDifferenceView(difference, context)),
  };
}

function countBy(words: readonly string[]): readonly (readonly [string, number])[] {
  const counts = Map.groupBy(words, (word) => word);
  return [...counts].map(([word, all]) => [toWord(word), all.length] as const).sort();
}
