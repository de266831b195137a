import { z } from 'zod';
import type { Field, ObjectType, ReferenceType, TextType } from '../kinds/field.ts';
import { FORMATS, type FormatRule, isAscii } from '../kinds/formats.ts';
import { convertSnakeToPascalCase } from '../kinds/operations.ts';
import { describeIdPrefixes, describeMalformedId, formatIdPattern, isIdOf } from '../kinds/paths.ts';
import { listKindsOfReferenceType } from '../kinds/references.ts';
import { KINDS } from '../kinds/tables/registry.ts';
import { parseAddress } from '../model/address.ts';
import { assertNever } from '../model/errors.ts';
import {
  computeUtf8ByteLength,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  omitUndefined,
} from '../model/json.ts';
import { NO_NUL_PATTERN } from '../model/printable.ts';

/** Schemas of strings: values of fields, and keys of maps. */

/** The use of a schema, explained in field.ts. */
export type SchemaUse = 'manifest' | 'request' | 'response' | 'document';

/** Pattern of text with an environment variable. Editors must accept such text, because they do not know its value. */
export const ENVIRONMENT_REFERENCE_PATTERN = '\\$\\{env:';

/** Diagnostic codes of findings of custom checks. */
type SchemaFindingCode = 'bad-value' | 'bad-reference';

/**
 * Creates the schema of a text field. It does not check whether the service can store the text, because this is checked
 * for all texts when they are read.
 */
export function createTextSchema(type: TextType, use: SchemaUse): z.ZodType<string> {
  const { maxBytes, format, known, mayBeSecret } = type;
  let schema = z.string();
  if (maxBytes !== undefined) schema = addByteLimit(schema, maxBytes);
  if (known !== undefined && use === 'manifest') return schema.meta(createKnownKeywords(known));
  if (format === undefined) return use === 'request' ? schema.meta({ pattern: NO_NUL_PATTERN }) : schema;
  const rule = FORMATS[format];
  return schema
    .superRefine((text, context) => {
      const wrong = rule.check(text) ?? (use === 'request' ? checkRequestText(rule, text) : undefined);
      const message = wrong === undefined ? checkInManifest(rule, text, use) : `\`${text}\` ${wrong}`;
      if (message !== undefined) context.addIssue({ code: 'custom', message, params: { code: 'bad-value' } });
    })
    .meta({
      examples: [rule.example],
      ...createFormatKeywords(rule, use),
      ...(use === 'manifest' && mayBeSecret && { description: SECRET_DESCRIPTION }),
    });
}

/** Returns why a manifest cannot contain a valid text. Does not quote it, because it may be the text of a file. */
function checkInManifest(rule: FormatRule, text: string, use: SchemaUse): string | undefined {
  return use === 'manifest' ? rule.checkInManifest?.(text) : undefined;
}

/** Returns why a valid text is not in the form of requests, which contain A-labels in place of Unicode. */
function checkRequestText({ requestPattern, normalize }: FormatRule, text: string): string | undefined {
  return requestPattern === undefined || isAscii(text) ? undefined : `is not ASCII: write \`${normalize(text)}\``;
}
// biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text that a manifest has
const SECRET_DESCRIPTION = 'A text. A `${secret:NAME}` in it stands for the value of a variable that no output shows.';

/** Returns JSON Schema keywords for a text format. For manifests, they include the error message that editors show. */
function createFormatKeywords(rule: FormatRule, use: SchemaUse) {
  const { pattern, requestPattern, maxLength, format, expected } = rule;
  if (use === 'manifest') return pattern === undefined ? {} : { pattern, patternErrorMessage: `Must be ${expected}.` };
  return { pattern: requestPattern ?? pattern ?? NO_NUL_PATTERN, ...omitUndefined({ maxLength, format }) };
}

/**
 * Returns keywords for a text with known values, which editors offer. Other values are allowed, because the service
 * stores them too. Editors mark these as deprecated, because JSON Schema has no keyword for a warning.
 */
