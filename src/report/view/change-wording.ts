import { isUnset } from '../../kinds/canonical.ts';
import { renderTimeSpan } from '../../kinds/duration.ts';
import type { Kind } from '../../kinds/kind.ts';
import { findKind } from '../../kinds/tables/registry.ts';
import {
  CHANGE_ACTIONS,
  type Change,
  type ChangingAction,
  type Difference,
  isAdoptOrTakeOverAction,
  isCreation,
} from '../../model/change.ts';
import { parsePath, pathsOverlap } from '../../model/field-path.ts';
import { isJsonObject, type Json } from '../../model/json.ts';
import { toPrintable } from '../../model/printable.ts';
import type { Spec } from '../../model/state.ts';
import { formatTokenNote } from '../../model/token-sink.ts';
import type { ShownFinding } from '../document.ts';
import { formatShortList, listScalarTexts } from './danger-view.ts';
import { quoteIfNeeded } from './escape.ts';
import type { DifferenceCauseNotes, ValueRenderingContext } from './field-view.ts';
import { listNonDefaultLeaves } from './leaves.ts';
import { listLeftNotes, listSpellingNotes } from './left-values.ts';
import { CHANGE_ORIGIN_HEADINGS, formatDefaultAdoptReason } from './plan-wording.ts';
import type { ResourceNames } from './value-text.ts';

/**
 * A part of the changes of a plan. `losses`: deletes and replaces. `change`: changes of the manifests. `missing`:
 * creates of resources that are new or were deleted at the service. `drift`: changes at the service, which the apply
 * will revert.
 */
export interface PlanPart {
  readonly part: 'losses' | 'change' | 'missing' | 'drift';
  /** Absent in a plan without drift. */
  readonly heading?: string | undefined;
  /** Sorted by action, in the order of CHANGE_ACTIONS. Never empty. */
  readonly changes: readonly ChangeShare[];
}

/** A change with the subset of its differences that one part of the plan shows. */
export interface ChangeShare {
  readonly change: Change;
  readonly action: ChangingAction;
  readonly differences: readonly Difference[];
  /** Whether an earlier part shows the other differences of the change. */
  readonly isContinued: boolean;
}

/**
 * The parts of a plan that are not empty, in reading order. A change with both manifest changes and drift is in two
 * parts, each with its own differences. A plan without drift is one part.
 */
export function listPlanParts(changes: readonly Change[]): readonly PlanPart[] {
  const shares = CHANGE_ACTIONS.flatMap((action) =>
    changes.filter((change) => change.action === action).flatMap((change) => divideByOrigin(change, action)),
  );
  if (shares.length === 0) return [];
  if (!shares.some(({ part }) => part === 'drift')) return [{ part: 'change', heading: undefined, changes: shares }];
  return (['losses', 'change', 'missing', 'drift'] as const).flatMap((part): readonly PlanPart[] => {
    const own = shares.filter((share) => share.part === part);
    return own.length === 0 ? [] : [{ part, heading: CHANGE_ORIGIN_HEADINGS[part], changes: own }];
  });
}

interface Share extends ChangeShare {
  readonly part: PlanPart['part'];
}

/**
 * Assigns a change to one or two parts. A change with a `reason` is also in the part `change`, even if all its
 * differences are drift.
 */
function divideByOrigin(change: Change, action: ChangingAction): readonly Share[] {
  const { differences, reason } = change;
  const whole = { change, action, differences, isContinued: false };
  if (action === 'delete' || action === 'replace') return [{ ...whole, part: 'losses' }];
  if (action === 'create') return [{ ...whole, part: 'missing' }];
  const drifted = differences.filter(({ origin }) => origin === 'drift');
  if (drifted.length === 0) return [{ ...whole, part: 'change' }];
  const others = differences.filter(({ origin }) => origin !== 'drift');
  if (others.length === 0 && reason === undefined) return [{ ...whole, part: 'drift' }];
  return [
    { ...whole, differences: others, part: 'change' },
    { ...whole, differences: drifted, part: 'drift', isContinued: true },
  ];
}

