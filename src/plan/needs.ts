import type { Decision } from './decide.ts';
import type { WriteDraft } from './writes.ts';

/** A decision and its writes. */
export interface Planned {
  readonly decision: Decision;
  readonly writes: readonly WriteDraft[];
}

/** Which write waits for which others. The one mutable thing while ordering; it never leaves this folder. */
export class Needs {
  readonly #byId = new Map<string, Set<string>>();
  /** By the write that releases: the writes that wait for it only to claim what it releases. */
  readonly #claimants = new Map<string, Set<string>>();

  constructor(drafts: readonly WriteDraft[]) {
    for (const { id, needs } of drafts) this.#byId.set(id, new Set(needs));
  }

  of(id: string): ReadonlySet<string> {
    return this.#byId.get(id) ?? NONE;
  }

  add(id: string, needed: string): void {
    if (id !== needed) insert(this.#byId, id, needed);
  }

  /** `id` waits for `needed` because it claims what that releases. */
  addClaim(id: string, needed: string): void {
    if (id === needed || this.of(id).has(needed)) return;
    insert(this.#byId, id, needed);
    insert(this.#claimants, needed, id);
  }

  remove(id: string, needed: string): void {
    this.#byId.get(id)?.delete(needed);
    this.#claimants.get(needed)?.delete(id);
  }

  /** Makes those that wait for `from` only to claim what it releases wait for `to` instead. */
  moveClaims(from: string, to: string): void {
    for (const claimant of this.#claimants.get(from) ?? NONE) {
      this.#byId.get(claimant)?.delete(from);
      insert(this.#byId, claimant, to);
    }
    this.#claimants.delete(from);
  }
}

const NONE: ReadonlySet<string> = new Set();

function insert(index: Map<string, Set<string>>, key: string, value: string): void {
  const known = index.get(key);
  if (known === undefined) index.set(key, new Set([value]));
  else known.add(value);
}
