import type { Json } from './json.ts';

/**
 * The subject of a danger. `access`: who has access. `traffic`: which addresses are served. `secrets`: tokens and
 * certificates. `protection`: ownership and `lifecycle.protect`.
 */
export type DangerGroup = 'access' | 'traffic' | 'secrets' | 'protection';

const GROUPS: Readonly<Record<DangerGroup, true>> = { access: true, traffic: true, secrets: true, protection: true };

/** Every group, in the order of reports. */
export const DANGER_GROUPS = Object.keys(GROUPS) as readonly DangerGroup[]; // the keys of a constant table

/**
 * A fact that deserves a second look. It is computed from two states of a resource and from the tables of kinds only.
 * - `restriction-removed`, `restriction-disabled`: an enforced restriction is removed or switched off.
 * - `unrestricted`: no restriction applies to the resource.
 * - `lets-in`: the members in `to` get access.
 * - `restriction-changed`: the members in `from` are replaced by those in `to`, and the effect on access is not known.
 * - `rule-removed`, `rule-changed`, `rule-added`, `rules-reordered`: concerns a policy that is in force.
 * - `lockout`: the change may lock out the user who applies it.
 * - `address-released`, `address-changed`: the resource no longer serves the members in `from`; if changed, it serves
 *   those in `to` instead.
 * - `target-removed`, `target-disabled`: the traffic has no target any more.
 * - `no-weight`: no member of the backend gets traffic.
 * - `gap`: `writes` writes are between the delete and the new create.
 * - `new-values`: the service chooses a new value, which other parties must be told.
 * - `token`: a new token, delivered to `to`. `token-revoked`: the token is no longer valid.
 * - `ended`: the resource expired at the time in `from`.
 * - `longer-validity`: the resource is valid for longer. `from` and `to` are both durations or both end times.
 * - `unprotected`: `lifecycle.protect` is removed, or the protected resource is.
 * - `released`: no stack owns the resource any more. `handed-over`: the stack in `from` owned it until now.
 */
export type DangerName =
  | 'restriction-removed'
  | 'restriction-disabled'
  | 'unrestricted'
  | 'lets-in'
  | 'rule-removed'
  | 'rule-changed'
  | 'rule-added'
  | 'rules-reordered'
  | 'restriction-changed'
  | 'lockout'
  | 'address-released'
  | 'address-changed'
  | 'target-removed'
  | 'target-disabled'
  | 'no-weight'
  | 'gap'
  | 'new-values'
  | 'token'
  | 'token-revoked'
  | 'ended'
  | 'longer-validity'
  | 'unprotected'
  | 'released'
  | 'handed-over';

const NAMES: Readonly<Record<DangerName, true>> = {
  'restriction-removed': true,
  'restriction-disabled': true,
  unrestricted: true,
  'lets-in': true,
  'rule-removed': true,
  'rule-changed': true,
  'rule-added': true,
  'rules-reordered': true,
  'restriction-changed': true,
  lockout: true,
  'address-released': true,
  'address-changed': true,
  'target-removed': true,
  'target-disabled': true,
  'no-weight': true,
  gap: true,
  'new-values': true,
  token: true,
  'token-revoked': true,
  ended: true,
  'longer-validity': true,
  unprotected: true,
  released: true,
  'handed-over': true,
};

/** Every name of a danger, the most severe of each group first. */
export const DANGER_NAMES = Object.keys(NAMES) as readonly DangerName[]; // the keys of a constant table

/** One danger of a resource. The address is in the value that contains the danger. */
export interface Danger {
  readonly group: DangerGroup;
  readonly danger: DangerName;
  /** The field that causes it. Absent: the whole resource does. */
  readonly path?: string;
  /** The former value, in normal form. Of a list or map: the removed members. Absent: none. */
  readonly from?: Json;
  /** The new value. Of a list or map: the added members. Absent: none. */
  readonly to?: Json;
  /** For `gap`: number of writes from the delete to the create. */
  readonly writes?: number;
  /**
   * For `gap`: how long those writes take once the rate limit is reached, in milliseconds. Absent if there is no rate
   * limit.
   */
  readonly limitMs?: number;
  /** What the user has to do as a result, if the kind's table says it, such as `delegate the domain again`. */
  readonly consequence?: string;
}

/** Sorts dangers in the order of reports. */
export function sortDangers(dangers: readonly Danger[]): readonly Danger[] {
  return dangers.toSorted((left, right) => computeRank(left) - computeRank(right));
}

function computeRank({ group, danger }: Danger): number {
  return DANGER_GROUPS.indexOf(group) * DANGER_NAMES.length + DANGER_NAMES.indexOf(danger);
}

/** Number of dangers in each group. */
export type DangerCounts = Readonly<Record<DangerGroup, number>>;

export function countDangers(dangers: readonly Pick<Danger, 'group'>[]): DangerCounts {
  const counts = { access: 0, traffic: 0, secrets: 0, protection: 0 };
  for (const { group } of dangers) counts[group] += 1;
  return counts;
}
