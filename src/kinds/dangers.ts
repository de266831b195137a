import { type Danger, type DangerGroup, sortDangers } from '../model/danger.ts';
import { assertNever } from '../model/errors.ts';
import { formatPath } from '../model/field-path.ts';
import { isJsonArray, isJsonObject, isSameJson, type Json, type JsonObject, toCanonicalJson } from '../model/json.ts';
import type { FieldPath, Spec } from '../model/state.ts';
import type { Field, FieldType, NamedField } from './field.ts';
import { FORMATS } from './formats.ts';
import type { Kind } from './kind.ts';
import { isUnset } from './normalize.ts';

/** One of two states of a resource. */
export interface ResourceSide {
  /** In normal form. */
  readonly spec: Spec;
  readonly protect?: boolean | undefined;
  /** The stack that owns it; absent: none. */
  readonly stack?: string | undefined;
}

/**
 * The dangers of a transition between two states of a resource: an apply takes it from live to desired, a change at the service took it from expected to
 * live. A side is absent when the resource does not exist.
 */
export function compareSides(
  kind: Kind,
  from: ResourceSide | undefined,
  to: ResourceSide | undefined,
): readonly Danger[] {
  return sortDangers([
    ...listAccessFacts(kind, from?.spec, to?.spec).map((fact) => ({ group: toAccessGroup(kind), ...fact })),
    ...listLockouts(kind, from?.spec, to?.spec),
    ...listTrafficFacts(kind, from?.spec, to?.spec).map((fact) => ({ group: 'traffic' as const, ...fact })),
    ...listSecretDangers(kind, from?.spec, to?.spec),
    ...listProtectionDangers(from, to),
  ]);
}

type Fact = Omit<Danger, 'group'>;

/** Who may use a token or a certificate is said with what else is said of it. */
function toAccessGroup(kind: Kind): DangerGroup {
  return isSecret(kind) ? 'secrets' : 'access';
}

function isSecret(kind: Kind): boolean {
  return kind.validity !== undefined || kind.oneTimeFields.length > 0;
}

function listAccessFacts(kind: Kind, from: Spec | undefined, to: Spec | undefined): readonly Fact[] {
  const fields = kind.specFields;
  if (to !== undefined) return from === undefined ? listUnrestricted(fields, to) : compareFields(fields, from, to, []);
  if (from === undefined || !kind.isProtection || isSwitchedOff(fields, from)) return [];
  return [{ danger: 'restriction-removed' }];
}

/** Fields of a new resource that restrict nothing from the start. */
function listUnrestricted(fields: readonly NamedField[], to: Spec): readonly Fact[] {
  return fields.flatMap(([name, field]): readonly Fact[] => {
    const isOpen = field.protects === 'but-each-or-all' && listMembers(to[name]).length === 0;
    return isOpen ? [toUnrestricted([name], undefined)] : [];
  });
}

function toUnrestricted(path: FieldPath, from: Json | undefined): Fact {
  return { danger: 'unrestricted', path: formatPath(path), ...toSides(from, undefined) };
}

/** When a switch is off, the fields beside it have no effect. */
function compareFields(
  fields: readonly NamedField[],
  from: JsonObject,
  to: JsonObject,
  path: FieldPath,
): readonly Fact[] {
  if (isSwitchedOff(fields, from)) return [];
  const switches = fields.filter(([, { protects, type }]) => protects === 'while-on' && type.type === 'boolean');
  const off = switches.filter(([name]) => to[name] !== true);
  return (off.length > 0 ? off : fields).flatMap(([name, field]) =>
    compareField(field, from[name], to[name], [...path, name]),
  );
}

function isSwitchedOff(fields: readonly NamedField[], value: JsonObject): boolean {
  return fields.some(
    ([name, { protects, type }]) => protects === 'while-on' && type.type === 'boolean' && value[name] !== true,
  );
}

function compareField(field: Field, from: Json | undefined, to: Json | undefined, path: FieldPath): readonly Fact[] {
  switch (field.protects) {
    case undefined:
      return compareInner(field, from, to, path);
    case 'while-on':
      return compareSwitch(field, from, to, path);
    case 'by-each':
      return compareRestrictions(from, to, path);
    case 'but-each':
      return compareAdmitted(field, from, to, path);
    case 'but-each-or-all':
      if (listMembers(from).length === 0) return [];
      if (listMembers(to).length === 0) return [toUnrestricted(path, from)];
      return compareAdmitted(field, from, to, path);
    case 'by-rules':
      return compareRules(field.type, { from: toList(from), to: toList(to) }, path);
    case 'unproven':
      return isSameJson(from ?? null, to ?? null) ? [] : [toMemberFact('restriction-changed', from, to, path)];
    default:
      return assertNever(field.protects);
  }
}

