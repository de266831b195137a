import type { Kind } from '../kinds/kind.ts';
import type { Change } from '../model/change.ts';
import type { WriteId } from '../model/write.ts';
import type { Draft } from './writes.ts';

/** A change and its writes. */
export interface Planned {
  readonly change: Change;
  readonly kind: Kind;
  readonly writes: readonly Draft[];
}

/** Which write waits for which others. The one mutable thing while ordering; it never leaves this folder. */
export class Needs {
  readonly #byId = new Map<WriteId, Set<WriteId>>();
  /** By the write that releases: the writes that wait for it only to claim what it releases. */
  readonly #claimants = new Map<WriteId, Set<WriteId>>();

  constructor(drafts: readonly Draft[]) {
    for (const { id, needs } of drafts) this.#byId.set(id, new Set(needs));
  }

  of(id: WriteId): ReadonlySet<WriteId> {
    return this.#byId.get(id) ?? NONE;
  }

  add(id: WriteId, needed: WriteId): void {
    if (id !== needed) insert(this.#byId, id, needed);
  }

  /** `id` waits for `needed` because it claims what that releases. */
  addClaim(id: WriteId, needed: WriteId): void {
    if (id === needed || this.of(id).has(needed)) return;
    insert(this.#byId, id, needed);
    insert(this.#claimants, needed, id);
  }

  remove(id: WriteId, needed: WriteId): void {
    this.#byId.get(id)?.delete(needed);
    this.#claimants.get(needed)?.delete(id);
  }

  /** Makes those that wait for `from` only to claim what it releases wait for `to` instead. */
  moveClaims(from: WriteId, to: WriteId): void {
    for (const claimant of this.#claimants.get(from) ?? NONE) {
      this.#byId.get(claimant)?.delete(from);
      insert(this.#byId, claimant, to);
    }
    this.#claimants.delete(from);
  }
}

const NONE: ReadonlySet<WriteId> = new Set();

function insert(index: Map<WriteId, Set<WriteId>>, key: WriteId, value: WriteId): void {
  const known = index.get(key);
  if (known === undefined) index.set(key, new Set([value]));
  else known.add(value);
}