export const GLYPHS: Readonly<Record<ChangingAction, string>> = {
  delete: '-',
  replace: '±',
  withhold: '×',
  update: '~',
  release: '«',
  'take-over': '»',
  adopt: '»',
  create: '+',
};

/**
 * Notes on the origins of differences. Origins that readers expect have no note: changes of the manifest and, for an
 * adoption or a take-over, all differences (see `chooseOrigins`).
 */
const ORIGINS: DifferenceCauseNotes = {
  drift: 'reverts',
  both: 'changed here and drifted',
  unknown: 'changed here or drifted',
};

/** What the views of the fields of a change need. */
export function createFieldContext({ change, action }: ChangeShare, names: ResourceNames): ValueRenderingContext {
  return { kind: findKind(change.kind), names, origins: isAdoptOrTakeOverAction(action) ? {} : ORIGINS };
}

/** The reason for a change. Undefined if its differences explain it. */
export function formatReason({ action, reason, live }: Change): string | undefined {
  if (reason !== undefined) return toPrintable(reason);
  return action === 'adopt' && live !== undefined ? formatDefaultAdoptReason(quoteIfNeeded(live.id)) : undefined;
}

/** The number of fields that the change keeps, without fields at their defaults. */
export function countUnchanged({ action, kind: kindName, desired, differences }: Change): number {
  const kind = findKind(kindName);
  const isKept = action === 'update' || action === 'replace' || isAdoptOrTakeOverAction(action);
  if (kind === undefined || desired === undefined || !isKept) return 0;
  const paths = differences.map(({ path }) => parsePath(path) ?? []);
  return listNonDefaultLeaves(kind, desired).filter(({ path }) => !paths.some((changed) => pathsOverlap(changed, path)))
    .length;
}

/** A warning as a note: the message, then its position or, if it has no position, the remedy. */
export function formatWarningNote({ rule, message, address, place, remedy }: ShownFinding): string {
  const said = message.replace(`${address}: `, '');
  const at = place === undefined ? '' : ` (${place.file}:${place.line}:${place.column})`;
  return `warning[${rule}]: ${said}${at}${at === '' && remedy !== undefined ? `. ${remedy.replaceAll('\n', ' ')}` : ''}`;
}

/**
 * Notes on a change for the user who approves it: the notes of the plan, and notes that are derived from the change
 * itself, so that an edit of the plan file cannot remove them.
 */
export function listChangeNotes(change: Change, names: ResourceNames): readonly string[] {
  const { token, notes = [], validForMs, ignored = [], dangers = [] } = change;
  const isMade = isCreation(change);
  // The `token` danger, if there is one, already names the token sink.
  const isTokenSaid = dangers.some(({ danger, to }) => danger === 'token' && to !== undefined);
  return [
    ...(token === undefined || isTokenSaid ? [] : [formatTokenNote(token)]),
    ...notes,
    ...(isMade && validForMs !== undefined ? [`valid for ${renderTimeSpan(validForMs)} from its creation`] : []),
    ...listLeftNotes(change, names, ignored),
    ...listSpellingNotes(change),
  ].map(toPrintable);
}

/** A clause about a resource: a text such as `listens on`, then the values of a field. */
export interface SummaryClauseView {
  readonly said: string;
  /** Empty if the clause needs no value. */
  readonly values: string;
}

/**
 * Describes a resource in clauses: where it listens, what its target is, who may use it. The kind's table defines the
 * clause of a field in `summary`.
 */
export function listResourceSummaryClauses(
  kind: Kind | undefined,
  spec: Spec,
  names: ResourceNames,
): readonly SummaryClauseView[] {
  if (kind === undefined) return [];
  return kind.specFields.flatMap(([name, { summary, type }]) => {
    if (summary === undefined) return [];
    const value = spec[name];
    const values = isOff(value) ? [] : listScalarTexts(type, value ?? null, names);
    if (values.length > 0) return [{ said: summary.prefix, values: formatShortList(values) }];
    return summary.unset === undefined ? [] : [{ said: summary.unset, values: '' }];
  });
}

function isOff(value: Json | undefined): boolean {
  return isUnset(value) || value === false || (isJsonObject(value) && value['enabled'] === false);
}
