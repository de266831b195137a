import { z } from 'zod';
import type { Field, ObjectType } from '../kinds/field.ts';
import { toPascalCase } from '../kinds/operations.ts';
import { KINDS } from '../kinds/tables/registry.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { once } from '../model/once.ts';

/**
 * Parts of schemas that stand in several places. In JSON Schema each stands once, under `$defs`, and is referred to; what says more
 * about one place (a description, a default) stands beside the reference.
 */

/** Any JSON. The value was parsed from JSON or YAML, so it needs no further check. */
export const toAnyJson = once((): z.ZodType<Json> => z.any());

/** A schema that stands in several places, under a name. Of one name there must be one schema. */
export function toPart<Schema extends z.ZodType>(name: string, schema: Schema): Schema {
  return schema.meta({ id: name });
}

/** What a type is called where it stands in several places; `undefined`: it stands in one. */
export function findTypeName(type: ObjectType): string | undefined {
  return type.title === undefined ? listModuleNames().get(type) : toPascalCase(type.title.replaceAll(' ', '_'));
}

/** What a field is called that the tables of several kinds have in common. */
export function findFieldName(field: Field): string | undefined {
  return listCommonFields().get(field);
}

/** The objects that are fields of a kind stand in a resource, in requests that make and change it, and some alone. */
const listModuleNames = once((): ReadonlyMap<ObjectType, string> => {
  const named = KINDS.flatMap(({ name, fields }) =>
    Object.entries(fields).flatMap(([field, { type }]) =>
      type.type === 'object' ? [[type, `${name}${toPascalCase(field)}`] as const] : [],
    ),
  );
  return new Map(named);
});

const listCommonFields = once((): ReadonlyMap<Field, string> => {
  const entries = KINDS.flatMap(({ fields }) => Object.entries(fields));
  const byField = Map.groupBy(entries, ([, field]) => field);
  const common = [...byField].flatMap(([field, [first, ...more]]) =>
    first === undefined || more.length === 0 ? [] : [[field, toPascalCase(first[0])] as const],
  );
  return new Map(common);
});

/** A JSON Schema without references to its `$defs`: each part is written out where it stands. The parts must not hold themselves. */
export function writeOutParts({ $defs, ...schema }: JsonObject): JsonObject {
  const parts = $defs !== undefined && isJsonObject($defs) ? $defs : {};
  return toObject(writeOut(schema, parts));
}

const PART = '#/$defs/';

function writeOut(value: Json, parts: JsonObject): Json {
  if (isJsonArray(value)) return value.map((member) => writeOut(member, parts));
  if (!isJsonObject(value)) return value;
  const { $ref, ...rest } = value;
  const isPart = typeof $ref === 'string' && $ref.startsWith(PART);
  const whole = isPart ? { ...toObject(parts[$ref.slice(PART.length)]), ...rest } : value;
  return Object.fromEntries(Object.entries(whole).map(([key, member]) => [key, writeOut(member, parts)]));
}

function toObject(value: Json | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}
