import type { Json } from './json.ts';

export type DangerGroup = 'access' | 'traffic' | 'secrets' | 'protection' | 'ownership';

/** What the dangers of each group are about. The order is that of reports. */
export const DANGER_GROUPS: Readonly<Record<DangerGroup, string>> = {
  access: 'who can connect',
  traffic: 'which addresses are served, and where they lead',
  secrets: 'tokens, credentials and certificates',
  protection: '`lifecycle.protect`',
  ownership: 'which stack owns a resource',
};

/** Every group, in the order of reports. */
export const DANGER_GROUP_NAMES = Object.keys(DANGER_GROUPS) as readonly DangerGroup[]; // `Object.keys` returns plain strings

/** What follows the words of a danger: both values, one of them, the rule that changed, the path, or nothing. */
type DangerValues = 'sides' | 'added' | 'lost' | 'former' | 'new' | 'kept' | 'rule' | 'gap' | 'path' | 'nothing';

/** Clauses whose subject is the resource: of a planned change, and of one that has happened. `{…}` is filled in. */
interface DangerClauses {
  readonly planned: string;
  readonly happened: string;
}

/** A danger: the short form for lists of dangers, the clauses for reports, and the values that follow a clause. */
interface DangerWords extends DangerClauses {
  /** A danger of `access` is one of `secrets` if it is about a credential or a certificate. */
  readonly group: DangerGroup;
  /** The short form. Lists say which of their members are in `from` and in `to`. */
  readonly fact: string;
  readonly values: DangerValues;
  /** Instead, if the danger has no path and so concerns the whole resource, or, for `gap`, has no values. */
  readonly ofWhole?: DangerClauses;
  /** Instead, if the resource restricts others. */
  readonly ofRestriction?: DangerClauses;
  /** Instead, if the resource is deleted. */
  readonly ofDeleted?: DangerClauses;
}

/** Every danger with all its words. Within a group, the most severe is first. */
const WORDS = {
  'restriction-removed': {
    group: 'access',
    fact: 'a restriction in force is removed',
    planned: 'will no longer be restricted:',
    happened: 'is no longer restricted:',
    values: 'sides',
    ofWhole: { planned: 'will no longer restrict access', happened: 'no longer restricts access' },
    ofRestriction: { planned: 'will no longer restrict:', happened: 'no longer restricts:' },
  },
  'restriction-disabled': {
    group: 'access',
    fact: 'a restriction in force is switched off',
    planned: 'will have this disabled:',
    happened: 'has this disabled:',
    values: 'kept',
  },
  unrestricted: {
    group: 'access',
    fact: 'what should restrict admits everyone: it is empty, covers everything, or never applies',
    planned: 'will admit everyone:',
    happened: 'admits everyone:',
    values: 'sides',
  },
  'restriction-unknown': {
    group: 'access',
    fact: 'whether it restricts cannot be known: the service does not show it, or its text cannot be read',
    planned: 'may admit everyone:',
    happened: 'may admit everyone:',
    values: 'path',
  },
  'access-widened': {
    group: 'access',
    fact: 'a list admits more: the members in `to`',
    planned: 'will widen access:',
    happened: 'widens access:',
    values: 'added',
  },
  'rule-removed': {
    group: 'access',
    fact: 'a rule of a policy in force is removed',
    planned: 'will have the {rule} removed ({path})',
    happened: 'has the {rule} removed ({path})',
    values: 'rule',
  },
  'rule-changed': {
    group: 'access',
    fact: 'a rule of a policy in force is changed',
    planned: 'will have the {rule} changed ({path})',
    happened: 'has the {rule} changed ({path})',
    values: 'rule',
  },
  'rule-added': {
    group: 'access',
    fact: 'a rule is added to a policy in force',
    planned: 'will have the {rule} added ({path})',
    happened: 'has the {rule} added ({path})',
    values: 'rule',
  },
  'rules-reordered': {
    group: 'access',
    fact: 'the rules of a policy in force are reordered',
    planned: 'will have its rules in another order:',
    happened: 'has its rules in another order:',
    values: 'path',
  },
  'restriction-changed': {
    group: 'access',
    fact: 'a restriction has other policies or patterns; whether they admit more is unknown',
    planned: 'will have another restriction:',
    happened: 'has another restriction:',
    values: 'sides',
  },
  lockout: {
    group: 'access',
    fact: 'a restriction may lock out the user who applies it',
    planned: 'may lock out the user who applies it',
    happened: 'may lock out the user who applies it',
    values: 'nothing',
  },
  'address-removed': {
    group: 'traffic',
    fact: 'a hostport or domain in `from` is no longer served',
    planned: 'will no longer be reached at',
    happened: 'is no longer reached at',
    values: 'lost',
    ofDeleted: { planned: 'will be deleted, and no longer be reached at', happened: 'is no longer reached at' },
  },
  'address-changed': {
    group: 'traffic',
    fact: 'hostports or domains in `to` are served instead of those in `from`',
    planned: 'will be reached elsewhere:',
    happened: 'is reached elsewhere:',
    values: 'sides',
  },
  'target-removed': {
    group: 'traffic',
    fact: 'traffic no longer has a backend',
    planned: 'will no longer have a backend:',
    happened: 'no longer has a backend:',
    values: 'sides',
  },
  'target-disabled': {
    group: 'traffic',
    fact: 'the backend is switched off',
    planned: 'will have its backend disabled:',
    happened: 'has its backend disabled:',
    values: 'kept',
  },
  'target-changed': {
    group: 'traffic',
    fact: 'traffic goes to another backend; names the stacks of both',
    planned: 'will send traffic elsewhere:',
    happened: 'sends traffic elsewhere:',
    values: 'sides',
  },
  'no-weight': {
    group: 'traffic',
    fact: 'no member of a weighted backend has a weight',
    planned: 'will send traffic to no member:',
    happened: 'sends traffic to no member:',
    values: 'sides',
  },
  gap: {
    group: 'traffic',
    fact: 'during some writes, a hostport has no edge, an edge no backend, or a restriction is off',
    planned: 'will leave without {missing} {during}:',
    happened: 'left without {missing} {during}:',
    values: 'gap',
    ofWhole: { planned: 'will be without its {path} {during}', happened: 'was without its {path} {during}' },
  },
  'new-values': {
    group: 'traffic',
    fact: 'the service computes new values that you must tell others, such as `ns_targets`',
    planned: 'will get a new `{path}` from the service',
    happened: 'got a new `{path}` from the service',
    values: 'nothing',
  },
  token: {
    group: 'secrets',
    fact: 'a token is created and delivered',
    planned: 'will get {token}',
    happened: 'got {token}',
    values: 'new',
  },
  'token-revoked': {
    group: 'secrets',
    fact: 'a token stops working',
    planned: 'will lose its token',
    happened: 'lost its token',
    values: 'nothing',
  },
  'secret-kept': {
    group: 'secrets',
    fact: 'a credential or certificate is renamed back, and keeps what was handed out',
    planned: 'keeps its token or certificate:',
    happened: 'kept its token or certificate:',
    values: 'former',
  },
  'stays-valid': {
    group: 'secrets',
    fact: 'a certificate is deleted or permits less, and the old one stays valid until it expires',
    planned: 'will leave the {old} valid until',
    happened: 'left the {old} valid until',
    values: 'former',
  },
  ended: {
    group: 'secrets',
    fact: 'in `drift`: a certificate has expired',
    planned: 'will no longer be valid from',
    happened: 'is no longer valid since',
    values: 'former',
  },
  'not-valid-yet': {
    group: 'secrets',
    fact: 'in `drift`: a certificate is not valid yet',
    planned: 'will not be valid before',
    happened: 'is not valid before',
    values: 'former',
  },
  'longer-validity': {
    group: 'secrets',
    fact: 'a certificate is valid for longer',
    planned: 'will be valid for longer:',
    happened: 'is valid for longer:',
    values: 'sides',
  },
  unprotected: {
    group: 'protection',
    fact: '`lifecycle.protect` is removed, or what it protects is deleted',
    planned: 'will no longer be protected',
    happened: 'is no longer protected',
    values: 'nothing',
  },
  released: {
    group: 'ownership',
    fact: 'no stack owns the resource any more',
    planned: 'will be released: it belongs to {owner}',
    happened: 'was released: it belonged to {owner}',
    values: 'nothing',
  },
  'handed-over': {
    group: 'ownership',
    fact: 'another stack owned the resource until now',
    planned: 'will be taken over from the stack {owner}',
    happened: 'was taken over from the stack {owner}',
    values: 'nothing',
  },
  'created-beside': {
    group: 'ownership',
    fact: 'another stack has a resource of the same kind, name and fields, which stays or is deleted',
    planned: 'will be created beside its equal of the stack {owner}',
    happened: 'was created beside its equal of the stack {owner}',
    values: 'nothing',
  },
} as const satisfies Readonly<Record<string, DangerWords>>;

