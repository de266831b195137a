import type { Json } from './json.ts';

/**
 * The subject of a danger. `access`: who is let in. `traffic`: which addresses are answered. `secrets`: tokens and certificates. `protection`: ownership and
 * `lifecycle.protect`.
 */
export type DangerGroup = 'access' | 'traffic' | 'secrets' | 'protection';

const GROUPS: Readonly<Record<DangerGroup, true>> = { access: true, traffic: true, secrets: true, protection: true };

/** Every group, in the order in which reports show them. */
export const DANGER_GROUPS = Object.keys(GROUPS) as readonly DangerGroup[]; // the keys of a constant table

/**
 * A fact that deserves a second look. It follows from two states of a resource, and claims only what the tables of kinds prove.
 * - `restriction-removed`, `restriction-disabled`: a restriction that was in force is removed, or switched off.
 * - `unrestricted`: nothing restricts it.
 * - `lets-in`: more members are let in, those in `to`.
 * - `restriction-changed`: the members in `from` became those in `to`; whether that lets more in is not known.
 * - `rule-removed`, `rule-changed`, `rule-added`, `rules-reordered`: of a policy that is in force.
 * - `lockout`: it may lock out the user who applies it.
 * - `address-released`, `address-changed`: it does not serve the members in `from` any more; instead those in `to`.
 * - `target-removed`, `target-disabled`: its traffic has no target.
 * - `no-weight`: none of its members gets traffic.
 * - `gap`: it is deleted `writes` writes before it is created again.
 * - `new-values`: the service chooses a new value, which others have to know.
 * - `token`: a new token, delivered to `to`. `token-revoked`: the token is not valid any more.
 * - `ended`: it is not valid any more, since the time in `from`.
 * - `longer-validity`: it is valid for longer. Both sides are durations, or both are ends.
 * - `unprotected`: `lifecycle.protect` is removed, or the protected resource is.
 * - `released`: no stack owns it any more. `handed-over`: another stack owned it, the one in `from`.
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

/** Every name of a danger, the gravest of each group first. */
export const DANGER_NAMES = Object.keys(NAMES) as readonly DangerName[]; // the keys of a constant table

/** One danger of a resource, whose address is beside it. */
export interface Danger {
  readonly group: DangerGroup;
  readonly danger: DangerName;
  /** The field that it is about; absent: the resource as a whole. */
  readonly path?: string;
  /** The former value, in normal form; of a list or map, the removed members. Absent: none. */
  readonly from?: Json;
  /** The new value; of a list or map, the new members. Absent: none. */
  readonly to?: Json;
  /** Number of writes from the delete to the creation (`gap`). */
  readonly writes?: number;
  /** How long so many writes take once the rate limit is reached, in milliseconds (`gap`); absent without a limit. */
  readonly limitMs?: number;
  /** What follows from it, where the table of the kind knows: `delegate the domain again`. */
  readonly consequence?: string;
}

/** The dangers in the order in which reports show them. */
export function sortDangers(dangers: readonly Danger[]): readonly Danger[] {
  return dangers.toSorted((left, right) => toRank(left) - toRank(right));
}

function toRank({ group, danger }: Danger): number {
  return DANGER_GROUPS.indexOf(group) * DANGER_NAMES.length + DANGER_NAMES.indexOf(danger);
}

/** Number of dangers in each group. */
export type DangerCounts = Readonly<Record<DangerGroup, number>>;

/** Counts dangers by their groups. */
export function countDangers(dangers: readonly Pick<Danger, 'group'>[]): DangerCounts {
  const counts = { access: 0, traffic: 0, secrets: 0, protection: 0 };
  for (const { group } of dangers) counts[group] += 1;
  return counts;
}
