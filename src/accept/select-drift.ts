import { getKind } from '../kinds/tables/registry.ts';
import type { Address } from '../model/address.ts';
import { type Difference, listKnownDifferences } from '../model/change.ts';
import type { Danger, DangerGroup } from '../model/danger.ts';
import { type Drift, type DriftedChange, isOfService } from '../model/drift.ts';
import { assertNever } from '../model/errors.ts';
import { parsePath, pathsOverlap } from '../model/field-path.ts';

/** Chooses which differences a user accepts, and says why the others stay. */

/** A resource that the user names, and what of it. */
export interface NamedDrift {
  readonly address: Address;
  /** The id of a resource that no longer exists, whose document is to be taken out. */
  readonly id?: string | undefined;
  /** A field, or a part of one, as drift shows it. Absent: the fields that have only drifted. */
  readonly field?: string | undefined;
}

/** A field of a resource that differs. */
export interface DriftedField {
  readonly change: DriftedChange;
  /** The top-level field of the spec. */
  readonly field: string;
  readonly differences: readonly Difference[];
  /** The dangers of what happened that a field has to be named for. */
  readonly dangers: readonly Danger[];
}

/** What is not accepted, and why. */
export interface SkippedDrift {
  readonly change: DriftedChange;
  /** Absent: the whole resource. */
  readonly field?: string | undefined;
  /** A clause whose subject is the field or the resource. */
  readonly reason: string;
  readonly remedy?: string | undefined;
  readonly dangers: readonly Danger[];
}

/** What the user accepts of a drift. */
export interface SelectedDrift {
  readonly fields: readonly DriftedField[];
  /** Resources that do not exist, and whose documents are taken out. */
  readonly vanished: readonly (NamedDrift & { readonly change: DriftedChange })[];
  /** What was not named, and has to be. */
  readonly leftOut: readonly SkippedDrift[];
  /** What was named, and cannot be accepted. */
  readonly refused: readonly SkippedDrift[];
  /** What was named, and does not differ. */
  readonly equal: readonly NamedDrift[];
  /** What was named, and is not in the manifests or not a field. */
  readonly unknown: readonly NamedDrift[];
}

/** Groups of dangers for which a field has to be named: the plan after an accept is empty, and would not show them. */
const NAMED_GROUPS: ReadonlySet<DangerGroup> = new Set(['access', 'traffic', 'secrets', 'ownership']);

/** `isAll`: everything that has only drifted, besides what is named. */
export function selectDrift(
  { changes }: Pick<Drift, 'changes'>,
  { isAll, named }: { readonly isAll: boolean; readonly named: readonly NamedDrift[] },
): SelectedDrift {
  const selected: { -readonly [key in keyof SelectedDrift]: SelectedDrift[key][number][] } = {
    fields: [],
    vanished: [],
    leftOut: [],
    refused: [],
    equal: [],
    unknown: [],
  };
  const byAddress = Map.groupBy(changes, ({ address }) => address);
  for (const one of named) {
    const own = byAddress.get(one.address) ?? [];
    const change = own.find(({ duplicateOf }) => duplicateOf === undefined);
    if (change === undefined || !isKnownField(change, one)) selected.unknown.push(one);
    else selectNamed(change, one, selected);
  }
  const isNamed = (change: DriftedChange): boolean =>
    named.some(({ address, field }) => address === change.address && field === undefined);
  for (const change of changes) if (isAll && !isNamed(change)) selectUnnamed(change, selected);
  return { ...selected, ...withoutRepeats(selected) };
}

type Selection = { -readonly [key in keyof SelectedDrift]: SelectedDrift[key][number][] };

function isKnownField({ kind }: DriftedChange, { field }: NamedDrift): boolean {
  if (field === undefined) return true;
  const [name] = parsePath(field) ?? [];
  return getKind(kind).specFields.some(([one]) => one === name);
}

/** Adds what a user names of a resource. */
function selectNamed(change: DriftedChange, one: NamedDrift, selected: Selection): void {
  const skipped = { change, field: one.field, dangers: [] };
  const refusal = findRefusalOfState(change);
  if (refusal !== undefined) selected.refused.push({ ...skipped, field: undefined, ...refusal });
  else if (change.state === 'missing') selectVanished(change, one, selected);
  else if (one.id !== undefined)
    selected.refused.push({ ...skipped, reason: `exists: ${change.live?.id}`, remedy: 'Leave out the id.' });
  else if (one.field === undefined) selectUnnamed(change, selected);
  else {
    const path = parsePath(one.field) ?? [];
    const found = listFields(change).flatMap(({ differences, ...field }) => {
      const own = differences.filter((difference) => isIn(difference, path));
      return own.length === 0 ? [] : [{ ...field, differences: own }];
    });
    if (found.length > 0) selected.fields.push(...found);
    else if (change.leftToOthers?.some(({ path: left }) => pathsOverlap(parsePath(left) ?? [], path)))
      selected.refused.push({
        ...skipped,
        reason: 'is left to others: lifecycle.ignore names it',
        remedy: 'Remove it from lifecycle.ignore to have it in the manifest.',
      });
    else selected.equal.push(one);
  }
}

