import { type Address, formatAddress } from './address.ts';
import { assertNever } from './errors.ts';
import type { JsonObject } from './json.ts';
import type { MarkDraft } from './mark.ts';

/** The id of a write, such as `create TCPEdge/postgres`, unique in the plan. Created by `toWriteId`, never parsed. */
export type WriteId = string & { readonly [BRAND]: true };

declare const BRAND: unique symbol;

/** The parts of a write that its id depends on. */
type WriteSubject =
  | { readonly type: 'create' | 'deliver' | 'redeliver' | 'update' | 'adopt' | 'take-over'; readonly address: Address }
  | {
      readonly type: 'delete' | 'release';
      readonly address: Address;
      readonly resourceId: string;
      /** Only for a duplicate: the id of the resource that keeps the address. */
      readonly duplicateOf?: string;
    }
  | { readonly type: 'set-module' | 'remove-module'; readonly address: Address; readonly module: string }
  | { readonly type: 'vacate'; readonly address: Address; readonly field: string };

interface WriteBase {
  readonly id: WriteId;
  /** The address of the change that this write is part of. */
  readonly address: Address;
  readonly kind: string;
  /** Writes that must succeed before this one. */
  readonly dependsOn: readonly WriteId[];
  /** True: the write starts after all writes with `last: false` have ended, successful or not. */
  readonly last: boolean;
  /** The reason for the write, for readers of the plan. */
  readonly reason: string;
}

export interface CreateWrite extends WriteBase {
  readonly type: 'create';
  /** The request body without metadata. Contains addresses where ids are known only after apply. */
  readonly body: JsonObject;
  readonly mark: MarkDraft;
  /** Milliseconds for which the created resource is valid. An apply computes start and end when it sends the write. */
  readonly validForMs?: number;
  /** The request has no start of the validity, because `lifecycle.ignore` leaves the start to others. */
  readonly omitsStart?: true;
}

/** Records in the mark that the token of a new credential was delivered. */
export interface RecordDeliveryWrite extends WriteBase {
  readonly type: 'deliver';
  readonly mark: MarkDraft;
}

/** Delivers a token again, and records the delivery in the mark. */
export interface RedeliverWrite extends WriteBase {
  readonly type: 'redeliver';
  readonly mark: MarkDraft;
}

/** Changes fields of a resource of this stack. */
export interface UpdateWrite extends WriteBase {
  readonly type: 'update';
  readonly resourceId: string;
  /** The request body without metadata. Contains addresses where ids are known only after apply. */
  readonly body: JsonObject;
  /** Absent: the mark stays as it is. */
  readonly mark?: MarkDraft;
}

/**
 * Writes the mark of this stack to an existing resource that has no mark (`adopt`) or that of another stack
 * (`take-over`), and changes fields that differ.
 */
export interface AdoptWrite extends WriteBase {
  readonly type: 'adopt' | 'take-over';
  readonly resourceId: string;
  readonly body: JsonObject;
  readonly mark: MarkDraft;
}

/** The ids in a URL path: `id`, and for modules attached to an edge or route, also the ids of that edge and route. */
export interface PathIds {
  readonly id: string;
  readonly [name: string]: string;
}

/** Replaces a whole module, which has its own URL path. */
export interface SetModuleWrite extends WriteBase {
  readonly type: 'set-module';
  readonly ids: PathIds;
  readonly module: string;
  /** The fields of the module. Contains addresses where ids are known only after apply. */
  readonly body: JsonObject;
}

/** Removes a module, which has its own URL path. */
export interface RemoveModuleWrite extends WriteBase {
  readonly type: 'remove-module';
  readonly ids: PathIds;
  readonly module: string;
}

export interface DeleteWrite extends WriteBase {
  readonly type: 'delete';
  readonly resourceId: string;
  readonly duplicateOf?: string;
}

/** Removes the mark, and leaves the resource as it is. */
export interface ReleaseWrite extends WriteBase {
  readonly type: 'release';
  readonly resourceId: string;
  readonly duplicateOf?: string;
  /** The metadata of the user, without the mark. */
  readonly body: JsonObject;
}

/** Frees unique values: removes list members that the resource gives up. A later write adds the new members. */
export interface VacateWrite extends WriteBase {
  readonly type: 'vacate';
  readonly resourceId: string;
  readonly field: string;
  readonly body: JsonObject;
}

/** A request that changes something at the service. `createWriteRequestLine` finds the method and path. */
export type Write =
  | CreateWrite
  | RecordDeliveryWrite
  | RedeliverWrite
  | UpdateWrite
  | AdoptWrite
  | SetModuleWrite
  | RemoveModuleWrite
  | DeleteWrite
  | ReleaseWrite
  | VacateWrite;

/** The type of a write, such as `create` or `set-module`. */
export type WriteType = Write['type'];

/** The id of the resource that a write changes. `undefined` if the plan creates the resource. */
export function findResourceIdOfWrite(write: Write): string | undefined {
  if ('resourceId' in write) return write.resourceId;
  return 'ids' in write ? write.ids.id : undefined;
}

/** Formats the address of the written resource: `Kind/name`, or `Kind/name@id` for a duplicate. */
export function formatWriteAddress(write: WriteSubject): string {
  const isLone = write.type !== 'delete' && write.type !== 'release';
  return isLone ? write.address : formatAddress({ ...write, id: write.resourceId });
}

export function toWriteId(subject: WriteSubject): WriteId {
  return formatWriteId(subject) as WriteId; // only this function creates ids
}

function formatWriteId(subject: WriteSubject): string {
  const { address } = subject;
  switch (subject.type) {
    case 'create':
    case 'deliver':
    case 'update':
    case 'adopt':
      return `${subject.type} ${address}`;
    case 'take-over':
      return `take over ${address}`;
    case 'redeliver':
      return `deliver ${address} again`;
    case 'delete':
    case 'release':
      return `${subject.type} ${formatWriteAddress(subject)}`;
    case 'set-module':
      return `set ${subject.module} of ${address}`;
    case 'remove-module':
      return `remove ${subject.module} of ${address}`;
    case 'vacate':
      return `vacate ${subject.field} of ${address}`;
    default:
      return assertNever(subject);
  }
}
