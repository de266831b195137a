import { readCondition } from '../expressions/read-condition.ts';
import { EMPTY, joinEffects, NO_EFFECT, NOT_SHOWN, placeEffect } from '../kinds/access-effect.ts';
import {
  type AccessEffect,
  type Field,
  type FieldType,
  listFields,
  type NamedField,
  type ObjectType,
} from '../kinds/field.ts';
import { FORMATS } from '../kinds/formats.ts';
import type { Kind } from '../kinds/kind.ts';
import { findMemberType } from '../kinds/walk.ts';
import { assertNever } from '../model/errors.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, toJsonList } from '../model/json.ts';
import type { FieldPath, Spec } from '../model/state.ts';

/**
 * The one answer to whether a value restricts access. Dangers, lint and drift ask it. Values are in normal form, and
 * `undefined` if the service does not show them.
 */

/** Whether a module or a switch is on. A module that does not show `enabled` may be on or off. */
export type SwitchState = 'on' | 'off' | 'unknown';

export function readSwitch(value: Json | undefined): SwitchState {
  if (value === undefined) return 'unknown';
  if (!isJsonObject(value)) return value === true ? 'on' : 'off';
  const { enabled } = value;
  if (enabled === undefined) return 'unknown';
  return enabled === true ? 'on' : 'off';
}

/** What the value of a field does to access. */
export function judgeField(field: Field, value: Json | undefined): AccessEffect {
  switch (field.restriction) {
    case undefined:
      return NO_EFFECT;
    case 'while-on':
      return judgeSwitched(field.type, value);
    case 'allow-list':
      return value === undefined ? createUnknown() : { effect: 'restricts' };
    case 'allow-list-or-all':
      return judgeMembers(field.type, value);
    case 'by-each':
      return judgeEach(field.type, value);
    case 'by-rules':
      return judgeRules(field.type, value);
    case 'unproven':
      return judgeMembers(field.type, value);
    case 'unknown':
      return { effect: 'unknown', why: UNKNOWN_HERE, path: [] };
    default:
      return assertNever(field.restriction);
  }
}

/** What one value of a map restricts, such as the option `source-address` of a certificate. */
export function judgeMapValue(type: FieldType, key: string, value: Json | undefined): AccessEffect {
  return value === undefined ? NO_EFFECT : judgeTexts(findMemberType(type, key), [value], [key]);
}

/** A part of a value that should restrict, and admits everyone. */
export type OpenPart = Pick<Extract<AccessEffect, { readonly why: string }>, 'why' | 'path'>;

/** Lists every part of a value that should restrict and admits everyone, also beside others that restrict. */
export function listOpenParts(field: Field, value: Json): readonly OpenPart[] {
  const { type } = field;
  const whole = judgeField(field, value);
  if (type.type === 'object' && isOfRules(type) && readSwitch(value) === 'on' && isJsonObject(value)) {
    if (whole.effect === 'open' && whole.path.length === 0) return [whole];
    const lists = Object.entries(type.fields).map(([name, inner]) => [name, inner.type] as const);
    return lists.flatMap(([name, inner]) => listOpenMembers(inner, value[name], [name]));
  }
  if (type.type === 'map' && isJsonObject(value))
    return Object.entries(value).flatMap(([key, member]) => pickOpen(judgeMapValue(type, key, member)));
  return pickOpen(whole);
}

function listOpenMembers(type: FieldType, value: Json | undefined, path: FieldPath): readonly OpenPart[] {
  return toJsonList(value).flatMap((member, index) =>
    pickOpen(placeEffect(judgeMember(type, member), [...path, index])),
  );
}

function pickOpen(effect: AccessEffect): readonly OpenPart[] {
  return effect.effect === 'open' ? [effect] : [];
}

/** Whether an object is a policy, which consists of rules. */
export function isOfRules(type: FieldType): boolean {
  return type.type === 'object' && Object.values(type.fields).some(({ restriction }) => restriction === 'by-rules');
}

/** Whether a switch among the fields is off, so that the other fields have no effect. */
export function isSwitchedOff(fields: readonly NamedField[], value: JsonObject): boolean {
  return fields.some(([name, field]) => isPlainSwitch(field) && readSwitch(value[name]) === 'off');
}

