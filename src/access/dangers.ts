import { EMPTY, placeEffect } from '../kinds/access-effect.ts';
import { canonical, isUnset, toCanonicalValue } from '../kinds/canonical.ts';
import { AS_IF_COMPLETE, isAllowedEarlier } from '../kinds/evidence.ts';
import { type AccessEffect, type Field, type FieldType, listFields, type NamedField } from '../kinds/field.ts';
import { FORMATS } from '../kinds/formats.ts';
import { isModule, isRotatable, type Kind } from '../kinds/kind.ts';
import { findAccessRuleCaption } from '../kinds/walk.ts';
import { type Danger, type DangerGroup, sortDangersByGroup } from '../model/danger.ts';
import { assertNever } from '../model/errors.ts';
import { formatPath } from '../model/field-path.ts';
import {
  findMember,
  isJsonArray,
  isJsonObject,
  isSameJson,
  type Json,
  type JsonObject,
  toCanonicalJson,
  toJsonList,
} from '../model/json.ts';
import type { FieldPath, Spec } from '../model/state.ts';
import { isOfRules, isPlainSwitch, isSwitchedOff, judgeField, judgeMapValue, readSwitch } from './restrictions.ts';

/** A state of a resource, for comparison with another state. */
export interface ResourceState {
  /** The spec in normal form. A field that the service does not show is absent. */
  readonly spec: Spec;
  readonly protect?: boolean | undefined;
  /** The stack that owns the resource. Absent if no stack owns it. */
  readonly stack?: string | undefined;
  /** For a new resource: its manifest asks for no restriction. */
  readonly isOpenOnPurpose?: boolean | undefined;
}

/**
 * Lists the dangers of a transition between two states of a resource. For a plan, `from` is the live and `to` the
 * desired state. For drift, `from` is the expected and `to` the live state. A state is `undefined` if the resource does
 * not exist in it.
 */
export function listResourceTransitionDangers(
  kind: Kind,
  from: ResourceState | undefined,
  to: ResourceState | undefined,
): readonly Danger[] {
  // In what follows access, a part that a response leaves out counts as empty.
  const [before, after] = [from, to].map((state) => state && canonical(kind, state.spec, AS_IF_COMPLETE));
  return sortDangersByGroup([
    ...listAccessFacts(kind, from, to).map((fact) => ({ group: toAccessGroup(kind), ...fact })),
    ...listLockouts(kind, before, after),
    ...listTrafficFacts(kind, before, after).map((fact) => ({ group: 'traffic' as const, ...fact })),
    ...listSecretDangers(kind, before, after),
    ...listOwnershipDangers(from, to),
  ]);
}

/** Lists the restrictions that a manifest asks for and that the service does not show: nothing says that they are in force. */
export function listUnknownRestrictions(
  kind: Kind,
  { live, desired, ignored }: { readonly live: Spec; readonly desired: Spec; readonly ignored: readonly string[] },
): readonly Danger[] {
  const wanted = kind.specFields.filter(
    ([name, field]) => !ignored.includes(name) && judgeField(field, desired[name]).effect === 'restricts',
  );
  return wanted.flatMap(([name, field]) => {
    const effect = judgeField(field, live[name]);
    const facts = effect.effect === 'unknown' ? createEffectFact(placeEffect(effect, [name]), [name]) : [];
    return facts.map((fact) => ({ group: toAccessGroup(kind), ...fact }));
  });
}

type DangerFact = Omit<Danger, 'group'>;

/**
 * Returns the group of access dangers: `secrets` for a token or certificate, as for its other dangers, else `access`.
 */
function toAccessGroup(kind: Kind): DangerGroup {
  return isRotatable(kind) ? 'secrets' : 'access';
}

function listAccessFacts(
  kind: Kind,
  from: ResourceState | undefined,
  to: ResourceState | undefined,
): readonly DangerFact[] {
  const fields = kind.specFields;
  if (to !== undefined)
    return from === undefined ? listOpenings(kind, to) : compareFieldDangers(fields, from.spec, to.spec, []);
  if (from === undefined || !kind.restrictsAccess || isSwitchedOff(fields, from.spec)) return [];
  return [{ danger: 'restriction-removed' }];
}

/**
 * Lists what should restrict a new resource and does not, or may not. A connection passes every module, so beside one
 * that restricts, the others are only for lint.
 */
