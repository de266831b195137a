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

/** The dependencies between writes. The only mutable value while ordering; it never leaves this folder. */
export class Needs {
  readonly #byId = new Map<WriteId, Set<WriteId>>();
  /** By releasing write: the writes that depend on it only to claim the released value. */
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

  /** `id` depends on `needed` because it claims a value that `needed` releases. */
  addClaim(id: WriteId, needed: WriteId): void {
    if (id === needed || this.of(id).has(needed)) return;
    insert(this.#byId, id, needed);
    insert(this.#claimants, needed, id);
  }

  remove(id: WriteId, needed: WriteId): void {
    this.#byId.get(id)?.delete(needed);
    this.#claimants.get(needed)?.delete(id);
  }

  /** Moves the dependencies on values that `from` releases to `to`. */
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
