import { type Address, formatAddress } from './address.ts';
import type { JsonObject } from './json.ts';
import type { MarkDraft } from './mark.ts';

/** The id of a write, such as `create TCPEdge/postgres`, unique in the plan. Created by `toWriteId`, never parsed. */
export type WriteId = string & { readonly [BRAND]: true };

declare const BRAND: unique symbol;

/** The ids in a URL path: `id`, and for modules attached to an edge or route, also the ids of that edge and route. */
export interface PathIds {
  readonly id: string;
  readonly [name: string]: string;
}

/**
 * Why a write is sent: one word of this list.
 * - `create`: creates a resource.
 * - `deliver`: records in the mark that the token of a new credential was delivered.
 * - `retire`: records in the mark of an old resource that another one has replaced it. It stays for some time.
 * - `update`: changes fields of a resource of this stack, sets a module or removes one.
 * - `adopt`, `take-over`: writes the mark of this stack to an existing resource that has no mark, or that of another
 *   stack, and changes fields that differ.
 * - `release`: removes the mark, and leaves the resource as it is.
 * - `vacate`: frees unique values: removes list members that the resource gives up. A later write adds the new members.
 * - `delete`: deletes a resource.
 */
export const WRITE_PURPOSES = [
  'create',
  'deliver',
  'retire',
  'update',
  'adopt',
  'take-over',
  'release',
  'vacate',
  'delete',
] as const;

export type WritePurpose = (typeof WRITE_PURPOSES)[number];

/** The method of a write. POST creates, PATCH changes fields, PUT sets a module, DELETE deletes a resource or module. */
export const WRITE_METHODS = ['POST', 'PATCH', 'PUT', 'DELETE'] as const;

export type WriteMethod = (typeof WRITE_METHODS)[number];

/** What a request changes. `createWriteRequestLine` finds its path. */
interface WriteTarget {
  readonly kind: string;
  readonly method: WriteMethod;
  /** Absent: the plan creates the resource, so its id is known only after apply. */
  readonly ids?: PathIds | undefined;
  /** A module that has its own URL path. Absent: the resource itself. */
  readonly module?: string | undefined;
}

/** What a request sends. */
interface WriteContent {
  /** Without metadata if there is a mark. Contains addresses where ids are known only after apply. */
  readonly body?: JsonObject | undefined;
  /** The mark that the request sets, as the metadata of the body. */
  readonly mark?: MarkDraft | undefined;
  /** Milliseconds for which the created resource is valid. An apply computes start and end when it sends the write. */
  readonly validForMs?: number | undefined;
  /** The request has no start of the validity, because `lifecycle.ignore` leaves the start to others. */
  readonly omitsStart?: true | undefined;
}

/**
 * A request that changes something at the service: what is sent, for which change and why, after which writes. Its id names
 * it in results; it is never parsed. Its reason is for people. No member has a secret: an apply fills those in.
 */
export interface Write extends WriteTarget, WriteContent {
  /** Names the write in results and in `dependsOn`. Not the id of a resource, and never parsed. */
  readonly id: WriteId;
  /** The address of the change that this write is part of. Not unique: a change may take several writes. */
  readonly address: Address;
  /** Only for a duplicate: the id of the resource that keeps the address. */
  readonly duplicateOf?: string | undefined;
  /** Why it is sent. Not what is sent: `method`, `module` and `body` say that. */
  readonly purpose: WritePurpose;
  /** The reason for the write, for readers of the plan. Not to branch on. */
  readonly reason: string;
  /** Writes that must succeed before this one. Never has a write of another plan. */
  readonly dependsOn: readonly WriteId[];
  /** True: the write starts after all writes with `last: false` have ended, successful or not. */
  readonly last: boolean;
}

/** A write that creates a resource. */
export interface CreateWrite extends Write {
  readonly body: JsonObject;
  readonly mark: MarkDraft;
}

/** A write that sets a mark. */
export interface MarkWrite extends Write {
  readonly mark: MarkDraft;
}

export function isCreate(write: Write): write is CreateWrite {
  return write.method === 'POST' && write.body !== undefined && hasMark(write);
}

export function hasMark(write: Write): write is MarkWrite {
  return write.mark !== undefined;
}

/** Whether a write deletes a resource, not only a module. */
export function isDelete({ method, module }: Pick<Write, 'method' | 'module'>): boolean {
  return method === 'DELETE' && module === undefined;
}

/** The fields of the spec that a request sets, without the metadata of a mark. A removed module is null. */
export function getSentFields({ module, body }: Pick<Write, 'module' | 'body'>): JsonObject {
  return module === undefined ? (body ?? {}) : { [module]: body ?? null };
}

/** The names of the fields that a request sets. A mark is sent together with the user's metadata. */
export function listSentFieldNames(write: Pick<Write, 'module' | 'body' | 'mark'>): readonly string[] {
  const names = Object.keys(getSentFields(write));
  return write.mark === undefined ? names : [...names, 'metadata'];
}

/** Maps each write to those of the others on which it depends. */
export function mapNeededWrites(writes: readonly Write[]): ReadonlyMap<Write, readonly Write[]> {
  const byId = new Map(writes.map((write) => [write.id, write]));
  return new Map(writes.map((write) => [write, write.dependsOn.flatMap((id) => byId.get(id) ?? [])]));
}

/** Formats the address of the written resource: `Kind/name`, or `Kind/name@id` for a duplicate. */
export function formatWriteAddress({
  address,
  duplicateOf,
  ids,
}: Pick<Write, 'address' | 'duplicateOf' | 'ids'>): string {
  return formatAddress({ address, id: ids?.id, duplicateOf });
}

/** The parts of a write that its id depends on. */
type WriteSubject = Pick<Write, 'purpose' | 'address' | 'duplicateOf' | 'ids' | 'module' | 'body'> &
  Partial<Pick<Write, 'method'>>;

export function toWriteId(subject: WriteSubject): WriteId {
  return formatWriteId(subject) as WriteId; // only this function creates ids
}

function formatWriteId(subject: WriteSubject): string {
  const { purpose, method, module, body = {} } = subject;
  const address = formatWriteAddress(subject);
  if (module !== undefined) return `${method === 'DELETE' ? 'remove' : 'set'} ${module} of ${address}`;
  if (purpose === 'vacate') return `vacate ${Object.keys(body).join(', ')} of ${address}`;
  return `${purpose === 'take-over' ? 'take over' : purpose} ${address}`;
}
