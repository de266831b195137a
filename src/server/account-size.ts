import type { Kind } from '../kinds/kind.ts';
import { formatPath } from '../model/field-path.ts';
import { toHarmlessJson } from '../model/job-commands.ts';
import { addJsonSize, findJsonLimit, isJsonArray, type Json, type JsonSize, measureJsonSize } from '../model/json.ts';
import type { FieldPath } from '../model/state.ts';
import { RequestError } from './failure.ts';
import { type StoredResource, toSeedResource } from './store.ts';

/**
 * What an account may have at most. Writes and snapshots have the same limits: what a write added can be read again. The
 * limits of files (`findJsonLimit`) count the whole account. MAX_MEMBERS is for one list or object of a resource,
 * because checking more members would take too long.
 */
const MAX_MEMBERS = 20_000;

/**
 * Describes the first list or object inside a resource that has too many members. The text begins with its path. `depth`:
 * how many levels around the resources have no limit.
 */
export function findOversizedMember(value: Json, depth = 0): string | undefined {
  const path = findOversizedPath(value, depth);
  return path && `${formatPath(path)} has more than ${MAX_MEMBERS.toLocaleString('en')} members`;
}

function findOversizedPath(value: Json, depth: number): FieldPath | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const members = Object.entries(value);
  if (depth <= 0 && members.length > MAX_MEMBERS) return [];
  for (const [key, member] of members) {
    const path = findOversizedPath(member, depth - 1);
    if (path !== undefined) return [isJsonArray(value) ? Number(key) : key, ...path];
  }
  return undefined;
}

/** The size of an account: that of its snapshot as a text. */
export class AccountSize {
  readonly #measureSnapshot: () => JsonSize;
  #size: JsonSize | undefined;

  /** `measureSnapshot`: called once, at the first write. */
  constructor(measureSnapshot: () => JsonSize) {
    this.#measureSnapshot = measureSnapshot;
  }

  /** Returns the size with a resource in place of its former state. Throws `RequestError` if it is over the limit. */
  check(kind: Kind, resource: StoredResource, before: StoredResource | undefined): JsonSize {
    const oversized = findOversizedMember(resource.spec);
    if (oversized !== undefined) throw createFullError(oversized);
    const size = addJsonSize(this.#without(kind, before), measureResource(kind, resource));
    const finding = findJsonLimit(size);
    if (finding === undefined) return size;
    throw createFullError(
      `The account is full: with this, its snapshot ${finding.replace(/^is/, 'would be').replace(/^has/, 'would have')}`,
    );
  }

  /** Counts a resource that replaces its former state. Throws `RequestError`, and counts nothing, if it is over the limit. */
  put(kind: Kind, resource: StoredResource, before: StoredResource | undefined): void {
    this.#size = this.check(kind, resource, before);
  }

  remove(kind: Kind, before: StoredResource): void {
    this.#size = this.#without(kind, before);
  }

  /** Counts what a snapshot has beside the resources. */
  add(text: string): void {
    // Before the first write, the snapshot that is then measured has it.
    if (this.#size !== undefined) this.#size = addJsonSize(this.#size, measureJsonSize(text));
  }

  #current(): JsonSize {
    this.#size ??= this.#measureSnapshot();
    return this.#size;
  }

  #without(kind: Kind, before: StoredResource | undefined): JsonSize {
    return before === undefined ? this.#current() : addJsonSize(this.#current(), measureResource(kind, before), -1);
  }
}

/** The size of a resource in the list of a snapshot, with the comma after it. */
function measureResource(kind: Kind, resource: StoredResource): JsonSize {
  return measureJsonSize(`${toHarmlessJson(JSON.stringify(toSeedResource(kind, resource)))},`);
}

function createFullError(message: string): RequestError {
  return new RequestError(message, { code: 'account_full' });
}