function compareInner({ type }: Field, from: Json | undefined, to: Json | undefined, path: FieldPath): readonly Fact[] {
  if (type.type !== 'object' || !isJsonObject(from) || !isJsonObject(to)) return [];
  return compareFields(type.namedFields, from, to, path);
}

function compareSwitch(field: Field, from: Json | undefined, to: Json | undefined, path: FieldPath): readonly Fact[] {
  const wasInForce = isOn(from) && restricts(field.type, from);
  if (!wasInForce) return isOn(to) ? compareAllRules(field.type, {}, to, path) : [];
  if (isOn(to)) return compareInner(field, from, to, path);
  // Rules may or may not have kept any caller out.
  if (isUnset(to) && isOfRules(field.type)) return compareAllRules(field.type, from, {}, path);
  const danger = isUnset(to) ? 'restriction-removed' : 'restriction-disabled';
  return [{ danger, path: formatPath(path), ...toSides(from, isUnset(to) ? undefined : to) }];
}

/** When a whole policy comes into force or ends, all of its rules do. */
function compareAllRules(
  type: FieldType,
  from: Json | undefined,
  to: Json | undefined,
  path: FieldPath,
): readonly Fact[] {
  if (type.type !== 'object' || !isJsonObject(from) || !isJsonObject(to)) return [];
  return type.namedFields
    .filter(([, { protects }]) => protects === 'by-rules')
    .flatMap(([name, field]) =>
      compareRules(field.type, { from: toList(from[name]), to: toList(to[name]) }, [...path, name]),
    );
}

function isOfRules(type: FieldType): boolean {
  const inner = type.type === 'object' ? Object.values(type.fields) : [];
  const protecting = inner.filter(({ protects }) => protects !== undefined);
  return protecting.length > 0 && protecting.every(({ protects }) => protects === 'by-rules');
}

/** Whether a module that is on keeps anybody out: an empty one does not. */
function restricts(type: FieldType, value: Json | undefined): boolean {
  if (type.type !== 'object' || !isJsonObject(value)) return true;
  const inner = type.namedFields.filter(([, { protects }]) => protects !== undefined);
  return inner.length === 0 || inner.some(([name]) => listMembers(value[name]).length > 0);
}

/** A switch that is true, or a module that is set and not disabled. */
function isOn(value: Json | undefined): boolean {
  return value === true || (isJsonObject(value) && value['enabled'] !== false);
}

/** Each member restricts: what one of them becomes is known of no map. */
function compareRestrictions(from: Json | undefined, to: Json | undefined, path: FieldPath): readonly Fact[] {
  const { lost } = toMemberSides(from, to);
  if (lost.length === 0) return [];
  if (!isJsonObject(from) || !isJsonObject(to)) return [toMemberFact('restriction-removed', from, to, path)];
  const changed = Object.keys(from).filter((key) => to[key] !== undefined && !isSameJson(from[key] ?? null, to[key]));
  return Object.keys(from)
    .filter((key) => to[key] === undefined || changed.includes(key))
    .map((key) => ({
      danger: changed.includes(key) ? 'restriction-changed' : 'restriction-removed',
      path: formatPath([...path, key]),
      ...toSides(from[key], to[key]),
    }));
}

function compareAdmitted(
  { type }: Field,
  from: Json | undefined,
  to: Json | undefined,
  path: FieldPath,
): readonly Fact[] {
  const { found } = toMemberSides(from, to);
  const patterns = isOfPatterns(type) ? listMembers(from).map(toPattern) : [];
  const isKnown = (member: Json) => typeof member === 'string' && patterns.some((pattern) => pattern.test(member));
  const admitted = found.filter((member) => !isKnown(member));
  if (admitted.length === 0) return [];
  return [{ danger: 'lets-in', path: formatPath(path), to: joinMembers(to, admitted) }];
}

/** Whether `*` matches any text in the members. */
function isOfPatterns(type: FieldType): boolean {
  if (type.type !== 'list' || type.of.type !== 'text' || type.of.format === undefined) return false;
  return FORMATS[type.of.format].hasWildcards === true;
}