/** Whether the field is a switch for the fields beside it, and not a module. */
export function isPlainSwitch({ restriction, type }: Field): boolean {
  return restriction === 'while-on' && type.type === 'boolean';
}

/**
 * Whether everyone may use a new resource because its manifest asks for no restriction: no module restricts, or a list
 * that would restrict is not written. An empty list that is written is no such wish: it may be a mistake.
 */
export function isOpenOnPurpose(
  kind: Kind,
  { written, normal }: Readonly<Record<'written' | 'normal', Spec>>,
): boolean {
  const fields = kind.restrictsAccess ? [] : kind.specFields;
  const lists = fields.filter(([, { restriction }]) => restriction === 'allow-list-or-all');
  const modules = fields.filter(([, { restriction }]) => restriction === 'while-on');
  const isUnwritten = ([name]: NamedField) => (written[name] ?? null) === null;
  const isWithout = ([name, field]: NamedField) => judgeField(field, normal[name]).effect === 'none';
  return lists.some(isUnwritten) || (modules.length > 0 && modules.every(isWithout));
}

function judgeSwitched(type: FieldType, value: Json | undefined): AccessEffect {
  switch (readSwitch(value)) {
    case 'off':
      return NO_EFFECT;
    case 'unknown':
      return createUnknown(value === undefined ? [] : ['enabled']);
    default:
      return type.type === 'object' && isJsonObject(value) ? judgeObject(type, value) : { effect: 'restricts' };
  }
}

/** Judges the parts of a module that is on. A module without restricting parts restricts as a whole. */
function judgeObject(type: ObjectType, value: JsonObject): AccessEffect {
  if (type.judgeAccess !== undefined) return type.judgeAccess(value, readCondition);
  const parts = listFields(type, value).filter(([, { restriction }]) => restriction !== undefined);
  if (parts.length === 0) return { effect: 'restricts' };
  if (parts.every(([name, { restriction }]) => restriction === 'by-rules' && isEmptyList(value[name])))
    return { effect: 'open', why: 'it has no rule', path: [] };
  return joinEffects(parts.map(([name, field]) => placeEffect(judgeField(field, value[name]), [name])));
}

function isEmptyList(value: Json | undefined): boolean {
  return value === null || (isJsonArray(value) && value.length === 0);
}

function judgeRules(type: FieldType, value: Json | undefined): AccessEffect {
  if (value === undefined) return createUnknown();
  return joinEffects(toJsonList(value).map((member, index) => placeEffect(judgeMember(type, member), [index])));
}

function judgeMember(type: FieldType, member: Json): AccessEffect {
  const rule = type.type === 'list' ? type.of : type;
  return rule.type === 'object' && isJsonObject(member) ? judgeObject(rule, member) : NO_EFFECT;
}

/** Judges a list of what is admitted. An empty one admits everyone. */
function judgeMembers(type: FieldType, value: Json | undefined): AccessEffect {
  if (value === undefined) return createUnknown();
  const members = toJsonList(value);
  if (members.length === 0) return { effect: 'open', why: EMPTY, path: [] };
  return judgeTexts(type.type === 'list' ? type.of : undefined, members, []);
}

function judgeTexts(type: FieldType | undefined, values: readonly Json[], path: readonly string[]): AccessEffect {
  const format = type?.type === 'text' && type.format !== undefined ? FORMATS[type.format] : undefined;
  if (format?.findOpening === undefined) return { effect: 'restricts' };
  const texts = values.map(String);
  const why = format.findOpening(texts);
  if (why !== undefined) return { effect: 'open', why, path };
  const isReadable = texts.some((text) => format.check(text) === undefined);
  return isReadable ? { effect: 'restricts' } : { effect: 'unknown', why: 'it cannot be read here', path };
}

/** Each value of a map is a restriction of its own, and a value without members is one. */
function judgeEach(type: FieldType, value: Json | undefined): AccessEffect {
  if (value === undefined) return createUnknown();
  if (value === null) return NO_EFFECT;
  if (!isJsonObject(value)) return { effect: 'restricts' };
  return joinEffects(Object.entries(value).map(([key, member]) => judgeMapValue(type, key, member)));
}

/** What a member does that no table lists. */
const UNKNOWN_HERE = 'what it does is not known here';

function createUnknown(path: readonly string[] = []): AccessEffect {
  return { effect: 'unknown', why: NOT_SHOWN, path };
}
