import type { CelDeclarations } from '../cel/declarations.ts';
import type { Field, FieldType, ListType, MapType, ObjectType } from '../kinds/field.ts';
import { type Kind, listSpecFields } from '../kinds/kind.ts';
import { assertNever } from '../model/errors.ts';
import { TYPES, VARIABLES } from './vocabulary.ts';

/** What the expressions of a policy for resources of these kinds may name. A field whose type differs from kind to kind may be anything. */
export function toDeclarations(kinds: readonly Kind[]): CelDeclarations {
  const records: Records = new Map();
  const fields = toFields(SPEC, kinds.map(listVisibleFields), records);
  return {
    types: { ...TYPES, Spec: fields },
    records: Object.fromEntries(records),
    unions: { [METADATA]: ['string', 'map<string, dyn>'] },
    variables: VARIABLES,
  };
}

/** The fields of a kind that expressions see: none that is secret. */
export function listVisibleFields(kind: Kind): NamedFields {
  return listSpecFields(kind).filter(([, { lifecycle }]) => lifecycle !== 'one-time');
}

type NamedFields = readonly (readonly [string, Field])[];

/** Fields by the name of the type of an object: the way to it. */
type Records = Map<string, Readonly<Record<string, string>>>;

const SPEC = 'spec';

/** The user's metadata is an object when it can be one. */
const METADATA = 'metadata';

/** The fields of several tables, each with the type that it has in all tables that have it. */
function toFields(at: string, tables: readonly NamedFields[], records: Records): Readonly<Record<string, string>> {
  const byName = Map.groupBy(tables.flat(), ([name]) => name);
  const types = Array.from(byName, ([name, found]) => {
    const fields = found.map(([, field]) => field);
    return [name, toFieldType(`${at}.${name}`, fields, records)] as const;
  });
  return Object.fromEntries(types);
}

/** Each may be null, if only because a rule may ask whether it is. */
function toFieldType(at: string, fields: readonly Field[], records: Records): string {
  const types = fields.map(({ type }) => type);
  return `${toType(at, types, records)}?`;
}

function toType(at: string, types: readonly FieldType[], records: Records): string {
  const objects = types.filter((type): type is ObjectType => type.type === 'object');
  if (objects.length === types.length) return toRecord(at, objects, records);
  const lists = types.filter((type): type is ListType => type.type === 'list');
  if (lists.length === types.length) return `list<${toType(at, toMembers(lists), records)}>`;
  const maps = types.filter((type): type is MapType => type.type === 'map');
  if (maps.length === types.length) return `map<string, ${toType(at, toMembers(maps), records)}>`;
  const [first = 'dyn', ...others] = new Set(types.map(toSimpleType));
  return others.length === 0 ? first : 'dyn';
}

function toMembers(types: readonly (ListType | MapType)[]): readonly FieldType[] {
  return types.map((type) => type.of);
}

function toRecord(at: string, types: readonly ObjectType[], records: Records): string {
  const tables = types.map(({ fields }) => Object.entries(fields));
  records.set(at, toFields(at, tables, records));
  return at;
}

function toSimpleType(type: FieldType): string {
  switch (type.type) {
    case 'text':
    case 'enum':
    case 'reference':
    case 'timestamp':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'number':
      return type.integer ? 'int' : 'double';
    case 'metadata':
      return METADATA;
    case 'list':
    case 'map':
    case 'object':
    case 'json':
      return 'dyn';
    default:
      return assertNever(type);
  }
}
