import { z } from 'zod';
import type {
  Field,
  FieldType,
  JsonObjectType,
  ListType,
  MapType,
  NamedField,
  NumberType,
  ObjectType,
  ReferenceType,
  TextType,
} from '../kinds/field.ts';
import { isModule, type Kind } from '../kinds/kind.ts';
import { assertNever } from '../model/errors.ts';
import { isJsonObject } from '../model/json.ts';
import { NO_NUL_PATTERN } from '../model/printable.ts';
import {
  ANY_JSON_SCHEMA,
  addByteLimit,
  createFileReferenceSchema,
  createResourceReferenceSchema,
  createTextSchema,
  createTimestampSchema,
  findSharedFieldSchemaName,
  findSharedObjectSchemaName,
  nameSharedSchema,
  type SchemaUse,
} from './text.ts';

/**
 * zod schemas from the kind tables, for four uses:
 *
 * - `manifest`: the user's documents. Strict. References are names, and metadata may be a mapping. Null in an optional
 *   field means absent.
 * - `request`: requests to the bundled server. Strict. Ids must have the right prefix. Null means absent.
 * - `response`: responses that the client reads. Liberal: fields may be absent, null or unknown, but types must match.
 * - `document`: responses that the bundled server promises. Every field is present.
 */

export function createManifestSpecSchema(kind: Kind): z.ZodType {
  return createObjectSchema(Object.fromEntries(kind.specFields), 'manifest');
}

/** Returns the schemas of the `lifecycle` fields that only manifests of this kind can have, by name. */
export function createKindLifecycleShape(kind: Kind): Readonly<Record<string, z.ZodType>> {
  return Object.fromEntries(
    Object.entries(kind.lifecycle).map(([name, field]) => [name, describeField(field, 'manifest').optional()] as const),
  );
}

/** Schema of a request body. In an update, all fields are optional, and immutable fields are not allowed. */
export function createRequestBodySchema(kind: Kind, purpose: 'create' | 'update'): z.ZodType {
  const fields = purpose === 'create' ? kind.specFields : listUpdateFields(kind);
  return createObjectSchema(Object.fromEntries(fields), 'request');
}

function listUpdateFields(kind: Kind): readonly NamedField[] {
  return kind.specFields
    .filter(([, { lifecycle }]) => lifecycle === 'mutable')
    .map(([name, field]) => [name, { ...field, required: false }]);
}

/** Schema of a resource in a response: `response` as the client reads it, `document` as the bundled server sends it. */
export function createResourceResponseSchema(kind: Kind, use: 'response' | 'document'): z.ZodType {
  return createObjectSchema(kind.fields, use);
}

/** Schema of a module in the body of a PUT or of its response. `field` must be a module. */
export function createModuleBodySchema(field: Field, use: Exclude<SchemaUse, 'manifest'>): z.ZodType {
  return createTypeSchema(field.type, use);
}

function createObjectSchema(fields: Readonly<Record<string, Field>>, use: SchemaUse, others?: Field): z.ZodType {
  const shape = Object.entries(fields).map(
    ([name, field]) => [getPropertyName(name, field, use), createPropertySchema(field, use)] as const,
  );
  const properties = Object.fromEntries(shape);
  if (others !== undefined) return z.object(properties).catchall(createTypeSchema(others.type, use));
  return use === 'response' ? z.looseObject(properties) : z.strictObject(properties);
}

function getPropertyName(name: string, field: Field, use: SchemaUse): string {
  return use === 'response' || use === 'document' ? (field.responseName ?? name) : name;
}

function createPropertySchema(field: Field, use: SchemaUse): z.ZodType {
  const type = createFieldSchema(field, use);
  switch (use) {
    case 'manifest':
      return field.required ? type : type.optional();
    case 'request':
      return field.required ? type : type.optional();
    case 'response':
      return type.nullish();
    case 'document':
      return isNullInResponses(field) ? type.nullable() : type;
    default:
      return assertNever(use);
  }
}

/**
 * Creates the schema of a field, with its description and default. In manifests and requests, a field that several
 * kinds have in common becomes a shared schema.
 */