function createKnownKeywords(known: readonly string[]) {
  const words = known.map((word) => `\`${word}\``).join(', ');
  const deprecationMessage = `Not known to have an effect. Known: ${words}.`;
  return {
    examples: [...known],
    if: { anyOf: [{ enum: known }, { pattern: ENVIRONMENT_REFERENCE_PATTERN }] },
    else: { deprecationMessage },
  };
}

/** Schema of `{ file: path }`, which a manifest may contain instead of a value. */
export function createFileReferenceSchema(): z.ZodType {
  const file = z.string().min(1).describe('Path of a file with the value, relative to the folder of the manifest.');
  return z.strictObject({ file });
}

/**
 * Limits the length of a text in bytes. JSON Schema can limit only the number of characters. There, the same limit is
 * used: it rejects no valid text, because a text never has more characters than bytes.
 */
export function addByteLimit(schema: z.ZodString, maxBytes: number): z.ZodString {
  return schema
    .refine((text) => computeUtf8ByteLength(text) <= maxBytes, {
      params: { code: 'bad-value' satisfies SchemaFindingCode, maxBytes },
      error: ({ input }) =>
        `is ${computeUtf8ByteLength(String(input))} bytes long; the limit is ${maxBytes} bytes of UTF-8`,
    })
    .meta({ maxLength: maxBytes });
}

/**
 * Pattern of times in requests. Rejects times before 1970, because the validity of a certificate is computed as time
 * since 1970.
 */
export const TIME_SINCE_1970_PATTERN = '^(19[7-9][0-9]|[2-9][0-9]{3})-';

export function createTimestampSchema(use: SchemaUse): z.ZodType {
  const time = z.iso.datetime({ offset: true, error: 'is not an RFC 3339 time such as 2026-01-31T12:00:00Z' });
  return use === 'request' ? time.meta({ pattern: TIME_SINCE_1970_PATTERN }) : time;
}

/** Creates the schema of a reference: an id. In manifests it may also be an address, and in responses a Ref. */
export function createResourceReferenceSchema(type: ReferenceType, use: SchemaUse): z.ZodType {
  switch (use) {
    case 'manifest':
      return createCheckedTextSchema((value) => findReferenceFault(type, value), createReferencePattern(type)).meta({
        patternErrorMessage: `Must be ${describeReference(type)}.`,
      });
    case 'request':
      return createCheckedTextSchema((value) => findIdFault(type, value), `^${formatIdPattern(type)}$`);
    case 'response':
      return type.isRefInResponse ? z.union([z.looseObject({ id: z.string().nullish() }), z.string()]) : z.string();
    case 'document':
      return type.isRefInResponse ? REF_SCHEMA : z.string();
    default:
      return assertNever(use);
  }
}

/**
 * Creates the schema of a text that must be an id or an address. `findFault` returns the text of the error, which
 * follows the path in a message, or `undefined` if there is no error. `pattern`: the pattern in JSON Schema.
 */
export function createCheckedTextSchema(
  findFault: (text: string) => string | undefined,
  pattern: string,
): z.ZodType<string> {
  return z
    .string()
    .superRefine((text, context) => {
      const message = findFault(text);
      const params = { code: 'bad-reference' satisfies SchemaFindingCode };
      if (message !== undefined) context.addIssue({ code: 'custom', message, params });
    })
    .meta({ pattern });
}

const REF_SCHEMA = nameSharedSchema('Ref', z.strictObject({ id: z.string(), uri: z.string() }));

/**
 * Returns the error in a reference. Does not check the kind of an address: that is checked later, when all documents
 * are known, with a better message.
 */
function findReferenceFault(type: ReferenceType, text: string): string | undefined {
  if (parseAddress(text) !== undefined || isIdOf(type, text)) return undefined;
  return describeMalformedId(type, text) ?? `must be ${describeReference(type)}`;
}