/** Whether a difference is at a path or below it. */
function isIn({ path }: Difference, prefix: readonly (string | number)[]): boolean {
  const steps = parsePath(path) ?? [];
  return prefix.length <= steps.length && prefix.every((step, index) => step === steps[index]);
}

function selectVanished(change: DriftedChange, one: NamedDrift, selected: Selection): void {
  const { address } = change;
  const reason = 'does not exist, or was never applied';
  if (one.field !== undefined)
    selected.refused.push({ change, reason, remedy: `Name the resource alone: ${address}.`, dangers: [] });
  else selected.vanished.push({ ...one, change });
}

/** Why nothing of a resource can be accepted. */
function findRefusalOfState({
  state,
  kind,
  live,
  besideId,
  address,
}: DriftedChange): Pick<SkippedDrift, 'reason' | 'remedy'> | undefined {
  switch (state) {
    case 'to-prune':
      return {
        reason: 'has the mark of the stack, and no manifest',
        remedy: `Write its manifest: edgewise export ${kind} --owner ${live?.mark?.stack ?? 'STACK'} shows it.`,
      };
    case 'unowned':
      return besideId === undefined
        ? undefined
        : {
            reason: `does not exist, and ${besideId} is there instead, without the mark of the stack`,
            remedy: `To adopt that, add to the manifest of ${address}: lifecycle: { adopt: ${besideId} }`,
          };
    case 'missing':
    case 'drifted':
    case 'drifted-and-pending':
    case 'differs':
    case 'pending':
    case 'in-sync':
      return undefined;
    default:
      return assertNever(state);
  }
}

/** Adds the fields that have only drifted, and says why the others are left out. */
function selectUnnamed(change: DriftedChange, selected: Selection): void {
  const refusal = findRefusalOfState(change);
  if (refusal !== undefined) selected.leftOut.push({ change, ...refusal, dangers: [] });
  else if (change.state === 'missing')
    selected.leftOut.push({
      change,
      reason: 'does not exist, or was never applied',
      remedy: `To take out its document, name it: ${change.address}.`,
      dangers: [],
    });
  for (const field of refusal === undefined ? listFields(change) : []) {
    const reason = findReasonToName(field);
    if (reason === undefined) selected.fields.push(field);
    else if (field.differences.some(isOfService))
      selected.leftOut.push({ change, field: field.field, reason, dangers: field.dangers });
  }
}

function findReasonToName({ differences, dangers }: DriftedField): string | undefined {
  if (differences.some(({ origin }) => origin === 'both' || origin === 'manifest'))
    return 'was changed in its manifest too';
  if (differences.some(({ origin }) => origin === 'unknown')) return 'differs, and it is unknown which side changed';
  return dangers.length > 0 ? 'has a danger' : undefined;
}

/** The fields of a resource that differ. A value that the service does not show is no difference. */
function listFields(change: DriftedChange): readonly DriftedField[] {
  const shown = listKnownDifferences(change).filter(({ field }) => field !== undefined);
  return [...Map.groupBy(shown, ({ field }) => field ?? '')].map(([field, differences]) => ({
    change,
    field,
    differences,
    dangers: listDangersOf(change, field),
  }));
}

function listDangersOf({ driftDangers = [] }: DriftedChange, field: string): readonly Danger[] {
  return driftDangers.filter(({ group, danger, path }) => {
    if (!NAMED_GROUPS.has(group) || TIME_DANGERS.has(danger)) return false;
    const [name] = path === undefined ? [] : (parsePath(path) ?? []);
    return name === undefined || name === field;
  });
}

/** Dangers that come with time, and not with a change of a field. */
const TIME_DANGERS: ReadonlySet<Danger['danger']> = new Set(['ended', 'not-valid-yet']);

/** A field that is named, by itself or by a part of it, is not left out, and is accepted once. */
function withoutRepeats({ fields, leftOut }: Selection): Pick<SelectedDrift, 'fields' | 'leftOut'> {
  const byField = Map.groupBy(fields, ({ change, field }) => `${change.address} ${field}`);
  const merged = [...byField.values()].flatMap(([first, ...more]) =>
    first === undefined
      ? []
      : [{ ...first, differences: [...new Set([first, ...more].flatMap(({ differences }) => differences))] }],
  );
  return { fields: merged, leftOut: leftOut.filter(({ change, field }) => !byField.has(`${change.address} ${field}`)) };
}