function createFieldSchema(field: Field, use: SchemaUse): z.ZodType {
  const createOwnSchema = () => {
    const type = describeField(field, use);
    if (field.required) return type;
    if (use === 'manifest') return type.nullable();
    return use === 'request' ? allowEmptyText(field, type).nullable() : type;
  };
  const name = findSharedFieldSchemaName(field);
  if (name === undefined || use === 'response' || use === 'document') return createOwnSchema();
  return rememberPart(use, field, () =>
    nameSharedSchema(use === 'request' ? `${name}Mutate` : name, createOwnSchema()),
  );
}

function describeField(field: Field, use: SchemaUse): z.ZodType {
  return createTypeSchema(field.type, use).meta({
    description: field.description,
    ...(use === 'manifest' && field.default !== undefined && { default: field.default }),
  });
}

/** Returns the shared schema of a field or type, created only once: each shared name must belong to one schema. */
function rememberPart(use: SchemaUse, of: Field | ObjectType, make: () => z.ZodType): z.ZodType {
  const part = PARTS[use].get(of) ?? make();
  PARTS[use].set(of, part);
  return part;
}

const PARTS: Readonly<Record<SchemaUse, WeakMap<Field | ObjectType, z.ZodType>>> = {
  manifest: new WeakMap(),
  request: new WeakMap(),
  response: new WeakMap(),
  document: new WeakMap(),
};

/** If the field has a format, also accepts empty text, which unsets the field. */
function allowEmptyText({ type }: Field, schema: z.ZodType): z.ZodType {
  return type.type === 'text' && type.format !== undefined ? z.union([z.literal(''), schema]) : schema;
}

/** Whether responses of the bundled server contain null for the field if it is not set. */
export function isNullInResponses(field: Field): boolean {
  if (isModule(field) || field.lifecycle === 'one-time' || field.nullWhenUnset) return true;
  if (field.lifecycle === 'computed') return field.type.type === 'object';
  const isAlwaysSet = field.required || field.default !== undefined || field.serviceDefault;
  return !isAlwaysSet && NULLABLE.has(field.type.type);
}

const NULLABLE: ReadonlySet<FieldType['type']> = new Set(['object', 'json', 'timestamp', 'enum', 'reference']);

function createTypeSchema(type: FieldType, use: SchemaUse): z.ZodType {
  const isInput = use === 'manifest' || use === 'request';
  switch (type.type) {
    case 'text':
      if (use === 'manifest' && type.orFile) return z.union([createTextSchema(type, use), createFileReferenceSchema()]);
      return isInput ? createTextSchema(type, use) : z.string();
    case 'enum':
      return use === 'response' ? z.string() : z.enum(type.values);
    case 'boolean':
      return z.boolean();
    case 'number':
      return isInput || use === 'document' ? createNumberSchema(type) : z.number();
    case 'timestamp':
      return use === 'response' ? z.string() : createTimestampSchema(use);
    case 'reference':
      return createResourceReferenceSchema(type, use);
    case 'list':
      return createListSchema(type, use);
    case 'map':
      return createMapSchema(type, use);
    case 'object':
      return createObjectTypeSchema(type, use);
    case 'json':
      return createJsonSchema(type, use);
    case 'metadata':
      return createMetadataSchema(type.maxBytes, use);
    default:
      return assertNever(type);
  }
}

/**
 * Creates the schema of an object inside a resource. In manifests, only a type with a title becomes a shared schema.
 */
function createObjectTypeSchema(type: ObjectType, use: SchemaUse): z.ZodType {
  const name = use === 'manifest' && type.title === undefined ? undefined : findSharedObjectSchemaName(type);
  const create = () => createObjectSchema(type.fields, use, type.others);
  if (name === undefined || use === 'response') return create();
  const partName = use === 'request' ? `${name}Mutate` : name;
  return rememberPart(use, type, () => nameSharedSchema(partName, create()));
}

function createNumberSchema(type: NumberType): z.ZodType {
  return (type.integer ? z.int() : z.number()).min(type.min).max(type.max);
}

function createListSchema(type: ListType, use: SchemaUse): z.ZodType {
  const member = createTypeSchema(type.of, use);
  if (use === 'response') return z.union([z.array(member), member]);
  const isInput = use !== 'document';
  const list = isInput && type.minItems > 0 ? z.array(member).min(type.minItems) : z.array(member);
  // A request may have one member as well. The server makes a list of it first, so that generators see lists only.
  return type.orSingle && use === 'manifest' ? z.union([list, member]) : list;
}