function listOpenings(kind: Kind, { spec, isOpenOnPurpose = false }: ResourceState): readonly DangerFact[] {
  if (kind.restrictsAccess) return [];
  const judged = kind.specFields.map(([name, field]) => ({
    field,
    effect: placeEffect(judgeField(field, spec[name]), [name]),
    path: [name],
  }));
  const isClosed = judged.some(({ field, effect }) => isModule(field) && effect.effect === 'restricts');
  return judged.flatMap(({ field, effect, path }) => {
    const isWished = field.restriction === 'allow-list-or-all' && isOpenOnPurpose;
    return (isModule(field) ? isClosed : isWished) ? [] : createEffectFact(effect, path);
  });
}

/** Compares the fields of an object. If a switch among them is off, ignores the others, which then have no effect. */
function compareFieldDangers(
  fields: readonly NamedField[],
  from: JsonObject,
  to: JsonObject,
  path: FieldPath,
): readonly DangerFact[] {
  if (isSwitchedOff(fields, from)) return [];
  const off = fields.filter(([name, field]) => isPlainSwitch(field) && readSwitch(to[name]) === 'off');
  return (off.length > 0 ? off : fields).flatMap(([name, field]) =>
    compareField(field, from[name], to[name], [...path, name]),
  );
}

/** Compares a field of a resource. A list that admits everyone, or may do so, is reported as a whole. */
function compareField(
  field: Field,
  from: Json | undefined,
  to: Json | undefined,
  path: FieldPath,
): readonly DangerFact[] {
  if (from === undefined ? to === undefined : to !== undefined && isSameJson(from, to)) return [];
  if (field.restriction === 'while-on') return compareSwitch(field, from, to, path);
  return compareOpening(field, from, to, path) ?? compareByRestriction(field, from, to, path);
}

/** Compares two values that both restrict, in the way in which the field does. */
function compareByRestriction(
  field: Field,
  from: Json | undefined,
  to: Json | undefined,
  path: FieldPath,
): readonly DangerFact[] {
  switch (field.restriction) {
    case undefined:
    case 'while-on':
      return [];
    case 'by-each':
      return compareRestrictions(field.type, from, to, path);
    case 'allow-list':
    case 'allow-list-or-all':
      return compareAdmitted(field, from, to, path);
    case 'by-rules':
      return compareRules(field.type, { from, to }, path);
    case 'unknown':
      return isSameJson(from ?? null, to ?? null)
        ? []
        : createEffectFact(placeEffect(judgeField(field, to), path), path);
    case 'unproven':
      return isSameJson(from ?? null, to ?? null) ? [] : [createMemberFact('restriction-changed', from, to, path)];
    default:
      return assertNever(field.restriction);
  }
}

/**
 * The dangers of a field outside of modules if one side admits everyone, or may do so. `undefined` if its members
 * decide. Each value of a map is a restriction of its own.
 */
function compareOpening(
  field: Field,
  from: Json | undefined,
  to: Json | undefined,
  path: FieldPath,
): readonly DangerFact[] | undefined {
  const [before, after] = [judgeField(field, from), judgeField(field, to)];
  if (before.effect === 'none') return undefined;
  if (before.effect === 'unknown' && after.effect !== 'open') return createEffectFact(placeEffect(before, path), path);
  if (after.effect === 'unknown')
    return before.effect === 'open' ? [] : createEffectFact(placeEffect(after, path), path);
  if (field.restriction === 'by-each') return undefined;
  if (before.effect === 'open') return [];
  return after.effect === 'open' ? [createOpenFact(after.why, from, to, path)] : undefined;
}

/** Compares a module that restricts while it is on. */
function compareSwitch(
  field: Field,
  from: Json | undefined,
  to: Json | undefined,
  path: FieldPath,
): readonly DangerFact[] {
  const [before, after] = [judgeField(field, from), judgeField(field, to)];
  switch (readSwitch(from)) {
    case 'off': {
      if (readSwitch(to) !== 'on') return [];
      const opening = after.effect === 'open' ? createEffectFact(placeEffect(after, path), path) : [];
      return [...opening, ...compareAllRules(field.type, {}, to, path)];
    }
    case 'unknown':
      return [
        ...createEffectFact(placeEffect(after.effect === 'open' ? after : before, path), path),
        ...compareAllRules(field.type, from, to, path),
      ];
    default:
      return compareFromOn(field.type, { from, to, before, after }, path);
  }
}

