import deepDiff from 'deep-diff';
import type { Field, FieldType } from '../kinds/field.ts';
import { fillUnknown } from '../kinds/fill-unknown.ts';
import { type Kind, listSpecFields } from '../kinds/kind.ts';
import { normalizeSpec } from '../kinds/normalize.ts';
import { toPathText } from '../model/field-path.ts';
import { isJsonArray, isJsonObject, isSameJson, type Json } from '../model/json.ts';
import type { FieldPath, Spec } from '../model/state.ts';
import { type Described, isReplacedForChoice } from './unstated.ts';

/** A difference before its origin is known. `field` is the top-level field that it is in. */
export interface FieldDifference {
  readonly field: string;
  readonly path: string;
  readonly from?: Json;
  readonly to?: Json;
  readonly forcesReplace: boolean;
}

/**
 * The differences between two specs in normal form, in the order of the kind's table. A field that the desired spec
 * does not have is not compared.
 */
export function diffSpecs(kind: Kind, live: Spec, desired: Spec): readonly FieldDifference[] {
  const found: FieldDifference[] = [];
  for (const [name, field] of listSpecFields(kind)) {
    const from = live[name];
    const to = desired[name];
    if (to === undefined || (from !== undefined && isSameJson(from, to))) continue;
    found.push(...diffField(name, field, from ?? null, to));
  }
  return found;
}

/** Whether making a live spec what a manifest says takes a new resource. Ignored fields don't count, nor what the service does not show. */
export function forcesReplace(described: Described, desired: Spec): boolean {
  const { kind, live, ignored } = described;
  const normal = normalizeSpec(kind, desired);
  const known = fillUnknown(kind, live.spec, normal);
  if (isReplacedForChoice(described, normal)) return true;
  return listSpecFields(kind).some(([name, field]) => {
    const to = normal[name];
    if (field.lifecycle !== 'immutable' || to === undefined || ignored.includes(name)) return false;
    return !isSameJson(known[name] ?? null, to);
  });
}

function diffField(name: string, field: Field, from: Json, to: Json): readonly FieldDifference[] {
  const paths = from === null || to === null ? [[name]] : listPaths(name, field.type, from, to);
  const byText = new Map(paths.map((path) => [toPathText(path), path]));
  return [...byText].map(([path, steps]) => ({
    field: name,
    path,
    ...toSide('from', valueAt(from, steps.slice(1)), steps.length === 1),
    ...toSide('to', valueAt(to, steps.slice(1)), steps.length === 1),
    forcesReplace: field.lifecycle === 'immutable',
  }));
}

/** Absent and null read as "no value", and so does the empty text of a whole field; in a map an empty text is a value. */
function toSide<Side extends 'from' | 'to'>(
  side: Side,
  value: Json | undefined,
  isWhole: boolean,
): { readonly [key in Side]?: Json } {
  const isNothing = value === undefined || value === null || (isWhole && value === '');
  return isNothing ? {} : ({ [side]: value } as { readonly [key in Side]: Json }); // a computed key widens to an index signature
}

function listPaths(name: string, type: FieldType, from: Json, to: Json): readonly FieldPath[] {
  const found = deepDiff(quoteKeys(type, from), quoteKeys(type, to)) ?? [];
  const paths = found.map((change): FieldPath => {
    const path: FieldPath = [...(change.path ?? []), ...(change.kind === 'A' ? [change.index] : [])];
    const inner = path.map((step) => (typeof step === 'string' ? step.slice(QUOTE.length) : step));
    return [name, ...inner.slice(0, toDepth(type, inner))];
  });
  return sortByPlace(paths);
}

/** The differ goes through lists from the end, readers from the beginning. Keys keep their order. */
function sortByPlace(paths: readonly FieldPath[]): readonly FieldPath[] {
  const keys = new Map<string, number>();
  const toPlace = (step: string | number, at: number, path: FieldPath): number => {
    if (typeof step === 'number') return step;
    const key = toPathText(path.slice(0, at + 1));
    const place = keys.get(key) ?? keys.size;
    keys.set(key, place);
    return place;
  };
  const placed = paths.map((path) => ({ path, places: path.map((step, at) => toPlace(step, at, path)) }));
  return placed.sort((left, right) => comparePlaces(left.places, right.places)).map(({ path }) => path);
}

function comparePlaces(left: readonly number[], right: readonly number[]): number {
  const at = left.findIndex((place, index) => place !== right[index]);
  return at < 0 ? left.length - right.length : (left[at] ?? 0) - (right[at] ?? -1);
}

const QUOTE = ':';

/**
 * The differ passes over a key that is empty: no key is, with something in front of it. It goes by the order of keys, so those
 * that no table orders are sorted.
 */
function quoteKeys(type: FieldType | undefined, value: Json): Json {
  if (isJsonArray(value)) return value.map((member) => quoteKeys(type?.type === 'list' ? type.of : undefined, member));
  if (!isJsonObject(value)) return value;
  const fields = type?.type === 'object' ? type.fields : undefined;
  const keys = fields === undefined ? Object.keys(value).sort() : Object.keys(value);
  return Object.fromEntries(keys.map((key) => [`${QUOTE}${key}`, quoteKeys(fields?.[key]?.type, value[key] ?? null)]));
}

/** How many steps of a path make sense to a reader: a set, or a list of plain values, is shown as a whole. */
function toDepth(type: FieldType, path: FieldPath): number {
  const [step, ...rest] = path;
  if (step === undefined) return 0;
  switch (type.type) {
    case 'list':
      return type.of.type === 'object' ? 1 + toDepth(type.of, rest) : 0;
    case 'map':
      return 1 + toDepth(type.of, rest);
    case 'object': {
      const field = type.fields[step];
      return field === undefined ? 1 : 1 + toDepth(field.type, rest);
    }
    case 'json':
    case 'metadata':
      return typeof step === 'string' ? 1 : 0;
    default:
      return 0;
  }
}

function valueAt(value: Json | undefined, path: FieldPath): Json | undefined {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (isJsonArray(value)) return valueAt(value[Number(step)], rest);
  return isJsonObject(value) && Object.hasOwn(value, step) ? valueAt(value[step], rest) : undefined;
}