function createMapSchema(type: MapType, use: SchemaUse): z.ZodType {
  const isInput = use === 'manifest' || use === 'request';
  const keys = isInput ? createKeySchema(type.keys, use) : z.string();
  const map = z.record(keys, createTypeSchema(type.of, use));
  if (!isInput) return map;
  const checked =
    Object.keys(type.valueTypes).length === 0
      ? map
      : map.superRefine(createValueTypesCheck(type, use), { when: ({ value }) => isJsonObject(value) });
  return type.caseInsensitive ? checked.superRefine(refuseSameKeys) : checked;
}

/** Creates a check of the values whose keys have a type of their own. The map itself refuses values of a wrong type. */
function createValueTypesCheck({ valueTypes, of }: MapType, use: SchemaUse) {
  const value = createTypeSchema(of, use);
  const schemas = Object.entries(valueTypes).map(([key, type]) => [key, createTypeSchema(type, use)] as const);
  return (map: Readonly<Record<string, unknown>>, context: z.RefinementCtx): void => {
    for (const [key, schema] of schemas)
      for (const issue of value.safeParse(map[key]).success ? (schema.safeParse(map[key]).error?.issues ?? []) : [])
        context.addIssue({ ...issue, path: [key, ...issue.path] });
  };
}

/** Creates the schema of the keys of a map. */
export function createKeySchema(type: TextType | ReferenceType, use: SchemaUse): z.ZodType<string, string> {
  const schema = type.type === 'text' ? createTextSchema(type, use) : createResourceReferenceSchema(type, use);
  const pattern = schema.meta()?.['pattern'];
  const key = z.string().check(createCheck(schema));
  return pattern === undefined ? key : key.meta({ pattern });
}

/** Turns a schema into a check that can be added to a string schema, which zod requires for the keys of a record. */
function createCheck(schema: z.ZodType): z.core.CheckFn<string> {
  return (payload) => {
    for (const issue of schema.safeParse(payload.value).error?.issues ?? []) {
      payload.issues.push({
        code: 'custom',
        message: issue.message,
        input: payload.value,
        ...('params' in issue && { params: issue.params }),
      });
    }
  };
}

function refuseSameKeys(map: Readonly<Record<string, unknown>>, context: z.RefinementCtx): void {
  const seen = new Map<string, string>();
  for (const key of Object.keys(map)) {
    const folded = key.toLowerCase();
    const first = seen.get(folded);
    if (first !== undefined) {
      context.addIssue({
        code: 'custom',
        path: [key],
        message: `\`${key}\` is a duplicate: case does not matter here`,
        params: { code: 'bad-value', at: 'key', first },
      });
    } else seen.set(folded, key);
  }
}

/** Creates the schema of free JSON. It checks only lists of references at known keys. The service checks the rest. */
function createJsonSchema(type: JsonObjectType, use: SchemaUse): z.ZodType {
  if (type.isAny) return ANY_JSON_SCHEMA;
  const json = z.record(z.string(), ANY_JSON_SCHEMA);
  if (use === 'response' || use === 'document') return json;
  const held = Object.entries(type.lists).flatMap(([key, of]) =>
    of.type === 'reference' ? [[key, createResourceReferenceSchema(of, use)] as const] : [],
  );
  return json.superRefine((value, context) => {
    for (const [key, reference] of held) {
      const members = Array.isArray(value[key]) ? value[key] : [];
      for (const [index, member] of members.entries()) {
        const issues = typeof member === 'string' ? reference.safeParse(member).error?.issues : [];
        for (const { message } of issues ?? [])
          context.addIssue({ code: 'custom', message, path: [key, index], params: { code: 'bad-reference' } });
      }
    }
  });
}

function createMetadataSchema(maxBytes: number, use: SchemaUse): z.ZodType {
  const limited = addByteLimit(z.string(), maxBytes);
  if (use === 'manifest') return z.union([limited, z.record(z.string(), ANY_JSON_SCHEMA)]);
  return use === 'request' ? limited.meta({ pattern: NO_NUL_PATTERN }) : z.string();
}