interface SwitchSides {
  readonly from: Json | undefined;
  readonly to: Json | undefined;
  readonly before: AccessEffect;
  readonly after: AccessEffect;
}

/** Compares a module that is on with what follows: it stays on, is turned off, or that is unknown. */
function compareFromOn(
  type: FieldType,
  { from, to, before, after }: SwitchSides,
  path: FieldPath,
): readonly DangerFact[] {
  const state = readSwitch(to);
  if (state === 'unknown') return createEffectFact(placeEffect(after, path), path);
  if (state === 'off') {
    // Report each removed rule, not one removed restriction: it is unknown whether the rules kept any caller out.
    const rules = isUnset(to) ? compareAllRules(type, from, {}, path) : [];
    if (rules.length > 0) return rules;
    const danger = isUnset(to) ? 'restriction-removed' : 'restriction-disabled';
    const consequence = before.effect === 'open' ? `it restricted nothing before: ${before.why}` : undefined;
    return [{ danger, path: formatPath(path), from, to: isUnset(to) ? undefined : to, consequence }];
  }
  const rules = compareAllRules(type, from, to, path);
  const isOpened = before.effect !== 'open' && after.effect === 'open';
  if (isOfRules(type)) return [...(isOpened ? createEffectFact(placeEffect(after, path), path) : []), ...rules];
  if (before.effect === 'open') return [];
  if (after.effect === 'open') {
    const [part = ''] = after.path;
    return [createOpenFact(after.why, findMember(from, String(part)), findMember(to, String(part)), [...path, part])];
  }
  const unknown = [after, before].find(({ effect }) => effect === 'unknown');
  const facts = unknown === undefined ? [] : createEffectFact(placeEffect(unknown, path), path);
  if (type.type !== 'object' || !isJsonObject(from) || !isJsonObject(to)) return facts;
  const known = Object.entries(type.fields).filter(
    ([name]) => unknown === undefined || (from[name] !== undefined && to[name] !== undefined),
  );
  return [
    ...facts,
    ...known.flatMap(([name, field]) => compareByRestriction(field, from[name], to[name], [...path, name])),
  ];
}

/** Reports every rule of a policy that is enabled or removed as a whole. The side without the policy is `{}`. */
function compareAllRules(
  type: FieldType,
  from: Json | undefined,
  to: Json | undefined,
  path: FieldPath,
): readonly DangerFact[] {
  if (type.type !== 'object' || !isJsonObject(from) || !isJsonObject(to)) return [];
  return listFields(type, from, to).flatMap(([name, field]) => {
    const isRuled = field.restriction === 'by-rules' || field.restriction === 'unknown';
    return isRuled ? compareByRestriction(field, from[name], to[name], [...path, name]) : [];
  });
}

/** The fact that a value admits everyone, or may do so. None for other effects. */
function createEffectFact(effect: AccessEffect, path: FieldPath): readonly DangerFact[] {
  if (effect.effect !== 'open' && effect.effect !== 'unknown') return [];
  const danger = effect.effect === 'open' ? 'unrestricted' : 'restriction-unknown';
  return [{ danger, path: formatPath(effect.path.length === 0 ? path : effect.path), consequence: effect.why }];
}

/** The fact that a value admits everyone from now on, with the members that it lost and found. */
function createOpenFact(why: string, from: Json | undefined, to: Json | undefined, path: FieldPath): DangerFact {
  const fact = createMemberFact('unrestricted', from, to, path);
  // Without a new member, the values show that it is empty.
  return fact.to === undefined && why === EMPTY ? fact : { ...fact, consequence: why };
}

/**
 * Reports removed members as removed restrictions. A changed value in a map may restrict more or less, unless it admits
 * everyone, or did.
 */
