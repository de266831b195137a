import { type FieldType, objectOf } from '../../kinds/field.ts';
import type { Kind } from '../../kinds/kind.ts';
import { findMemberType } from '../../kinds/walk.ts';
import { isAddress } from '../../model/address.ts';
import { isConcealed } from '../../model/concealed-value.ts';
import { parsePath } from '../../model/field-path.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import { toPrintable } from '../../model/printable.ts';
import { formatConcealed } from '../../model/secret-value.ts';
import { quoteIfNeeded, quoteText, toPrintableLines } from './escape.ts';

/**
 * Values as text. Free text is quoted; ids, addresses, and enumerated or validated words are not. So unquoted text
 * comes from Edgewise itself or has a validated format.
 */

/** Maps live ids to addresses. Reports show both, because readers do not know ids by heart. */
export type ResourceNames = ReadonlyMap<string, string>;

export const NO_VALUE = '(none)';

/** A value on one line: a scalar, or an empty list or object. */
export function renderScalar(type: OptionalFieldType, value: Json | undefined, names: ResourceNames): string {
  if (typeof value === 'string') return renderFieldText(type, value, names);
  if (isConcealed(value)) return toPrintable(formatConcealed(value));
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : NO_VALUE;
}

/** A value as lines: list members with bullets, object members as `key: value`, nested values indented. */
export function renderValueLines(type: OptionalFieldType, value: Json, names: ResourceNames): readonly string[] {
  if (isConcealed(value)) return [renderScalar(type, value, names)];
  if (isAbsentOrEmptyCollection(value)) return [NO_VALUE];
  if (isJsonArray(value)) {
    const members = value.map((member, index) => renderValueLines(findMemberType(type, index), member, names));
    return members.flatMap(([first = '', ...rest]) => [`• ${first}`, ...indent(rest)]);
  }
  if (isJsonObject(value)) return renderMembers(type, value, names);
  return isMultilineText(value) ? ['|', ...indent(toPrintableLines(value))] : [renderScalar(type, value, names)];
}

function renderFieldText(type: OptionalFieldType, text: string, names: ResourceNames): string {
  if (type?.type === 'reference') return renderReference(text, names);
  const isWord = type?.type === 'enum' || type?.type === 'timestamp' || (type?.type === 'text' && type.format);
  return isWord ? quoteIfNeeded(text) : quoteText(text);
}

function renderReference(text: string, names: ResourceNames): string {
  return isAddress(text) ? `${quoteIfNeeded(text)} (known after apply)` : renderKey(text, names);
}

function renderMembers(type: OptionalFieldType, value: JsonObject, names: ResourceNames): readonly string[] {
  return Object.entries(value).flatMap(([key, member]) => {
    const name = isReferenceMap(type) ? renderKey(key, names) : quoteIfNeeded(key);
    const [first = '', ...rest] = renderValueLines(findMemberType(type, key), member, names);
    if (isScalar(member)) return [`${name}: ${first}`, ...rest];
    return [`${name}:`, ...indent([first, ...rest])];
  });
}

/** An id, followed by its name in parentheses if the name is known. */
function renderKey(key: string, names: ResourceNames): string {
  const name = names.get(key);
  return name === undefined ? quoteIfNeeded(key) : `${quoteIfNeeded(key)} (${quoteIfNeeded(name)})`;
}

function indent(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `  ${line}`);
}

/** The type of a value from its kind's table; `undefined` for free JSON. */
export type OptionalFieldType = FieldType | undefined;

/** The type of the value at a path of a kind's spec, such as `policy.inbound[0].name`. */
export function findFieldType(kind: Kind, path: string): OptionalFieldType {
  const steps = parsePath(path);
  if (steps?.[0] !== 'lifecycle') return steps?.reduce<OptionalFieldType>(findMemberType, kind.type);
  return steps.slice(1).reduce<OptionalFieldType>(findMemberType, objectOf(kind.lifecycle));
}

export function isReferenceMap(type: OptionalFieldType): boolean {
  return type?.type === 'map' && type.keys.type === 'reference';
}

export function isAbsentOrEmptyCollection(value: Json | undefined): boolean {
  if (typeof value !== 'object' || value === null) return value === undefined || value === null;
  return !isConcealed(value) && Object.keys(value).length === 0;
}

/** Also true for empty lists and objects, and for concealed values. */
export function isScalar(value: Json | undefined): boolean {
  return typeof value !== 'object' || isConcealed(value) || isAbsentOrEmptyCollection(value);
}

export function isMultilineText(value: Json | undefined): value is string {
  return typeof value === 'string' && value.includes('\n');
}