/** The name of a fact that deserves a second look. Most are found by comparing two states of a resource, field by field. */
export type DangerName = keyof typeof WORDS;

export const DANGERS: Readonly<Record<DangerName, DangerWords>> = WORDS;

/** All danger names. Within a group, the most severe is first. */
export const DANGER_NAMES = Object.keys(DANGERS) as readonly DangerName[]; // `Object.keys` returns plain strings

/** A danger of one resource. The value that contains the danger, such as a `Change`, has the address. */
export interface Danger {
  readonly group: DangerGroup;
  readonly danger: DangerName;
  /** The path of the field that causes the danger. Absent: the whole resource causes it. */
  readonly path?: string;
  /** The former value, in normal form. For a list or a map, only the removed members. Absent if there is none. */
  readonly from?: Json | undefined;
  /** The new value, in normal form. For a list or a map, only the added members. Absent if there is none. */
  readonly to?: Json | undefined;
  /** For `gap`: number of writes during which something is missing. */
  readonly writes?: number;
  /** For `gap`: milliseconds that these writes take once the rate limit is reached. Absent without a rate limit. */
  readonly limitMs?: number | undefined;
  /** What the user must do as a result, such as `delegate the domain again`. Absent if nothing is known. */
  readonly consequence?: string | undefined;
}

/** Sorts dangers by group, then by severity, as reports show them. */
export function sortDangersByGroup(dangers: readonly Danger[]): readonly Danger[] {
  return dangers.toSorted((left, right) => computeDangerRank(left) - computeDangerRank(right));
}

function computeDangerRank({ group, danger }: Danger): number {
  return DANGER_GROUP_NAMES.indexOf(group) * DANGER_NAMES.length + DANGER_NAMES.indexOf(danger);
}

/** Number of dangers in each group. */
export type DangerGroupCounts = Readonly<Record<DangerGroup, number>>;

export function countDangersByGroup(dangers: readonly Pick<Danger, 'group'>[]): DangerGroupCounts {
  const counts = { access: 0, traffic: 0, secrets: 0, protection: 0, ownership: 0 };
  for (const { group } of dangers) counts[group] += 1;
  return counts;
}