function compareRestrictions(
  type: FieldType,
  from: Json | undefined,
  to: Json | undefined,
  path: FieldPath,
): readonly DangerFact[] {
  const { lost } = compareMembers(from, to);
  if (lost.length === 0) return [];
  if (!isJsonObject(from) || !isJsonObject(to)) return [createMemberFact('restriction-removed', from, to, path)];
  // Sorted, because a saved plan sorts the keys of its maps.
  return Object.keys(from)
    .sort()
    .flatMap((key): readonly DangerFact[] => {
      const [one, other] = [from[key], to[key]];
      const [before, after] = [one, other].map((value) => judgeMapValue(type, key, value));
      const at = [...path, key];
      if (other === undefined) {
        const consequence = before?.effect === 'open' ? `it restricted nothing before: ${before.why}` : undefined;
        return [{ danger: 'restriction-removed', path: formatPath(at), from: one, to: undefined, consequence }];
      }
      if (isSameJson(one ?? null, other) || before?.effect === 'open') return [];
      if (after?.effect === 'open') return [createOpenFact(after.why, one, other, at)];
      return [{ danger: 'restriction-changed', path: formatPath(at), from: one, to: other }];
    });
}

/** Reports new members of a list as widened access, unless a pattern in the list admitted them before. */
function compareAdmitted(
  { type }: Field,
  from: Json | undefined,
  to: Json | undefined,
  path: FieldPath,
): readonly DangerFact[] {
  const { found } = compareMembers(from, to);
  const patterns = isOfPatterns(type) ? listValueMembers(from).map(compileWildcards) : [];
  const isKnown = (member: Json) => typeof member === 'string' && patterns.some((pattern) => pattern.test(member));
  const admitted = found.filter((member) => !isKnown(member));
  if (admitted.length === 0) return [];
  return [{ danger: 'access-widened', path: formatPath(path), to: joinMembers(to, admitted) }];
}

/** Whether `*` is a wildcard in the members of a list. */
function isOfPatterns(type: FieldType): boolean {
  if (type.type !== 'list' || type.of.type !== 'text' || type.of.format === undefined) return false;
  return FORMATS[type.of.format].hasWildcards === true;
}

