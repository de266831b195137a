import type { FieldType, ObjectType } from '../kinds/field.ts';
import type { Kind } from '../kinds/kind.ts';
import type { NamedModule } from '../kinds/operations.ts';
import { listPathIdNamesOfKind } from '../kinds/paths.ts';
import { findPatchClearValue } from '../kinds/request-body.ts';
import { listBadPrototypeKeys, mapDirectMembers, mapPresentFields } from '../kinds/walk.ts';
import { InvariantError } from '../model/errors.ts';
import { formatPath } from '../model/field-path.ts';
import type { UncodedFinding } from '../model/finding.ts';
import { isJsonArray, isJsonObject, isSameJson, type Json, type JsonObject } from '../model/json.ts';
import { listUnstorableTexts } from '../model/printable.ts';
import type { Spec } from '../model/state.ts';
import { createModuleBodySchema, createRequestBodySchema } from '../schemas/field.ts';
import { yieldSchemaFindings } from '../schemas/findings.ts';
import { RequestError } from './failure.ts';

type Schema = ReturnType<typeof createRequestBodySchema>;

/**
 * Returns the spec for the body of a POST, with defaults for absent fields. Ignores `id` and nulls. Throws
 * `RequestError` for an invalid body.
 */
export function parseCreateBody(kind: Kind, body: JsonObject): Spec {
  const given = dropIgnored(kind, dropUnspecified(kind.type, body), () => true);
  refuseUnfit(kind, 'create', given);
  return { ...kind.defaults, ...patchSpec(kind, {}, given) };
}

/**
 * Returns the fields in the body of a PATCH. Ignores `id`, and each null that does not clear its field. Throws
 * `RequestError` for an invalid body, and if it names no field.
 */
export function parseUpdateBody(kind: Kind, body: JsonObject): Spec {
  const { id: _, ...named } = body;
  if (Object.keys(named).length === 0)
    throw new RequestError('The body contains no field to change', { code: 'empty_update' });
  const specified = dropUnspecified(kind.type, named);
  const given = dropIgnored(kind, specified, (name) => kind.fields[name]?.clear !== 'null');
  refuseImmutable(kind, given);
  refuseUnfit(kind, 'update', given);
  return given;
}

/**
 * Returns the module in the body of a PUT. The body is either the module itself, or an object with the key `module` and
 * optionally the ids of the path. Throws `RequestError` for an invalid body.
 */
export function parseModuleBody(kind: Kind, module: NamedModule, body: JsonObject): JsonObject {
  const bare = assertObject(dropUnspecifiedIn(module.field.type, unwrapModule(kind, body)));
  const schema = getBodySchema(`${kind.name} ${module.name}`, () => createModuleBodySchema(module.field, 'request'));
  refuseUnfitValue(bare, schema, module.field.type);
  return bare;
}

/** Returns the spec after the fields of a PATCH or POST are set. Cleared fields are left out. */
export function patchSpec(kind: Kind, before: Spec, given: Spec): Spec {
  const cleared = Object.entries(given).filter(([name, value]) => isCleared(kind, name, value));
  const spec: Record<string, Json> = { ...before, ...given };
  for (const [name] of cleared) delete spec[name];
  return spec;
}

/** Throws `RequestError` if the spec violates a rule that concerns several fields. */
export function refuseCrossFieldViolations(kind: Kind, spec: Spec): void {
  refuseFindings(kind.check(spec));
}

const SCHEMAS = new Map<string, Schema>();

/** Returns a cached schema. A schema is built when it is first needed. */
function getBodySchema(name: string, build: () => Schema): Schema {
  const schema = SCHEMAS.get(name) ?? build();
  SCHEMAS.set(name, schema);
  return schema;
}

/** An error reports at most this many invalid fields, which is enough for one correction. */
const MOST_FINDINGS = 20;

function refuseUnfit(kind: Kind, purpose: 'create' | 'update', body: JsonObject): void {
  const schema = getBodySchema(`${purpose} ${kind.name}`, () => createRequestBodySchema(kind, purpose));
  refuseUnfitValue(body, schema, kind.specType);
}

