import type { Json } from './json.ts';

/**
 * The subject of a danger. `access`: who has access. `traffic`: which addresses are served. `secrets`: tokens and
 * certificates. `protection`: `lifecycle.protect`. `ownership`: which stack owns a resource.
 */
export type DangerGroup = 'access' | 'traffic' | 'secrets' | 'protection' | 'ownership';

const GROUPS: Readonly<Record<DangerGroup, true>> = {
  access: true,
  traffic: true,
  secrets: true,
  protection: true,
  ownership: true,
};

/** Every group, in the order of reports. */
export const DANGER_GROUP_NAMES = Object.keys(GROUPS) as readonly DangerGroup[]; // `Object.keys` returns plain strings

/**
 * The name of a fact that deserves a second look. Most are found by comparing two states of a resource, field by field
 * as the table of its kind describes.
 * - `restriction-removed`, `restriction-disabled`: an enforced restriction is removed or switched off.
 * - `unrestricted`: no restriction applies to the resource.
 * - `access-widened`: the list members in `to` get access in addition.
 * - `restriction-changed`: the list members in `to` replace those in `from`. The effect on access is not known.
 * - `rule-removed`, `rule-changed`, `rule-added`, `rules-reordered`: a change to the rules of a policy that is in
 *   force.
 * - `lockout`: the change may lock out the user who applies it.
 * - `address-removed`: the resource no longer serves the addresses in `from`.
 * - `address-changed`: the resource serves the addresses in `to` instead of those in `from`.
 * - `target-removed`, `target-disabled`: the traffic has no target any more.
 * - `no-weight`: no member of the backend gets traffic.
 * - `gap`: during `writes` writes, no resource has the values in `from` of a unique field. Of another field: the
 *   resource lacks it or, if there is `from`, these unique values exist without it. Only a rehearsal finds it.
 * - `new-values`: the service chooses a new value. The user must tell it to other parties.
 * - `token`: a new token is created, and delivered to `to`. `token-revoked`: the token becomes invalid.
 * - `ended`: the resource expired at the time in `from`. `not-valid-yet`: it begins at the time in `from`.
 * - `longer-validity`: the resource is valid for longer. `from` and `to` are both durations or both end times.
 * - `unprotected`: `lifecycle.protect`, or the whole protected resource, is removed.
 * - `released`: no stack owns the resource any more. `handed-over`: the stack in `from` owned the resource until now.
 */
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

const NAMES: Readonly<Record<DangerName, true>> = {
  'restriction-removed': true,
  'restriction-disabled': true,
  unrestricted: true,
  'access-widened': true,
  'rule-removed': true,
  'rule-changed': true,
  'rule-added': true,
  'rules-reordered': true,
  'restriction-changed': true,
  lockout: true,
  'address-removed': true,
  'address-changed': true,
  'target-removed': true,
  'target-disabled': true,
  'target-changed': true,
  'no-weight': true,
  gap: true,
  'new-values': true,
  token: true,
  'token-revoked': true,
  'stays-valid': true,
  ended: true,
  'not-valid-yet': true,
  'longer-validity': true,
  unprotected: true,
  released: true,
  'handed-over': true,
};

/** All danger names. Within a group, the most severe is first. */
export const DANGER_NAMES = Object.keys(NAMES) as readonly DangerName[]; // `Object.keys` returns plain strings

/** A danger of one resource. The value that contains the danger, such as a `Change`, has the address. */
export interface Danger {
  readonly group: DangerGroup;
  readonly danger: DangerName;
  /** The path of the field that causes the danger. Absent: the whole resource causes it. */
  readonly path?: string;
  /** The former value, in normal form. For a list or a map, only the removed members. Absent if there is none. */
  readonly from?: Json;
  /** The new value, in normal form. For a list or a map, only the added members. Absent if there is none. */
  readonly to?: Json;
  /** For `gap`: number of writes during which something is missing. */
  readonly writes?: number;
  /** For `gap`: milliseconds that these writes take once the rate limit is reached. Absent without a rate limit. */
  readonly limitMs?: number;
  /** What the user must do as a result, such as `delegate the domain again`. Absent if nothing is known. */
  readonly consequence?: string;
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