function compileWildcards(member: Json): RegExp {
  return new RegExp(`^${String(member).split('*').map(escapeRegExp).join('.*')}$`, 's');
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

interface RuleSides {
  readonly from: Json | undefined;
  readonly to: Json | undefined;
}

interface PlacedRule {
  readonly rule: Json;
  readonly index: number;
}

/**
 * Compares rules, ignoring captions. Rules without an equal are paired by caption, then by position, as changed rules.
 */
function compareRules(type: FieldType, sides: RuleSides, path: FieldPath): readonly DangerFact[] {
  // A part of a rule that a response leaves out counts as empty, so that equal rules are equal.
  const [from = [], to = []] = [sides.from, sides.to].map((rules) =>
    toJsonList(toCanonicalValue(type, rules ?? null, AS_IF_COMPLETE)),
  );
  const texts = [from, to].map((rules) => rules.map((rule) => toCanonicalJson(withoutCaptions(type, rule))));
  const [before = [], after = []] = texts;
  const lost = listUnmatched(from, before, after);
  const added = listUnmatched(to, after, before);
  const pairs = [
    ...lost.flatMap((one) =>
      added.filter((other) => isSameCaption(type, one, other)).map((other) => [one, other] as const),
    ),
    ...lost.flatMap((one) => added.filter(({ index }) => index === one.index).map((other) => [one, other] as const)),
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
  const isReordered = !isSameJson(kept(before, after), kept(after, before)) && lost.length + added.length === 0;
  return [
    ...lost
      .filter((one) => !changed.has(one))
      .map(({ rule, index }) => createRuleFact('rule-removed', at(index), rule)),
    ...[...changed].map(([one, { rule, index }]) => createRuleFact('rule-changed', at(index), one.rule, rule)),
    ...added
      .filter((one) => !taken.has(one))
      .map(({ rule, index }) => createRuleFact('rule-added', at(index), undefined, rule)),
    ...(isReordered ? [createRuleFact('rules-reordered', formatPath(path), from, to)] : []),
  ];
}

function createRuleFact(danger: Danger['danger'], path: string, from: Json | undefined, to?: Json): DangerFact {
  return { danger, path, from, to };
}

function listUnmatched(
  rules: readonly Json[],
  own: readonly string[],
  others: readonly string[],
): readonly PlacedRule[] {
  const remaining = new Map<string, number>();
  for (const text of others) remaining.set(text, (remaining.get(text) ?? 0) + 1);
  return rules.flatMap((rule, index) => {
    const text = own[index] ?? '';
    const count = remaining.get(text) ?? 0;
    remaining.set(text, count - 1);
    return count > 0 ? [] : [{ rule, index }];
  });
}

function isSameCaption(type: FieldType, left: PlacedRule, right: PlacedRule): boolean {
  const [one, other] = [left, right].map(({ rule }) =>
    findAccessRuleCaption(type.type === 'list' ? type.of : type, rule),
  );
  return one !== undefined && one === other;
}

function withoutCaptions(type: FieldType, rule: Json): Json {
  if (type.type !== 'list' || type.of.type !== 'object' || !isJsonObject(rule)) return rule;
  const { fields } = type.of;
  return Object.fromEntries(Object.entries(rule).filter(([name]) => fields[name]?.isCaption !== true));
}

/** Returns a danger if edgewise may lose its own access to the API through a new or changed access restriction. */
function listLockouts(kind: Kind, from: Spec | undefined, to: Spec | undefined): readonly Danger[] {
  if (to === undefined || !kind.canLockOut(to)) return [];
  const isSame = ([name, { restriction }]: NamedField) =>
    restriction === undefined || isSameJson(from?.[name] ?? null, to[name] ?? null);
  if (from !== undefined && kind.specFields.every(isSame)) return [];
  return [{ group: 'access', danger: 'lockout' }];
}

/**
 * Lists traffic that is no longer served. For a deleted resource, lists only the removed addresses, because lost
 * targets and shares follow from the deletion.
 */
function listTrafficFacts(kind: Kind, from: Spec | undefined, to: Spec | undefined): readonly DangerFact[] {
  if (from === undefined) return [];
  return kind.specFields.flatMap(([name, field]): readonly DangerFact[] => {
    switch (field.carries) {
      case undefined:
        return [];
      case 'by-each':
        return compareServed(from[name], to?.[name], name);
      case 'while-on':
        return to === undefined ? [] : compareTarget(field, from[name], to[name], name);
      case 'by-share':
        return to === undefined ? [] : compareShares(from[name], to[name], name);
      default:
        return assertNever(field.carries);
    }
  });
}

function compareServed(from: Json | undefined, to: Json | undefined, name: string): readonly DangerFact[] {
  const { lost, found } = compareMembers(from, to);
  if (lost.length === 0) return [];
  return [createMemberFact(found.length === 0 ? 'address-removed' : 'address-changed', from, to, [name])];
}

function compareTarget(
  { type }: Field,
  from: Json | undefined,
  to: Json | undefined,
  path: string,
): readonly DangerFact[] {
  // A target whose module may be on counts as one that is.
  if (readSwitch(from) === 'off') return [];
  if (readSwitch(to) !== 'off') return listChangedTargets(type, from, to, path);
  if (isUnset(to)) return [{ danger: 'target-removed', path, from, to: undefined }];
  return [{ danger: 'target-disabled', path, from, to }];
}

/** Lists the references inside of a module that name another resource than before. */
function listChangedTargets(
  type: FieldType,
  from: Json | undefined,
  to: Json | undefined,
  path: string,
): readonly DangerFact[] {
  if (type.type !== 'object' || !isJsonObject(from) || !isJsonObject(to)) return [];
  return Object.entries(type.fields).flatMap(([name, inner]): readonly DangerFact[] => {
    const [before, after] = [from[name], to[name]];
    const at = formatPath([path, name]);
    if (inner.type.type !== 'reference' || typeof before !== 'string' || before === after) return [];
    if (isUnset(after)) return [{ danger: 'target-removed', path: at, from: before, to: undefined }];
    return [{ danger: 'target-changed', path: at, from: before, to: after }];
  });
}

function compareShares(from: Json | undefined, to: Json | undefined, path: string): readonly DangerFact[] {
  const hasShare = (value: Json | undefined) =>
    isJsonObject(value) && Object.values(value).some((share) => share !== 0);
  return hasShare(from) && !hasShare(to) ? [{ danger: 'no-weight', path, from, to }] : [];
}

function listSecretDangers(kind: Kind, from: Spec | undefined, to: Spec | undefined): readonly Danger[] {
  if (from === undefined) return [];
  if (to === undefined) return [...listRevoked(kind), ...listStillValid(kind, from)];
  const { until = '' } = kind.validity ?? {};
  const field = kind.fields[until];
  const [before, after] = [from[until], to[until]];
  const narrowed = isNarrowed(kind, from, to) ? listStillValid(kind, from) : [];
  if (field === undefined || typeof before !== 'string' || typeof after !== 'string') return narrowed;
  if (isAllowedEarlier(field, before, after)) return narrowed;
  if (Date.parse(after) < Date.parse(before)) return listStillValid(kind, from);
  return [...narrowed, { group: 'secrets', danger: 'longer-validity', path: until, from: before, to: after }];
}

/** A certificate cannot be revoked: it stays valid until its end, also after it was deleted or replaced. */
function listStillValid({ validity }: Kind, from: Spec): readonly Danger[] {
  const end = from[validity?.until ?? ''];
  if (validity === undefined || typeof end !== 'string') return [];
  const consequence = 'the API cannot revoke it';
  return [{ group: 'secrets', danger: 'stays-valid', path: validity.until, from: end, consequence }];
}

/** Whether an immutable field permits less than before, or names another key or authority. */
function isNarrowed({ specFields }: Kind, from: Spec, to: Spec): boolean {
  return specFields.some(([name, { lifecycle, restriction, required }]) => {
    if (lifecycle !== 'immutable') return false;
    const [before, after] = [from[name] ?? null, to[name] ?? null];
    const { lost, found } = compareMembers(before, after);
    switch (restriction) {
      case 'allow-list':
        return lost.length > 0;
      case 'allow-list-or-all':
        return lost.length > 0 || (listValueMembers(before).length === 0 && found.length > 0);
      case 'by-each':
        return found.length > 0;
      default:
        return required && !isSameJson(before, after);
    }
  });
}

/** Lists the one-time values that become invalid when the resource is deleted. */
function listRevoked(kind: Kind): readonly Danger[] {
  return kind.oneTimeFields.map((path) => {
    const consequence = kind.fields[path]?.replacedConsequence;
    return { group: 'secrets', danger: 'token-revoked', path, consequence };
  });
}

function listOwnershipDangers(from: ResourceState | undefined, to: ResourceState | undefined): readonly Danger[] {
  const isOwned = from?.stack !== undefined;
  return [
    ...(from?.protect === true && to?.protect !== true
      ? [{ group: 'protection', danger: 'unprotected' } as const]
      : []),
    ...(isOwned && to !== undefined && to.stack === undefined
      ? [{ group: 'ownership', danger: 'released', from: from.stack } as const]
      : []),
    ...(isOwned && to?.stack !== undefined && to.stack !== from.stack
      ? [{ group: 'ownership', danger: 'handed-over', from: from.stack, to: to.stack } as const]
      : []),
  ];
}

/** `lost`: members that only the first side has. `found`: members that only the second side has. */
interface MemberSides {
  readonly lost: readonly Json[];
  readonly found: readonly Json[];
}

function compareMembers(from: Json | undefined, to: Json | undefined): MemberSides {
  const [before, after] = [from, to].map(
    (side) => new Map(listValueMembers(side).map((one) => [toCanonicalJson(one), one])),
  );
  const without = (own = new Map<string, Json>(), others = new Map<string, Json>()) =>
    [...own].flatMap(([text, member]) => (others.has(text) ? [] : [member]));
  return { lost: without(before, after), found: without(after, before) };
}

function createMemberFact(
  danger: Danger['danger'],
  from: Json | undefined,
  to: Json | undefined,
  path: FieldPath,
): DangerFact {
  const { lost, found } = compareMembers(from, to);
  return {
    danger,
    path: formatPath(path),
    ...(lost.length > 0 && { from: joinMembers(from, lost) }),
    ...(found.length > 0 && { to: joinMembers(to, found) }),
  };
}

/** The members of a list, the `[key, value]` pairs of a map, or a single value. Empty if the value is unset. */
function listValueMembers(value: Json | undefined): readonly Json[] {
  if (isUnset(value)) return [];
  if (isJsonArray(value)) return value;
  return isJsonObject(value) ? Object.entries(value).map(([key, member]) => [key, member]) : [value];
}

/** Joins members to a value of the same type as `like`: the reverse of `listValueMembers`. */
function joinMembers(like: Json | undefined, members: readonly Json[]): Json {
  if (isJsonArray(like)) return members;
  if (!isJsonObject(like)) return members[0] ?? null;
  const entries = members.flatMap((member): [string, Json][] => {
    return isJsonArray(member) ? [[String(member[0]), member[1] ?? null]] : [];
  });
  return Object.fromEntries(entries);
}
