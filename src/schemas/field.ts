import { z } from 'zod';
import type {
  Field,
  FieldType,
  JsonType,
  ListType,
  MapType,
  NumberType,
  ReferenceType,
  TextType,
} from '../kinds/field.ts';
import { FORMATS } from '../kinds/formats.ts';
import { isModule, type Kind, listSpecFields } from '../kinds/kind.ts';
import { hasPrefixOf, listReferableKinds } from '../kinds/references.ts';
import { parseAddress } from '../model/address.ts';
import { assertNever } from '../model/errors.ts';
import { toByteLength } from '../model/json.ts';

/**
 * zod schemas from the kind tables. Four readers of one table:
 *
 * - `manifest`: what a user writes. Strict; references by name; metadata may be a mapping.
 * - `request`: what the bundled server takes. Strict; ids with the right prefix; null is the same as absent.
 * - `response`: what the client takes. Liberal: anything may be absent, null or more than we know, but types must fit.
 * - `document`: what the bundled server promises in responses. Every field is there.
 */
export type SchemaUse = 'manifest' | 'request' | 'response' | 'document';

/** Schema of a manifest's `spec`. */
export function toManifestSchema(kind: Kind): z.ZodType {
  return toObject(Object.fromEntries(listSpecFields(kind)), 'manifest');
}

/** Properties of a manifest's `lifecycle` that a kind has of its own. */
export function toLifecycleShape(kind: Kind): Readonly<Record<string, z.ZodType>> {
  return Object.fromEntries(
    Object.entries(kind.lifecycle).map(([name, field]) => [name, toProperty(field, 'manifest')] as const),
  );
}

/** Schema of the body of the request that creates a resource, or that changes one (all optional, no immutable fields). */
export function toRequestSchema(kind: Kind, purpose: 'create' | 'update'): z.ZodType {
  const fields = listSpecFields(kind).filter(([, field]) => purpose === 'create' || field.lifecycle === 'mutable');
  const taken = fields.map(
    ([name, field]) => [name, purpose === 'create' ? field : { ...field, required: false }] as const,
  );
  return toObject(Object.fromEntries(taken), 'request');
}

/** Schema of a resource in a response: `response` for the client, `document` for the server's promise. */
export function toResponseSchema(kind: Kind, use: 'response' | 'document'): z.ZodType {
  return toObject(kind.fields, use);
}

/** Schema of the body of a PUT of a module, or of the answer to it. `field` is a module. */
export function toModuleSchema(field: Field, use: Exclude<SchemaUse, 'manifest'>): z.ZodType {
  return toType(field.type, use);
}

/** How a schema's own findings name themselves, for the diagnostic that is made of them. */
export type SchemaFinding = 'bad-value' | 'too-long' | 'wrong-reference';

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
  const type = toType(field.type, use).meta({
    description: field.description,
    ...(use === 'manifest' && field.default !== undefined && { default: field.default }),
  });
  switch (use) {
    case 'manifest':
      return field.required ? type : type.optional();
    case 'request':
      return field.required ? type : type.nullish();
    case 'response':
      return type.nullish();
    case 'document':
      return isNullable(field) ? type.nullable() : type;
    default:
      return assertNever(use);
  }
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
      if (use === 'manifest' && type.orFile) return z.union([toText(type), toFile()]);
      return isInput ? toText(type) : z.string();
    case 'enum':
      return use === 'response' ? z.string() : z.enum(type.values);
    case 'boolean':
      return z.boolean();
    case 'number':
      return isInput || use === 'document' ? toNumber(type) : z.number();
    case 'timestamp':
      return use === 'response' ? z.string() : toTimestamp();
    case 'reference':
      return toReference(type, use);
    case 'list':
      return toList(type, use);
    case 'map':
      return toMap(type, use);
    case 'object':
      return toObject(type.fields, use);
    case 'json':
      return toJson(type, use);
    case 'metadata':
      return toMetadata(type.maxBytes, use);
    default:
      return assertNever(type);
  }
}