function refuseUnfitValue(value: Json, schema: Schema, type: FieldType): void {
  const unfit = yieldSchemaFindings(schema, value).take(MOST_FINDINGS);
  const unusable = listBadPrototypeKeys(type, value).map((path) => ({ path, message: 'cannot be a key' }));
  const findings = [...listUnstorableTexts(value), ...unfit, ...unusable];
  refuseFindings(
    findings.slice(0, MOST_FINDINGS).map(({ path, message }) => ({ path, message: `${formatPath(path)} ${message}` })),
  );
}

function refuseFindings(findings: readonly UncodedFinding[]): void {
  const [first] = findings;
  if (first === undefined) return;
  const messages = findings.map(({ message }) => message).join('; ');
  throw new RequestError(messages, { code: 'invalid_field', details: { field: formatPath(first.path) } });
}

function dropIgnored(kind: Kind, body: JsonObject, isNullIgnored: (name: string) => boolean): JsonObject {
  const entries = Object.entries(body).filter(([name, value]) => {
    if (name === 'id' && kind.fields['id']?.lifecycle === 'computed') return false;
    return value !== null || !Object.hasOwn(kind.fields, name) || !isNullIgnored(name);
  });
  return Object.fromEntries(entries);
}

/**
 * Drops what published clients send for values that are not specified: null in a field that the API does not have, and
 * an empty text in place of a time, an id, or a word of a list. Makes a list of one member where it may be alone.
 */
function dropUnspecified({ fields }: ObjectType, value: JsonObject): JsonObject {
  const kept = Object.entries(value).filter(([name, member]) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) return member !== null;
    return member !== '' || field.required || !UNSPECIFIED_IF_EMPTY.has(field.type.type);
  });
  return mapPresentFields(Object.entries(fields), Object.fromEntries(kept), dropUnspecifiedIn);
}

function dropUnspecifiedIn(type: FieldType, value: Json): Json {
  const isSingle =
    type.type === 'list' &&
    type.orSingle &&
    value !== null &&
    !isJsonArray(value) &&
    isJsonObject(value) === (type.of.type === 'object');
  return mapDirectMembers(type, isSingle ? [value] : value, { visit: dropUnspecifiedIn, visitFields: dropUnspecified });
}

const UNSPECIFIED_IF_EMPTY: ReadonlySet<FieldType['type']> = new Set(['timestamp', 'reference', 'enum']);

function assertObject(value: Json): JsonObject {
  if (isJsonObject(value)) return value;
  throw new InvariantError('A module stays an object');
}

function refuseImmutable(kind: Kind, given: JsonObject): void {
  const fixed = Object.keys(given).filter(
    (name) => Object.hasOwn(kind.fields, name) && kind.fields[name]?.lifecycle !== 'mutable',
  );
  refuseFindings(fixed.map((name) => ({ path: [name], message: `${name} cannot be changed` })));
}

function unwrapModule(kind: Kind, body: JsonObject): JsonObject {
  const { module, ...rest } = body;
  if (module === undefined) return body;
  const named = Object.keys(rest).filter((name) => rest[name] !== null);
  const beside = named.find((name) => !listPathIdNamesOfKind(kind).includes(name));
  if (beside === undefined && isJsonObject(module)) return module;
  const finding = beside === undefined ? 'module must be an object' : `${beside} is not allowed beside \`module\``;
  throw new RequestError(finding, { code: 'invalid_field', details: { field: beside ?? 'module' } });
}

/**
 * Whether a value removes its field from the spec: null, or the clear value of the field if the field has no default.
 */
function isCleared(kind: Kind, name: string, value: Json): boolean {
  const field = kind.fields[name];
  if (value === null || field === undefined) return true;
  const clearValue = field.default === undefined ? findPatchClearValue(field) : undefined;
  return clearValue !== undefined && isSameJson(value, clearValue);
}
