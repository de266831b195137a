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

/** The name of a fact that deserves a second look. Most are found by comparing two states of a resource, field by field. */
export type DangerName =
  | 'restriction-removed'
  | 'restriction-disabled'
  | 'unrestricted'
  | 'access-widened'
  | 'rule-removed'
  | 'rule-changed'
  | 'rule-added'
  | 'rules-reordered'
  | 'restriction-changed'
  | 'lockout'
  | 'address-removed'
  | 'address-changed'
  | 'target-removed'
  | 'target-disabled'
  | 'target-changed'
  | 'no-weight'
  | 'gap'
  | 'new-values'
  | 'token'
  | 'token-revoked'
  | 'stays-valid'
  | 'ended'
  | 'not-valid-yet'
  | 'longer-validity'
  | 'unprotected'
  | 'released'
  | 'handed-over';

interface DangerMeaning {
  /** A danger of `access` is one of `secrets` if it is about a credential or a certificate. */
  readonly group: DangerGroup;
  /** One clause. Lists say which of their members are in `from` and in `to`. */
  readonly fact: string;
}

/** What each danger means. Within a group, the most severe is first. */
export const DANGERS: Readonly<Record<DangerName, DangerMeaning>> = {
  'restriction-removed': { group: 'access', fact: 'a restriction in force is removed' },
  'restriction-disabled': { group: 'access', fact: 'a restriction in force is switched off' },
  unrestricted: { group: 'access', fact: 'a list that may restrict is empty, so it allows everything' },
  'access-widened': { group: 'access', fact: 'a list admits more: the members in `to`' },
  'rule-removed': { group: 'access', fact: 'a rule of a policy in force is removed' },
  'rule-changed': { group: 'access', fact: 'a rule of a policy in force is changed' },
  'rule-added': { group: 'access', fact: 'a rule is added to a policy in force' },
  'rules-reordered': { group: 'access', fact: 'the rules of a policy in force are reordered' },
  'restriction-changed': {
    group: 'access',
    fact: 'a restriction has other policies or patterns; whether they admit more is unknown',
  },
  lockout: { group: 'access', fact: 'a restriction may lock out the user who applies it' },
  'address-removed': { group: 'traffic', fact: 'a hostport or domain in `from` is no longer served' },
  'address-changed': { group: 'traffic', fact: 'hostports or domains in `to` are served instead of those in `from`' },
  'target-removed': { group: 'traffic', fact: 'traffic no longer has a backend' },
  'target-disabled': { group: 'traffic', fact: 'the backend is switched off' },
  'target-changed': { group: 'traffic', fact: 'traffic goes to another backend; names the stacks of both' },
  'no-weight': { group: 'traffic', fact: 'no member of a weighted backend has a weight' },
  gap: {
    group: 'traffic',
    fact: 'during some writes, a hostport has no edge, an edge no backend, or a restriction is off',
  },
  'new-values': {
    group: 'traffic',
    fact: 'the service computes new values that you must tell others, such as `ns_targets`',
  },
  token: { group: 'secrets', fact: 'a token is created and delivered' },
  'token-revoked': { group: 'secrets', fact: 'a token stops working' },
  'stays-valid': {
    group: 'secrets',
    fact: 'a certificate is deleted or permits less, and the old one stays valid until it expires',
  },
  ended: { group: 'secrets', fact: 'in `drift`: a certificate has expired' },
  'not-valid-yet': { group: 'secrets', fact: 'in `drift`: a certificate is not valid yet' },
  'longer-validity': { group: 'secrets', fact: 'a certificate is valid for longer' },
  unprotected: { group: 'protection', fact: '`lifecycle.protect` is removed, or what it protects is deleted' },
  released: { group: 'ownership', fact: 'no stack owns the resource any more' },
  'handed-over': { group: 'ownership', fact: 'another stack owned the resource until now' },
};

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