function toPattern(member: Json): RegExp {
  return new RegExp(`^${String(member).split('*').map(escapeRegExp).join('.*')}$`, 's');
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

interface RuleSides {
  readonly from: readonly Json[];
  readonly to: readonly Json[];
}

/** A rule of a list, and its place in it. */
interface PlacedRule {
  readonly rule: Json;
  readonly index: number;
}

/** Rules are equal whatever their names; the unequal ones are paired by name, then by position. */
function compareRules(type: FieldType, { from, to }: RuleSides, path: FieldPath): readonly Fact[] {
  const texts = [from, to].map((rules) => rules.map((rule) => toCanonicalJson(withoutCaptions(type, rule))));
  const [before = [], after = []] = texts;
  const lost = listUnmatched(from, before, after);
  const found = listUnmatched(to, after, before);
  const pairs = [
    ...lost.flatMap((one) =>
      found.filter((other) => isSameCaption(type, one, other)).map((other) => [one, other] as const),
    ),
    ...lost.flatMap((one) => found.filter(({ index }) => index === one.index).map((other) => [one, other] as const)),
  ];
  const changed = new Map<PlacedRule, PlacedRule>();
  const taken = new Set<PlacedRule>();
  for (const [one, other] of pairs) {
    if (changed.has(one) || taken.has(other)) continue;
    changed.set(one, other);
    taken.add(other);
  }
  const at = (index: number) => formatPath([...path, index]);
  const kept = (own: readonly string[], others: readonly string[]) => own.filter((text) => others.includes(text));
  const isMoved = !isSameJson(kept(before, after), kept(after, before)) && lost.length + found.length === 0;
  return [
    ...lost.filter((one) => !changed.has(one)).map(({ rule, index }) => toRule('rule-removed', at(index), rule)),
    ...[...changed].map(([one, { rule, index }]) => toRule('rule-changed', at(index), one.rule, rule)),
    ...found
      .filter((one) => !taken.has(one))
      .map(({ rule, index }) => toRule('rule-added', at(index), undefined, rule)),
    ...(isMoved ? [toRule('rules-reordered', formatPath(path), from, to)] : []),
  ];
}

function toRule(danger: Danger['danger'], path: string, from: Json | undefined, to?: Json): Fact {
  return { danger, path, ...toSides(from, to) };
}

function listUnmatched(
  rules: readonly Json[],
  own: readonly string[],
  others: readonly string[],
): readonly PlacedRule[] {
  const left = new Map<string, number>();
  for (const text of others) left.set(text, (left.get(text) ?? 0) + 1);
  return rules.flatMap((rule, index) => {
    const text = own[index] ?? '';
    const count = left.get(text) ?? 0;
    left.set(text, count - 1);
    return count > 0 ? [] : [{ rule, index }];
  });
}

function isSameCaption(type: FieldType, left: PlacedRule, right: PlacedRule): boolean {
  const [one, other] = [left, right].map(({ rule }) => readCaption(type.type === 'list' ? type.of : type, rule));
  return one !== undefined && one === other;
}

/** The text that only names a rule; `undefined`: it has none. `type`: of the rule. */
export function readCaption(type: FieldType | undefined, rule: Json): string | undefined {
  if (type?.type !== 'object' || !isJsonObject(rule)) return undefined;
  const name = type.namedFields.find(([, { isCaption }]) => isCaption)?.[0];
  const caption = name === undefined ? undefined : rule[name];
  return typeof caption === 'string' && caption !== '' ? caption : undefined;
}

function withoutCaptions(type: FieldType, rule: Json): Json {
  if (type.type !== 'list' || type.of.type !== 'object' || !isJsonObject(rule)) return rule;
  const { fields } = type.of;
  return Object.fromEntries(Object.entries(rule).filter(([name]) => fields[name]?.isCaption !== true));
}

/** A resource that can lock its own caller out, and that did not before as it does now. */
function listLockouts(kind: Kind, from: Spec | undefined, to: Spec | undefined): readonly Danger[] {
  if (to === undefined || !kind.canLockOut(to)) return [];
  const isSame = ([name, { protects }]: NamedField) =>
    protects === undefined || isSameJson(from?.[name] ?? null, to[name] ?? null);
  if (from !== undefined && kind.specFields.every(isSame)) return [];
  return [{ group: 'access', danger: 'lockout' }];
}

/** Traffic that is no longer answered. A removed value reports only the addresses that it served; everything else follows from that. */
function listTrafficFacts(kind: Kind, from: Spec | undefined, to: Spec | undefined): readonly Fact[] {
  if (from === undefined) return [];
  return kind.specFields.flatMap(([name, { carries }]): readonly Fact[] => {
    switch (carries) {
      case undefined:
        return [];
      case 'by-each':
        return compareServed(from[name], to?.[name], name);
      case 'while-on':
        return to === undefined ? [] : compareTarget(from[name], to[name], name);
      case 'by-share':
        return to === undefined ? [] : compareShares(from[name], to[name], name);
      default:
        return assertNever(carries);
    }
  });
}

function compareServed(from: Json | undefined, to: Json | undefined, name: string): readonly Fact[] {
  const { lost, found } = toMemberSides(from, to);
  if (lost.length === 0) return [];
  return [toMemberFact(found.length === 0 ? 'address-released' : 'address-changed', from, to, [name])];
}

function compareTarget(from: Json | undefined, to: Json | undefined, path: string): readonly Fact[] {
  if (!isOn(from) || isOn(to)) return [];
  if (isUnset(to)) return [{ danger: 'target-removed', path, ...toSides(from, undefined) }];
  return [{ danger: 'target-disabled', path, ...toSides(from, to) }];
}

function compareShares(from: Json | undefined, to: Json | undefined, path: string): readonly Fact[] {
  const hasShare = (value: Json | undefined) =>
    isJsonObject(value) && Object.values(value).some((share) => share !== 0);
  return hasShare(from) && !hasShare(to) ? [{ danger: 'no-weight', path, ...toSides(from, to) }] : [];
}

function listSecretDangers(kind: Kind, from: Spec | undefined, to: Spec | undefined): readonly Danger[] {
  if (from === undefined) return [];
  if (to === undefined) return listRevoked(kind);
  const until = kind.validity?.until;
  const [before, after] = [from, to].map((spec) => (until === undefined ? undefined : spec[until]));
  if (typeof before !== 'string' || typeof after !== 'string' || Date.parse(after) <= Date.parse(before)) return [];
  return [{ group: 'secrets', danger: 'longer-validity', path: until ?? '', from: before, to: after }];
}

/** What suffers while a resource is not there; `undefined`: nothing that its table knows of. */
export function findAbsenceGroup(kind: Kind, spec: Spec): DangerGroup | undefined {
  const [first] = compareSides(kind, { spec }, undefined);
  return first?.group;
}

/** One-time values that become invalid with the delete of the resource. */
function listRevoked(kind: Kind): readonly Danger[] {
  return kind.oneTimeFields.map((path) => {
    const consequence = kind.fields[path]?.whenReplaced;
    return { group: 'secrets', danger: 'token-revoked', path, ...(consequence !== undefined && { consequence }) };
  });
}

function listProtectionDangers(from: ResourceSide | undefined, to: ResourceSide | undefined): readonly Danger[] {
  const isOwned = from?.stack !== undefined;
  return [
    ...(from?.protect === true && to?.protect !== true ? [{ ...PROTECTION, danger: 'unprotected' } as const] : []),
    ...(isOwned && to !== undefined && to.stack === undefined
      ? [{ ...PROTECTION, danger: 'released', from: from.stack } as const]
      : []),
    ...(isOwned && to?.stack !== undefined && to.stack !== from.stack
      ? [{ ...PROTECTION, danger: 'handed-over', from: from.stack, to: to.stack } as const]
      : []),
  ];
}

const PROTECTION = { group: 'protection' } as const;

/** The members that one side has and the other has not. */
interface MemberSides {
  readonly lost: readonly Json[];
  readonly found: readonly Json[];
}

function toMemberSides(from: Json | undefined, to: Json | undefined): MemberSides {
  const [before, after] = [from, to].map(
    (side) => new Map(listMembers(side).map((one) => [toCanonicalJson(one), one])),
  );
  const without = (own = new Map<string, Json>(), others = new Map<string, Json>()) =>
    [...own].flatMap(([text, member]) => (others.has(text) ? [] : [member]));
  return { lost: without(before, after), found: without(after, before) };
}

/** A fact about the members that differ. */
function toMemberFact(danger: Danger['danger'], from: Json | undefined, to: Json | undefined, path: FieldPath): Fact {
  const { lost, found } = toMemberSides(from, to);
  return {
    danger,
    path: formatPath(path),
    ...(lost.length > 0 && { from: joinMembers(from, lost) }),
    ...(found.length > 0 && { to: joinMembers(to, found) }),
  };
}

/** Each member of a list, each key of a map with its value, or the value itself. */
function listMembers(value: Json | undefined): readonly Json[] {
  if (isUnset(value)) return [];
  if (isJsonArray(value)) return value;
  return isJsonObject(value) ? Object.entries(value).map(([key, member]) => [key, member]) : [value];
}

/** Members in the form of the value that they are of. */
function joinMembers(like: Json | undefined, members: readonly Json[]): Json {
  if (isJsonArray(like)) return members;
  if (!isJsonObject(like)) return members[0] ?? null;
  const entries = members.flatMap((member): [string, Json][] => {
    return isJsonArray(member) ? [[String(member[0]), member[1] ?? null]] : [];
  });
  return Object.fromEntries(entries);
}

function toList(value: Json | undefined): readonly Json[] {
  return isJsonArray(value) ? value : [];
}

function toSides(from: Json | undefined, to: Json | undefined): Pick<Danger, 'from' | 'to'> {
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
}
