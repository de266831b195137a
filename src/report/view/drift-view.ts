import { findKind } from '../../kinds/tables/registry.ts';
import { toBaseAddress } from '../../model/change.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import {
  type Coverage,
  countDriftStates,
  DRIFT_STATES,
  type Drift,
  type DriftState,
  type ResourceDrift,
  toCoverage,
} from '../../model/drift.ts';
import { toPrintable } from '../../model/printable.ts';
import { toWord } from './escape.ts';
import { type FieldView, type OriginWords, toDifferenceView } from './field-view.ts';
import { toSubject } from './plan-view.ts';
import { toPrintableDiagnostic } from './printable-diagnostic.ts';
import { redactDrift } from './redact.ts';
import type { Names } from './value-lines.ts';

/** The one view of a comparison that all forms for people share: printable texts in reading order. */
export interface DriftView {
  readonly title: string;
  readonly notes: readonly string[];
  /** What is not as it should be, by state; none of them is empty. */
  readonly groups: readonly DriftGroup[];
  readonly counts: Readonly<Record<DriftState, number>>;
  readonly coverage: Coverage;
  /** Number of resources that nobody manages, by kind. */
  readonly unmanaged: readonly (readonly [kind: string, number: number])[];
  /** Number of resources of other stacks, by stack. */
  readonly foreign: readonly (readonly [stack: string, number: number])[];
  readonly diagnostics: readonly Diagnostic[];
  readonly requests: number;
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

/** What each state means to a reader. */
export const DRIFT_HEADINGS: Readonly<Record<Exclude<DriftState, 'in-sync'>, string>> = {
  drifted: 'Changed at the service',
  'drifted-and-pending': 'Changed at the service and in the manifests',
  differs: 'Different, and nothing says who changed it',
  missing: 'Not there: never applied, or deleted at the service',
  pending: 'Changed in the manifests and not applied yet',
  'left-over': 'Ours, and in no manifest any more',
};

/** The view of a comparison. */
export function toDriftView(compared: Drift): DriftView {
  const drift = redactDrift(compared);
  const { against, targets, strangers } = drift;
  return {
    title: `Drift of ${toSubject(drift)}`,
    notes: [
      ...(against === undefined ? [] : [`Compared with what ${toPrintable(against)} would have left.`]),
      ...(targets.length === 0 ? [] : [`Narrowed to ${targets.map(toWord).join(', ')}, with what is needed for it.`]),
    ],
    groups: listGroups(drift),
    counts: countDriftStates(drift),
    coverage: toCoverage(drift),
    unmanaged: countBy(strangers.filter(({ stack }) => stack === undefined).map(({ kind }) => kind)),
    foreign: countBy(strangers.flatMap(({ stack }) => stack ?? [])),
    diagnostics: drift.diagnostics.map(toPrintableDiagnostic),
    requests: drift.requests,
  };
}

function listGroups(drift: Drift): readonly DriftGroup[] {
  const names = toNames(drift);
  return DRIFT_STATES.flatMap((state): readonly DriftGroup[] => {
    const found = drift.resources.filter((resource) => resource.state === state);
    if (state === 'in-sync' || found.length === 0) return [];
    return [{ state, heading: DRIFT_HEADINGS[state], resources: found.map((one) => toDriftedView(one, names)) }];
  });
}

function toNames({ resources, externals }: Drift): Names {
  const named = Object.entries(externals).map(([address, id]) => [id, address] as const);
  return new Map([
    ...named,
    ...resources.flatMap(({ address, id }) => (id === undefined ? [] : [[id, address] as const])),
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
    address: toWord(toBaseAddress(address)),
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