function refuse(
  code: SchemaFinding,
  message: string,
): { readonly error: string; readonly params: { readonly code: SchemaFinding } } {
  return { error: message, params: { code } };
}

function toText(type: TextType): z.ZodType<string> {
  const { maxBytes, format, isPath } = type;
  let schema = isPath ? z.string().min(1) : z.string();
  if (maxBytes !== undefined) schema = toLimited(schema, maxBytes);
  if (format === undefined) return schema;
  const rule = FORMATS[format];
  return schema
    .superRefine((text, context) => {
      const wrong = rule.check(text);
      if (wrong !== undefined)
        context.addIssue({ code: 'custom', message: `\`${text}\` ${wrong}`, params: { code: 'bad-value' } });
    })
    .meta({ examples: [rule.example], ...(rule.pattern !== undefined && { pattern: rule.pattern }) });
}

function toFile(): z.ZodType {
  const file = z.string().min(1).describe('Path of a file with the value, relative to the folder of the manifest.');
  return z.strictObject({ file });
}

/** In bytes, for the check; in characters, which are never more, for JSON Schema. */
function toLimited(schema: z.ZodString, maxBytes: number): z.ZodString {
  return schema
    .refine((text) => toByteLength(text) <= maxBytes, {
      params: { code: 'too-long' satisfies SchemaFinding, maxBytes },
      error: ({ input }) => `is ${toByteLength(String(input))} bytes long; the limit is ${maxBytes} bytes of UTF-8`,
    })
    .meta({ maxLength: maxBytes });
}

function toNumber(type: NumberType): z.ZodType {
  return (type.integer ? z.int() : z.number()).min(type.min).max(type.max);
}

function toTimestamp(): z.ZodType {
  return z.iso.datetime({ offset: true, error: 'is not an RFC 3339 time such as 2026-01-31T12:00:00Z' });
}

function toReference(type: ReferenceType, use: SchemaUse): z.ZodType {
  const ids = type.prefixes.map((prefix) => `${prefix}_…`).join(' or ');
  switch (use) {
    case 'manifest':
      return z
        .string()
        .refine(
          (value) => isReference(type, value),
          refuse('wrong-reference', `must be ${listReferable(type)}, or an id ${ids}`),
        )
        .meta({ pattern: toReferencePattern(type) });
    case 'request':
      return z.string().refine((value) => hasPrefixOf(type, value), refuse('wrong-reference', `must be an id ${ids}`));
    case 'response':
      return type.asRef ? z.union([z.looseObject({ id: z.string().nullish() }), z.string()]) : z.string();
    case 'document':
      return type.asRef ? z.strictObject({ id: z.string(), uri: z.string() }) : z.string();
    default:
      return assertNever(use);
  }
}

/** Which kind an address names is checked with the other documents, where a better message can be given. */
function isReference(type: ReferenceType, value: string): boolean {
  return parseAddress(value) !== undefined || hasPrefixOf(type, value);
}

/** For editors, which are told of a kind that does not fit too. */
function toReferencePattern(type: ReferenceType): string {
  return `^((${listReferableNames(type).join('|')})/[^/\\s]+$|(${type.prefixes.join('|')})_.)`;
}

function listReferable(type: ReferenceType): string {
  return listReferableNames(type)
    .map((name) => `${name}/name`)
    .join(' or ');
}

function listReferableNames(type: ReferenceType): readonly string[] {
  return [...listReferableKinds(type).map(({ name }) => name), 'External'];
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
  const schema = type.type === 'text' ? toText(type) : toReference(type, use);
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
  const json = z.record(z.string(), z.json());
  if (use === 'response' || use === 'document') return json;
  const held = Object.entries(type.references).map(([key, reference]) => [key, toReference(reference, use)] as const);
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
  const limited = toLimited(z.string(), maxBytes);
  if (use === 'manifest') return z.union([limited, z.record(z.string(), z.json())]);
  return use === 'request' ? limited : z.string();
}
