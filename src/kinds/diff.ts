import deepDiff from 'deep-diff';
import type { Difference } from '../model/change.ts';
import { formatPath } from '../model/field-path.ts';
import { isJsonArray, isJsonObject, isSameJson, type Json, toCanonicalJson } from '../model/json.ts';
import type { FieldPath, Spec } from '../model/state.ts';
import type { Field, FieldType } from './field.ts';
import type { Kind } from './kind.ts';

/** A difference whose origin is not computed yet. `field` is the top-level field that contains it. */
interface FieldDiff extends Omit<Difference, 'origin' | 'isHidden'> {
  readonly field: string;
}

/**
 * The differences between two specs in normal form, in the order of the kind's table. Skips fields that the desired
 * spec does not contain.
 */
export function diff(kind: Kind, live: Spec, desired: Spec): readonly FieldDiff[] {
  const differences: FieldDiff[] = [];
  for (const [name, field] of kind.specFields) {
    const from = live[name];
    const to = desired[name];
    if (to === undefined || (from !== undefined && isSameJson(from, to))) continue;
    differences.push(...diffField(name, field, from ?? null, to));
  }
  return differences;
}

function diffField(name: string, field: Field, from: Json, to: Json): readonly FieldDiff[] {
  const found = from === null || to === null ? [{ steps: [], from, to }] : diffMembers(field.type, from, to);
  return found.map(({ steps, ...sides }) => ({
    field: name,
    path: formatPath([name, ...steps]),
    ...pickSide('from', sides.from, steps.length === 0),
    ...pickSide('to', sides.to, steps.length === 0),
    forcesReplace: field.lifecycle === 'immutable',
  }));
}

/**
 * Returns one side of a difference. Empty if the value is absent or null, or if the value of a whole field is an empty
 * string. Inside a map, an empty string is a value.
 */
function pickSide<Side extends 'from' | 'to'>(
  side: Side,
  value: Json | undefined,
  isWhole: boolean,
): { readonly [key in Side]?: Json } {
  const isNothing = value === undefined || value === null || (isWhole && value === '');
  return isNothing ? {} : ({ [side]: value } as { readonly [key in Side]: Json }); // TypeScript widens a computed key
}

/** The difference of a member. A side is `undefined` if it has no such member. */
interface MemberDiff {
  readonly steps: FieldPath;
  readonly from: Json | undefined;
  readonly to: Json | undefined;
}

/** The members of a value that differ. A set, a list of plain values and free JSON in a member are compared as a whole. */
function diffMembers(type: FieldType, from: Json, to: Json): readonly MemberDiff[] {
  const values = new Map<unknown, Json>();
  const changes = deepDiff(toComparable(type, from, values), toComparable(type, to, values)) ?? [];
  return changes.map((change) => ({
    steps: (change.path ?? []).map((key) => JSON.parse(key)),
    from: 'lhs' in change ? values.get(change.lhs) : undefined,
    to: 'rhs' in change ? values.get(change.rhs) : undefined,
  }));
}

/** Input of the `deep-diff` package: the text of what is compared as a whole, and objects by encoded steps. */
type Comparable = string | { readonly [step: string]: Comparable };

/**
 * Converts a value for `deep-diff`, and notes which value a part of the result stands for. Steps are encoded as JSON,
 * because `deep-diff` does not see an empty key that is added, reports the members of lists last to first, and otherwise
 * keeps the order of keys, in which JavaScript moves numbers to the front.
 */
function toComparable(type: FieldType | undefined, value: Json, values: Map<unknown, Json>): Comparable {
  const members = type && listComparedMembers(type, value);
  const comparable =
    members === undefined
      ? toCanonicalJson(value)
      : Object.fromEntries(
          members.map(([step, inner, member]) => [JSON.stringify(step), toComparable(inner, member, values)]),
        );
  values.set(comparable, value);
  return comparable;
}

type ComparedMember = readonly [step: string | number, type: FieldType | undefined, member: Json];

/** The members that are compared one by one: fields in the order of the table, then other keys. */
function listComparedMembers(type: FieldType, value: Json): readonly ComparedMember[] | undefined {
  if (type.type === 'list' && type.of.type === 'object' && isJsonArray(value))
    return value.map((member, index) => [index, type.of, member]);
  if (!isJsonObject(value) || !TYPES_WITH_KEYS.has(type.type)) return undefined;
  const fields = type.type === 'object' ? type.fields : {};
  const others = Object.keys(value).filter((key) => !Object.hasOwn(fields, key));
  return [...Object.keys(fields), ...others.sort()].flatMap((key): readonly ComparedMember[] => {
    const inner = type.type === 'map' ? type.of : Object.hasOwn(fields, key) ? fields[key]?.type : undefined;
    return Object.hasOwn(value, key) ? [[key, inner, value[key] ?? null]] : [];
  });
}

const TYPES_WITH_KEYS: ReadonlySet<FieldType['type']> = new Set(['map', 'object', 'json', 'metadata']);
