import fc from 'fast-check';
import type { Field, FieldType, JsonObjectType, ListType, MapType, ReferenceType } from '../../src/kinds/field.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import { listKindsOfReferenceType } from '../../src/kinds/references.ts';
import { assertNever } from '../../src/model/errors.ts';
import type { Json, JsonObject } from '../../src/model/json.ts';
import type { Spec } from '../../src/model/state.ts';
import { arbitraryFormatted, arbitraryText, HOSTILE_WORDS } from './arbitrary-texts.ts';
import { isOwnedPrefix, listExternalIds, listLiteralPrefixes } from './known-ids.ts';
import { NAMES } from './names.ts';

/**
 * Random values of fields from the kind tables alone, so that every law covers a new field or kind at once. `settleStack` makes fields fit each
 * other.
 */

/** Any spec of a kind, with every required field and some of the others. */
export function arbitrarySpec(kind: Kind): fc.Arbitrary<Spec> {
  return arbitraryFields(Object.fromEntries(kind.specFields));
}

/** Any settings of a kind in `lifecycle`. Their periods are longer than a world lasts. */
export function arbitrarySettings(kind: Kind): fc.Arbitrary<Spec> {
  return arbitraryFields(kind.lifecycle);
}

/** Any value that a manifest may set for a field. */
export function arbitraryField(field: Field): fc.Arbitrary<Json> {
  return arbitraryValue(field.type);
}

/** Whether a value of the type may refer to a resource of the service, and so keep it in use. */
export function mayUseOwned(type: FieldType): boolean {
  switch (type.type) {
    case 'reference':
      return type.prefixes.some(isOwnedPrefix);
    case 'list':
      return mayUseOwned(type.of);
    case 'map':
      return mayUseOwned(type.keys) || mayUseOwned(type.of);
    case 'object':
      return Object.values(type.fields).some((field) => mayUseOwned(field.type));
    case 'json':
      return Object.values(type.lists).some(mayUseOwned);
    default:
      return false;
  }
}

function arbitraryValue(type: FieldType): fc.Arbitrary<Json> {
  switch (type.type) {
    case 'text':
      return type.format === undefined ? arbitraryText(type.maxBytes) : arbitraryFormatted(type.format);
    case 'enum':
      return fc.constantFrom(...type.values);
    case 'boolean':
      return fc.boolean();
    case 'number':
      return type.integer
        ? fc.oneof(fc.constantFrom(type.min, type.max), fc.integer({ min: type.min, max: type.max }))
        : fc.double({ min: type.min, max: type.max, noNaN: true }).map(withoutSign);
    case 'timestamp':
      return arbitraryTimestamp();
    case 'reference':
      return arbitraryReference(type);
    case 'list':
      return arbitraryList(type);
    case 'map':
      return arbitraryMap(type);
    case 'object':
      return arbitraryFields(type.others === undefined ? type.fields : { ...type.fields, on_other: type.others });
    case 'json':
      return type.isAny
        ? fc.oneof(arbitraryJsonWith(type), fc.array(arbitraryJsonWith(type)))
        : arbitraryJsonWith(type);
    case 'metadata':
      return arbitraryMetadata();
    default:
      return assertNever(type);
  }
}

function arbitraryFields(fields: Readonly<Record<string, Field>>): fc.Arbitrary<JsonObject> {
  const values = Object.entries(fields).map(([name, field]) => [name, arbitraryField(field)] as const);
  const requiredKeys = Object.keys(fields).filter((name) => fields[name]?.required);
  return fc.record(Object.fromEntries(values), { requiredKeys });
}

/** Later than the clock of a world, with any offset, with and without fractions of a second. */
function arbitraryTimestamp(): fc.Arbitrary<string> {
  const instant = fc.date({
    min: new Date('2030-01-01T00:00:00Z'),
    max: new Date('2096-01-01T00:00:00Z'),
    noInvalidDate: true,
  });
  return fc
    .tuple(instant, fc.constantFrom('Z', '+00:00', '-11:30', '+05:45'), fc.boolean())
    .map(([date, offset, isExact]) => {
      const text = date.toISOString().slice(0, isExact ? 23 : 19);
      return `${text}${offset}`;
    });
}

