/** What happens to a restriction. `loosened`: it is still there and allows more than before. */
export type Loosening = 'removed' | 'disabled' | 'loosened';

/**
 * Why a change deserves a second look. Decided once, when the plan is made; every report shows the same.
 *
 * - `delete`: the resource goes.
 * - `replace`: it gets a new id, and new values of the fields in `loses`. `gap`: the number of writes from the delete of the old one to
 *   the creation of the new one; 0: the new one is created first.
 * - `opens`: a field that keeps somebody out does so less, or no longer. `path` leads to it; `''`: it is the resource itself.
 * - `unprotects`: `lifecycle.protect` is taken away.
 * - `token`: whoever uses the old one-time value needs the new one.
 * - `lockout`: it may lock out whoever applies it.
 * - `validity`: what is made is valid for longer than what was there. Both sides are durations, or both are ends.
 */
export type Danger =
  | { readonly danger: 'delete' }
  | { readonly danger: 'replace'; readonly loses: readonly string[]; readonly gap: number }
  | { readonly danger: 'opens'; readonly path: string; readonly how: Loosening }
  | { readonly danger: 'unprotects' }
  | { readonly danger: 'token' }
  | { readonly danger: 'lockout' }
  | { readonly danger: 'validity'; readonly from: string; readonly to: string };

/** The name of a danger. */
export type DangerName = Danger['danger'];

const NAMES: Readonly<Record<DangerName, true>> = {
  delete: true,
  replace: true,
  opens: true,
  unprotects: true,
  token: true,
  lockout: true,
  validity: true,
};

/** Every name of a danger, the gravest first. */
export const DANGER_NAMES = Object.keys(NAMES) as readonly DangerName[]; // the keys of a constant table
