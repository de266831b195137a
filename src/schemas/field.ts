import { z } from 'zod';
import type {
  Field,
  FieldType,
  JsonType,
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
import { STORABLE_PATTERN } from '../model/printable.ts';
import {
  createAnyJsonSchema,
  createFileSchema,
  createReferenceSchema,
  createTextSchema,
  createTimestampSchema,
  findFieldName,
  findTypeName,
  limitBytes,
  nameSharedSchema,
  type SchemaUse,
} from './text.ts';

/**
 * zod schemas from the kind tables. Four readers of one table:
 *
 * - `manifest`: what a user writes. Strict; references by name; metadata may be a mapping. Null is the same as absent, where that may be.
 * - `request`: what the bundled server takes. Strict; ids with the right prefix. Null is the same as absent.
 * - `response`: what the client takes. Liberal: anything may be absent, null or more than we know, but types must fit.
 * - `document`: what the bundled server promises in responses. Every field is there.
 */

/** Schema of a manifest's `spec`. */
export function createManifestSchema(kind: Kind): z.ZodType {
  return toObject(Object.fromEntries(kind.specFields), 'manifest');
}

/** Properties of a manifest's `lifecycle` that a kind has of its own. */
export function createLifecycleShape(kind: Kind): Readonly<Record<string, z.ZodType>> {
  return Object.fromEntries(
    Object.entries(kind.lifecycle).map(([name, field]) => [name, toDescribed(field, 'manifest').optional()] as const),
  );
}

/** Schema of the body of the request that creates a resource, or that changes one (all optional, no immutable fields). */
export function createRequestSchema(kind: Kind, purpose: 'create' | 'update'): z.ZodType {
  const fields = purpose === 'create' ? kind.specFields : listUpdateFields(kind);
  return toObject(Object.fromEntries(fields), 'request');
}

function listUpdateFields(kind: Kind): readonly NamedField[] {
  return kind.specFields
    .filter(([, { lifecycle }]) => lifecycle === 'mutable')
    .map(([name, field]) => [name, { ...field, required: false }]);
}

/** Schema of a resource in a response: `response` for the client, `document` for the server's promise. */
export function createResponseSchema(kind: Kind, use: 'response' | 'document'): z.ZodType {
  return toObject(kind.fields, use);
}

/** Schema of the body of a PUT of a module, or of the answer to it. `field` is a module. */
export function createModuleSchema(field: Field, use: Exclude<SchemaUse, 'manifest'>): z.ZodType {
  return toType(field.type, use);
}

function toObject(fields: Readonly<Record<string, Field>>, use: SchemaUse): z.ZodType {
  const shape = Object.entries(fields).map(
    ([name, field]) => [toName(name, field, use), toProperty(field, use)] as const,
  );
  const properties = Object.fromEntries(shape);
  return use === 'response' ? z.looseObject(properties) : z.strictObject(properties);
}

function toName(name: string, field: Field, use: SchemaUse): string {
  return use === 'response' || use === 'document' ? (field.responseName ?? name) : name;
}

function toProperty(field: Field, use: SchemaUse): z.ZodType {
  const type = toStatedType(field, use);
  switch (use) {
    case 'manifest':
      return field.required ? type : type.optional();
    case 'request':
      return field.required ? type : type.optional();
    case 'response':
      return type.nullish();
    case 'document':
      return isNullable(field) ? type.nullable() : type;
    default:
      return assertNever(use);
  }
}

/** The type of a field with what there is to say of the field. Where people or clients state one that several kinds have, it is a part. */
function toStatedType(field: Field, use: SchemaUse): z.ZodType {
  const stated = () => {
    const type = toDescribed(field, use);
    if (field.required) return type;
    if (use === 'manifest') return type.nullable();
    return use === 'request' ? toClearable(field, type).nullable() : type;
  };
  const name = findFieldName(field);
  if (name === undefined || use === 'response' || use === 'document') return stated();
  return rememberPart(use, field, () => nameSharedSchema(use === 'request' ? `${name}Mutate` : name, stated()));
}

function toDescribed(field: Field, use: SchemaUse): z.ZodType {
  return toType(field.type, use).meta({
    description: field.description,
    ...(use === 'manifest' && field.default !== undefined && { default: field.default }),
  });
}

/** The one schema of a part. */
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

/** An empty text means unset, whatever format the field has. */
function toClearable({ type }: Field, schema: z.ZodType): z.ZodType {
  return type.type === 'text' && type.format !== undefined ? z.union([z.literal(''), schema]) : schema;
}

/** Whether the server shows null for the field when it is not set. */
export function isNullable(field: Field): boolean {
  if (isModule(field) || field.lifecycle === 'one-time' || field.nullWhenUnset) return true;
  if (field.lifecycle === 'computed') return field.type.type === 'object';
  const isAlwaysSet = field.required || field.default !== undefined || field.serviceDefault;
  return !isAlwaysSet && NULLABLE.has(field.type.type);
}

const NULLABLE: ReadonlySet<FieldType['type']> = new Set(['object', 'json', 'timestamp', 'enum', 'reference']);

function toType(type: FieldType, use: SchemaUse): z.ZodType {
  const isInput = use === 'manifest' || use === 'request';
  switch (type.type) {
    case 'text':
      if (use === 'manifest' && type.orFile) return z.union([createTextSchema(type, use), createFileSchema()]);
      return isInput ? createTextSchema(type, use) : z.string();
    case 'enum':
      return use === 'response' ? z.string() : z.enum(type.values);
    case 'boolean':
      return z.boolean();
    case 'number':
      return isInput || use === 'document' ? toNumber(type) : z.number();
    case 'timestamp':
      return use === 'response' ? z.string() : createTimestampSchema(use);
    case 'reference':
      return createReferenceSchema(type, use);
    case 'list':
      return toList(type, use);
    case 'map':
      return toMap(type, use);
    case 'object':
      return toObjectType(type, use);
    case 'json':
      return toJson(type, use);
    case 'metadata':
      return toMetadata(type.maxBytes, use);
    default:
      return assertNever(type);
  }
}

/** An object inside of a resource. In manifests only one that occurs in several places is a shared schema. */
function toObjectType(type: ObjectType, use: SchemaUse): z.ZodType {
  const name = use === 'manifest' && type.title === undefined ? undefined : findTypeName(type);
  if (name === undefined || use === 'response') return toObject(type.fields, use);
  const partName = use === 'request' ? `${name}Mutate` : name;
  return rememberPart(use, type, () => nameSharedSchema(partName, toObject(type.fields, use)));
}

function toNumber(type: NumberType): z.ZodType {
  return (type.integer ? z.int() : z.number()).min(type.min).max(type.max);
}

function toList(type: ListType, use: SchemaUse): z.ZodType {
  const member = toType(type.of, use);
  if (use === 'response') return z.union([z.array(member), member]);
  const isInput = use !== 'document';
  const list = isInput && type.minItems > 0 ? z.array(member).min(type.minItems) : z.array(member);
  return type.orSingle && isInput ? z.union([list, member]) : list;
}

function toMap(type: MapType, use: SchemaUse): z.ZodType {
  const isInput = use === 'manifest' || use === 'request';
  const keys = isInput ? toKey(type.keys, use) : z.string();
  const map = z.record(keys, toType(type.of, use));
  return type.caseInsensitive && isInput ? map.superRefine(refuseSameKeys) : map;
}

function toKey(type: TextType | ReferenceType, use: SchemaUse): z.ZodType<string, string> {
  const schema = type.type === 'text' ? createTextSchema(type, use) : createReferenceSchema(type, use);
  const pattern = schema.meta()?.['pattern'];
  const key = z.string().check(toCheck(schema));
  return pattern === undefined ? key : key.meta({ pattern });
}

/** Runs a schema as a check of a string, since the keys of a record must be of a string type. */
function toCheck(schema: z.ZodType): z.core.CheckFn<string> {
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

/** Free JSON, but for the references that it is known to hold. What has another shape is left to the service. */
function toJson(type: JsonType, use: SchemaUse): z.ZodType {
  const json = z.record(z.string(), createAnyJsonSchema());
  if (use === 'response' || use === 'document') return json;
  const held = Object.entries(type.references).map(
    ([key, reference]) => [key, createReferenceSchema(reference, use)] as const,
  );
  return json.superRefine((value, context) => {
    for (const [key, reference] of held) {
      const members = Array.isArray(value[key]) ? value[key] : [];
      for (const [index, member] of members.entries()) {
        const issues = typeof member === 'string' ? reference.safeParse(member).error?.issues : [];
        for (const { message } of issues ?? [])
          context.addIssue({ code: 'custom', message, path: [key, index], params: { code: 'wrong-reference' } });
      }
    }
  });
}

function toMetadata(maxBytes: number, use: SchemaUse): z.ZodType {
  const limited = limitBytes(z.string(), maxBytes);
  if (use === 'manifest') return z.union([limited, z.record(z.string(), createAnyJsonSchema())]);
  return use === 'request' ? limited.meta({ pattern: STORABLE_PATTERN }) : z.string();
}