function findIdFault(type: ReferenceType, text: string): string | undefined {
  if (isIdOf(type, text)) return undefined;
  return describeMalformedId(type, text) ?? `must be an id ${describeIdPrefixes(type)}`;
}

/**
 * Returns the pattern of a reference for editors. It also rejects addresses of kinds to which the field cannot refer.
 */
function createReferencePattern(type: ReferenceType): string {
  return `^((${listReferableNames(type).join('|')})/[^/\\s]+|${formatIdPattern(type)})$`;
}

function describeReference(type: ReferenceType): string {
  return `${describeReferable(type)}, or an id ${describeIdPrefixes(type)}`;
}

function describeReferable(type: ReferenceType): string {
  return listReferableNames(type)
    .map((name) => `${name}/name`)
    .join(' or ');
}

function listReferableNames(type: ReferenceType): readonly string[] {
  return [...listKindsOfReferenceType(type).map(({ name }) => name), 'External'];
}

/**
 * In JSON Schema, a shared schema occurs once, under `$defs`, and other places refer to it. A description or default
 * that belongs to one place is next to the reference.
 */

/** Any JSON. The value was parsed from JSON or YAML, so it needs no further check. */
export const ANY_JSON_SCHEMA: z.ZodType<Json> = z.any();

/** Makes a schema a shared schema with this name. Each name must belong to one schema. */
export function nameSharedSchema<Schema extends z.ZodType>(name: string, schema: Schema): Schema {
  return schema.meta({ id: name });
}

/** Returns the name of the shared schema for an object type. `undefined` if only one place uses the type. */
export function findSharedObjectSchemaName(type: ObjectType): string | undefined {
  return type.title === undefined ? MODULE_NAMES.get(type) : convertSnakeToPascalCase(type.title.replaceAll(' ', '_'));
}

/** Returns the name of the shared schema for a field. `undefined` if only one kind has the field. */
export function findSharedFieldSchemaName(field: Field): string | undefined {
  return COMMON_FIELDS.get(field);
}

/**
 * Maps the object types of fields to names. Such a type occurs in several places: in resources, in requests that create
 * or update them, and sometimes in requests for the module alone.
 */
const MODULE_NAMES = listModuleNames();

function listModuleNames(): ReadonlyMap<ObjectType, string> {
  const named = KINDS.flatMap(({ name, fields }) =>
    Object.entries(fields).flatMap(([field, { type }]) =>
      type.type === 'object' ? [[type, `${name}${convertSnakeToPascalCase(field)}`] as const] : [],
    ),
  );
  return new Map(named);
}

const COMMON_FIELDS = listCommonFields();

function listCommonFields(): ReadonlyMap<Field, string> {
  const entries = KINDS.flatMap(({ fields }) => Object.entries(fields));
  const byField = Map.groupBy(entries, ([, field]) => field);
  const common = [...byField].flatMap(([field, [first, ...more]]) =>
    first === undefined || more.length === 0 ? [] : [[field, convertSnakeToPascalCase(first[0])] as const],
  );
  return new Map(common);
}

/** Inlines every reference to `$defs`. Recursive definitions are not supported. */
export function inlineDefs({ $defs, ...schema }: JsonObject): JsonObject {
  const parts = $defs !== undefined && isJsonObject($defs) ? $defs : {};
  return toObject(writeOut(schema, parts));
}

const DEFS_PREFIX = '#/$defs/';

function writeOut(value: Json, parts: JsonObject): Json {
  if (isJsonArray(value)) return value.map((member) => writeOut(member, parts));
  if (!isJsonObject(value)) return value;
  const { $ref, ...rest } = value;
  const isPart = typeof $ref === 'string' && $ref.startsWith(DEFS_PREFIX);
  const whole = isPart ? { ...toObject(parts[$ref.slice(DEFS_PREFIX.length)]), ...rest } : value;
  return Object.fromEntries(Object.entries(whole).map(([key, member]) => [key, writeOut(member, parts)]));
}

function toObject(value: Json | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}
