import { type Address, formatAddress } from './address.ts';
import { assertNever } from './errors.ts';
import type { JsonObject } from './json.ts';
import type { MarkDraft } from './mark.ts';

/** The name of a write, unique in its plan: `create TCPEdge/postgres`. Only `toWriteId` makes one; nothing takes one apart. */
export type WriteId = string & { readonly [BRAND]: true };

declare const BRAND: unique symbol;

/** What a write is about: enough to name it. */
type WriteSubject =
  | { readonly type: 'create' | 'deliver' | 'redeliver' | 'update' | 'adopt'; readonly address: Address }
  | {
      readonly type: 'delete' | 'release';
      readonly address: Address;
      readonly resourceId: string;
      /** Id of the live resource that keeps the address; absent if this is not a duplicate. */
      readonly duplicateOf?: string;
    }
  | { readonly type: 'set-module' | 'remove-module'; readonly address: Address; readonly module: string }
  | { readonly type: 'vacate'; readonly address: Address; readonly field: string };

/** What every write has. */
interface Common {
  readonly id: WriteId;
  /** Of the change that it serves. */
  readonly address: Address;
  readonly kind: string;
  /** The writes that must have succeeded before. */
  readonly dependsOn: readonly WriteId[];
  /** Starts when all the writes that are not last are over, however they ended. */
  readonly last: boolean;
  /** Why it exists, for the reader of the plan. */
  readonly reason: string;
}

/** Makes a resource. */
export interface CreateWrite extends Common {
  readonly type: 'create';
  /** Without metadata; addresses replace ids known after apply. */
  readonly body: JsonObject;
  readonly mark: MarkDraft;
  /** How long what it creates is valid, from the moment at which it is made: that is when its times are put into the body. */
  readonly validForMs?: number;
}

/** Records that the one-time value of a new resource was delivered. */
export interface DeliverWrite extends Common {
  readonly type: 'deliver';
  readonly mark: MarkDraft;
}

/** Delivers that value once more, and records it. */
export interface RedeliverWrite extends Common {
  readonly type: 'redeliver';
  readonly mark: MarkDraft;
}

/** Changes fields of a resource of ours. */
export interface UpdateWrite extends Common {
  readonly type: 'update';
  readonly resourceId: string;
  /** Without metadata; addresses replace ids known after apply. */
  readonly body: JsonObject;
  /** Absent: the one that is there stays. */
  readonly mark?: MarkDraft;
}

/** Makes a resource that exists ours. */
export interface AdoptWrite extends Common {
  readonly type: 'adopt';
  readonly resourceId: string;
  readonly body: JsonObject;
  readonly mark: MarkDraft;
}

/** The ids in a path: `id`, and of attached kinds those of parents. */
export interface PathIds {
  readonly id: string;
  readonly [name: string]: string;
}

/** Sets a module as a whole, at its own path. */
export interface SetModuleWrite extends Common {
  readonly type: 'set-module';
  readonly ids: PathIds;
  readonly module: string;
  /** The module; addresses replace ids known after apply. */
  readonly body: JsonObject;
}

/** Removes a module, at its own path. */
export interface RemoveModuleWrite extends Common {
  readonly type: 'remove-module';
  readonly ids: PathIds;
  readonly module: string;
}

/** Deletes a resource. */
export interface DeleteWrite extends Common {
  readonly type: 'delete';
  readonly resourceId: string;
  readonly duplicateOf?: string;
}

/** Takes the mark off, and leaves the resource as it is. */
export interface ReleaseWrite extends Common {
  readonly type: 'release';
  readonly resourceId: string;
  readonly duplicateOf?: string;
  /** With the metadata as the user wrote them. */
  readonly body: JsonObject;
}

/** Gives up members of a list that another resource takes over, before the same resource takes others. */
export interface VacateWrite extends Common {
  readonly type: 'vacate';
  readonly resourceId: string;
  readonly field: string;
  readonly body: JsonObject;
}

/** One mutating API call. What it does is its `type`; its method and path follow from that and from its kind (`createWriteRequest`). */
export type Write =
  | CreateWrite
  | DeliverWrite
  | RedeliverWrite
  | UpdateWrite
  | AdoptWrite
  | SetModuleWrite
  | RemoveModuleWrite
  | DeleteWrite
  | ReleaseWrite
  | VacateWrite;

/** What a write can do. */
export type WriteType = Write['type'];

/** The resource that a write is about, as people see it. */
export function formatWriteAddress(write: WriteSubject): string {
  const isLone = write.type !== 'delete' && write.type !== 'release';
  return isLone ? write.address : formatAddress({ ...write, id: write.resourceId });
}

/** The name of a write. */
export function toWriteId(subject: WriteSubject): WriteId {
  return describeSubject(subject) as WriteId; // the brand says that the text comes from here
}

function describeSubject(subject: WriteSubject): string {
  const { address } = subject;
  switch (subject.type) {
    case 'create':
    case 'deliver':
    case 'update':
    case 'adopt':
      return `${subject.type} ${address}`;
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
      return `release ${subject.field} of ${address}`;
    default:
      return assertNever(subject);
  }
}