/** An id, or the address of a document. `settleStack` makes the address exist. */
function arbitraryReference(type: ReferenceType): fc.Arbitrary<string> {
  const literal = listLiteralPrefixes(type);
  const kinds = listKindsOfReferenceType(type);
  const addresses = kinds.flatMap((kind) => NAMES.map((name) => `${kind.name}/${name}`));
  return fc.constantFrom(
    ...literal.flatMap((prefix) => listExternalIds(prefix)),
    ...literal.flatMap((prefix) => listExternalIds(prefix).map((_, index) => `External/${prefix}-${index}`)),
    ...addresses,
  );
}

function arbitraryList(type: ListType): fc.Arbitrary<Json> {
  const member = arbitraryValue(type.of);
  const list = fc.array(member, { minLength: type.minItems, maxLength: 3 });
  return type.orSingle ? fc.oneof({ weight: 3, arbitrary: list }, { weight: 1, arbitrary: member }) : list;
}

function arbitraryMap(type: MapType): fc.Arbitrary<Json> {
  const own = Object.entries(type.valueTypes).map(([key, of]): [string, fc.Arbitrary<Json>] => [
    key,
    arbitraryValue(of),
  ]);
  const any = arbitraryEntries(arbitraryValue(type.keys).map(String), arbitraryValue(type.of), 4);
  return fc
    .tuple(any, fc.record(Object.fromEntries(own)))
    .map(([map, values]) =>
      Object.fromEntries(
        Object.entries(map).map(([key, value]) => [key, Object.hasOwn(values, key) ? (values[key] ?? value) : value]),
      ),
    );
}

/**
 * An object with any keys, also `__proto__`, but not the merge key of YAML. No key has a backslash: after Node 24 and 26 have parsed JSON with such a key, they read others
 * wrongly (https://github.com/nodejs/node/issues/63785).
 */
function arbitraryEntries(
  keys: fc.Arbitrary<string>,
  values: fc.Arbitrary<Json>,
  maxLength: number,
): fc.Arbitrary<JsonObject> {
  const safe = keys.filter((key) => !key.includes('\\') && key !== '<<');
  return fc.array(fc.tuple(safe, values), { maxLength }).map((entries) => Object.fromEntries(entries));
}

function arbitraryJson(): fc.Arbitrary<Json> {
  const scalar: fc.Arbitrary<Json> = fc.oneof(
    fc.constantFrom(null, true, false, 0, '', '*', '10.0.0.0/8'),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(toExact),
    arbitraryText(),
  );
  const list = fc.array(scalar, { maxLength: 3 });
  return fc.oneof({ weight: 4, arbitrary: scalar }, list, arbitraryEntries(arbitraryKey(), fc.oneof(scalar, list), 3));
}

/** Any key except the merge key of YAML, which stores nothing. */
function arbitraryKey(): fc.Arbitrary<string> {
  return fc.oneof(fc.constantFrom(...HOSTILE_WORDS), fc.string({ maxLength: 6 })).filter((key) => key !== '<<');
}

function arbitraryJsonWith(type: JsonObjectType): fc.Arbitrary<JsonObject> {
  const held = Object.entries(type.lists).map(([key, of]) =>
    fc
      .option(fc.array(arbitraryValue(of), { maxLength: 2 }))
      .map((members): JsonObject => (members === null ? {} : { [key]: members })),
  );
  return fc
    .tuple(arbitraryEntries(arbitraryKey(), arbitraryJson(), 3), fc.constant({}), ...held)
    .map(([any, ...lists]) => Object.assign(any, ...lists));
}

/** Text, text that is JSON, or a mapping. */
function arbitraryMetadata(): fc.Arbitrary<Json> {
  const mapping = arbitraryEntries(arbitraryKey(), arbitraryJson(), 4);
  return fc.oneof(
    mapping,
    arbitraryText(300),
    fc.tuple(mapping, fc.constantFrom(0, 1, 2)).map(([value, indent]) => JSON.stringify(value, null, indent)),
  );
}

/** Manifests cannot write -0. */
function withoutSign(number: number): number {
  return number === 0 ? 0 : number;
}

/** Manifests refuse integers that a double does not represent exactly. */
function toExact(number: number): number {
  return Number.isInteger(number) && !Number.isSafeInteger(number) ? 0.5 : withoutSign(number);
}
