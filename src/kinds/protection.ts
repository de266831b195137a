import type { Loosening } from '../model/danger.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, toCanonicalJson } from '../model/json.ts';
import type { FieldPath, Spec } from '../model/state.ts';
import type { Field, FieldType, NamedField, Protection } from './field.ts';
import { type Kind, listSpecFields } from './kind.ts';
import { isUnset } from './normalize.ts';

/** A place at which access is wider than before. */
export interface Opening {
  readonly path: FieldPath;
  readonly how: Loosening;
}

/** Where a spec lets more in than another did, both in normal form. `to` absent: the resource goes. */
export function listOpenings(kind: Kind, from: Spec, to: Spec | undefined): readonly Opening[] {
  const fields = listSpecFields(kind);
  if (to !== undefined) return compareFields(fields, from, to, []);
  return kind.isProtection && !isSwitchedOff(fields, from) ? [{ path: [], how: 'removed' }] : [];
}

/** When a switch is off, the fields beside it have no effect. */
function compareFields(
  fields: readonly NamedField[],
  from: JsonObject,
  to: JsonObject,
  path: FieldPath,
): readonly Opening[] {
  if (isSwitchedOff(fields, from)) return [];
  return fields.flatMap(([name, field]) => compareField(field, from[name], to[name], [...path, name]));
}

function isSwitchedOff(fields: readonly NamedField[], value: JsonObject): boolean {
  return fields.some(
    ([name, { protects, type }]) => protects === 'while-on' && type.type === 'boolean' && value[name] !== true,
  );
}

function compareField(field: Field, from: Json | undefined, to: Json | undefined, path: FieldPath): readonly Opening[] {
  if (field.protects === undefined) return compareInner(field, from, to, path);
  const how = COMPARE[field.protects](withoutCaptions(field.type, from), withoutCaptions(field.type, to));
  if (how !== undefined) return [{ path, how }];
  return isOn(from) ? compareInner(field, from, to, path) : [];
}

function compareInner(
  { type }: Field,
  from: Json | undefined,
  to: Json | undefined,
  path: FieldPath,
): readonly Opening[] {
  if (type.type !== 'object' || !isJsonObject(from) || !isJsonObject(to)) return [];
  return compareFields(Object.entries(type.fields), from, to, path);
}

/** A list of objects without what only names them; any other value as it is. */
function withoutCaptions(type: FieldType, value: Json | undefined): Json | undefined {
  if (type.type !== 'list' || type.of.type !== 'object' || !isJsonArray(value)) return value;
  const { fields } = type.of;
  return value.map((member) => {
    if (!isJsonObject(member)) return member;
    return Object.fromEntries(Object.entries(member).filter(([name]) => fields[name]?.isCaption !== true));
  });
}

type Compare = (from: Json | undefined, to: Json | undefined) => Loosening | undefined;

const COMPARE: Readonly<Record<Protection, Compare>> = {
  'while-on': (from, to) => {
    if (!isOn(from) || isOn(to)) return undefined;
    return isUnset(to) ? 'removed' : 'disabled';
  },
  'by-each': (from, to) => {
    const left = new Set(listMembers(to));
    return listMembers(from).every((member) => left.has(member)) ? undefined : toLoosening(left.size);
  },
  'but-each': (from, to) => (isCovered(from, to) ? undefined : 'loosened'),
  'but-each-or-all': (from, to) => {
    if (listMembers(from).length === 0) return undefined;
    if (listMembers(to).length === 0) return 'removed';
    return isCovered(from, to) ? undefined : 'loosened';
  },
};

function toLoosening(left: number): Loosening {
  return left === 0 ? 'removed' : 'loosened';
}

/** A switch that is true, or a module that is set and not disabled. */
function isOn(value: Json | undefined): boolean {
  return value === true || (isJsonObject(value) && value['enabled'] !== false);
}

/** Each member as a text that identifies it; for a map, each key with its value. A text is its own member. */
function listMembers(value: Json | undefined): readonly string[] {
  if (typeof value === 'string') return [value];
  if (isJsonArray(value)) return value.map((member) => (typeof member === 'string' ? member : toCanonicalJson(member)));
  return isJsonObject(value) ? Object.entries(value).map((entry) => toCanonicalJson(entry)) : [];
}

/** Whether every new member was covered by an old one; `*` stands for any text. */
function isCovered(from: Json | undefined, to: Json | undefined): boolean {
  const before = listMembers(from);
  const known = new Set(before);
  const patterns = before.filter((member) => member.includes('*')).map(toPattern);
  return listMembers(to).every((member) => known.has(member) || patterns.some((pattern) => pattern.test(member)));
}

function toPattern(member: string): RegExp {
  return new RegExp(`^${member.split('*').map(escapeRegExp).join('.*')}$`, 's');
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
