import type { Change } from './change.ts';
import type { Diagnostic } from './diagnostic.ts';
import type { JsonObject } from './json.ts';
import type { GuardSettings } from './stack.ts';
import type { ManifestInput, Spec } from './state.ts';

/** Version of the plan file format. */
export const PLAN_FORMAT = 1;

/** The mark that a write leaves, with what is only known when the write is made. */
export interface MarkDraft {
  readonly stack: string;
  readonly name: string;
  readonly protect: boolean;
  readonly delivered: boolean;
  /** See `Mark`. */
  readonly was?: string;
  /** The user's part of the metadata. */
  readonly user: string | JsonObject;
  readonly fields: Readonly<Record<string, string>>;
  /** Fields whose digest waits for an id: their normal form, with addresses in it. */
  readonly pending: Spec;
}

/** One mutating API call. */
export interface Write {
  /** `create TCPEdge/postgres`: unique in the plan. */
  readonly id: string;
  readonly method: 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Relative to the base URL. `{id}` stands for the id of `address` that an earlier write of this plan returns. */
  readonly path: string;
  /** The change that it serves. */
  readonly address: string;
  readonly kind: string;
  /** Id of the resource that it changes; absent: a POST, or an id that is known after apply. */
  readonly resourceId?: string;
  /** The module that it sets or removes, when its path ends in one. */
  readonly module?: string;
  /** Without metadata when there is a `mark`; addresses stand for ids known after apply. */
  readonly body?: JsonObject;
  readonly mark?: MarkDraft;
  /** How long what it creates is valid, from the moment at which it is made: that is when its times are put into the body. */
  readonly validForMs?: number;
  /** Ids of the writes that must have succeeded before. */
  readonly needs: readonly string[];
  /** Starts when all the writes that are not last are over, however they ended. */
  readonly last: boolean;
  /** Why it exists, for the reader of the plan. */
  readonly reason: string;
}

/** A file that applying the plan writes, as a whole. */
export interface PlannedFile {
  /** The resource whose value it holds. */
  readonly address: string;
  /** Relative to the working folder, or absolute. */
  readonly path: string;
  /** What is written; absent: known after apply. */
  readonly text?: string;
}

/** Something of ours that nothing asks for, and that the plan leaves all the same (`--no-delete`). */
export interface Withheld {
  /** `Kind/name`; a duplicate is `Kind/name@id`. */
  readonly address: string;
  readonly kind: string;
  readonly id: string;
  /** Why it would be deleted. */
  readonly reason: string;
}

/** A safety rule that the plan breaks. */
export interface GuardViolation {
  readonly rule: 'protect' | 'delete-share' | 'nothing-described';
  readonly message: string;
  /** The flag that lets it through. */
  readonly remedy: string;
  readonly addresses: readonly string[];
}

/** How a run talks to the service. */
export interface ConnectionSettings {
  readonly versionHeader: string;
  readonly pageSize: number;
  readonly concurrency: number;
  /** `120/60s`, or `none`. */
  readonly rateLimit: string;
}

/** The settings of the run that made a plan. */
export interface PlanSettings extends ConnectionSettings {
  /** When deletes need consent. */
  readonly guard: GuardSettings;
}

/** What applying the manifests would do. Immutable, serialisable, and without secrets. */
export interface Plan {
  readonly format: typeof PLAN_FORMAT;
  readonly tool: { readonly name: 'edgewise'; readonly version: string };
  readonly stack: string;
  readonly baseUrl: string;
  /** `destroy`: made to delete everything, so the guard on deletes does not apply. `release`: takes marks off and does nothing else. */
  readonly mode: 'apply' | 'destroy' | 'release';
  /** How it talks to the service. Where tokens go is not in it: a plan file must not say what is run. */
  readonly settings: PlanSettings;
  /** The addresses that it was narrowed to; empty: everything. */
  readonly targets: readonly string[];
  /** Other stacks whose resources it may take over. */
  readonly takeOver: readonly string[];
  readonly inputs: readonly ManifestInput[];
  /** Ids that the manifests have a name for, by the address of the External: for those who read the plan. */
  readonly externals: Readonly<Record<string, string>>;
  /** Deletes, replaces, updates, releases, adoptions, creates, no-ops; by address within each. */
  readonly changes: readonly Change[];
  /** What it would delete, but for `--no-delete`; absent: nothing. */
  readonly withheld?: readonly Withheld[];
  /** In an order that is valid when they are made one after another. */
  readonly writes: readonly Write[];
  /** Written when the writes are over; no others are. */
  readonly files: readonly PlannedFile[];
  readonly diagnostics: readonly Diagnostic[];
  readonly violations: readonly GuardViolation[];
  readonly requests: {
    /** What reading took. */
    readonly read: number;
    /** What applying this plan takes at least: its writes, and a list of each kind that another apply could make the same of. */
    readonly apply: number;
    /** The least time in milliseconds that those take within the rate limit. */
    readonly leastMs: number;
  };
}
