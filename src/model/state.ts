import type { Address } from './address.ts';
import type { LintCode, ManifestStart, SourcePlace, TextPart } from './diagnostic.ts';
import type { Json, JsonObject } from './json.ts';
import type { Mark } from './mark.ts';
import type { StackSettings } from './stack.ts';

/** The fields of a resource, by their interface names, in the shape that requests have: ids, not Refs. */
export type Spec = JsonObject;

/** The way to a value inside a document: keys and list positions. */
export type FieldPath = readonly (string | number)[];

/** The `lifecycle` of a manifest. */
export interface ResourceLifecycle {
  /** Never deleted or replaced. */
  readonly protect: boolean;
  /** Top-level fields that another owner manages. */
  readonly ignore: readonly string[];
  /** Id of the existing resource to take over. */
  readonly adopt: string | undefined;
  /** The name that it had before. */
  readonly renamedFrom?: string;
  /** The stack that hands it over, and its name there. */
  readonly takenFrom?: { readonly stack: string; readonly name: string };
  /** What its kind has of its own, as written: `rotate_after`, `valid_for`. Paths are relative to the working folder. */
  readonly settings: Spec;
}

/** One resource as the manifests ask for it. */
export interface DesiredResource {
  readonly address: Address;
  readonly kind: string;
  readonly name: string;
  /**
   * As written, with `${env:…}` filled in and references to known ids (External, HTTPSEdge, HTTPSEdgeRoute) replaced by those ids.
   * A reference to a resource whose id the service gives stays an `Address`.
   */
  readonly spec: Spec;
  /** The same with its references as written: an address where `spec` has the id. */
  readonly written: Spec;
  readonly lifecycle: ResourceLifecycle;
  /** Lint rules that do not apply to it, and why not: `lint.allow`. */
  readonly allow: Readonly<Partial<Record<LintCode, string>>>;
  /** What it says of itself: `metadata.labels` and `metadata.annotations`. */
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Where its document starts. Does not parse it again. */
  readonly findStart: () => ManifestStart;
  /** The position of a path inside its document; without a path, the document's start. Parses the document again: for diagnostics only. */
  readonly locate: (path?: FieldPath, part?: TextPart) => SourcePlace;
}

/** Everything that the manifests ask for. */
export interface DesiredState {
  readonly stack: StackSettings;
  readonly resources: ReadonlyMap<Address, DesiredResource>;
  /** Names of ids that this tool does not manage, id by address of the External, for reports. */
  readonly externals: ReadonlyMap<Address, string>;
  /** Externals that stand for a resource of another stack, by their address; absent: there are none. */
  readonly foreign?: ReadonlyMap<Address, CrossStackReference>;
  /** Real paths of the folders below which everything lies that the manifests name. Absent: the repository that the working folder is in. */
  readonly roots?: readonly string[];
  /** The paths that were read, as they were given. Absent: the manifests were no files. */
  readonly paths?: readonly string[];
  /** The files that it was read from. `digest` is the SHA-256 of the bytes. */
  readonly inputs: readonly ManifestInput[];
}

/** A resource of another stack: its id is found by the mark of a live resource. */
export interface CrossStackReference {
  readonly stack: string;
  /** Its address there. */
  readonly resource: Address;
}

/** A manifest file and the digest of its bytes. */
export interface ManifestInput {
  readonly file: string;
  readonly digest: string;
}

/** One resource as the service holds it. */
export interface LiveResource {
  readonly kind: string;
  readonly id: string;
  /** RFC 3339. `''` where the interface shows none (attached modules). */
  readonly createdAt: string;
  /** How many of its kind the service lists before it: newest first. Tells what was made within one second apart. */
  readonly listIndex?: number;
  /** In normal form (see `kinds/normalize`), with the user's part of the metadata only, and without what the service does not show. */
  readonly spec: Spec;
  readonly mark: Mark | undefined;
  /** Why the mark that is there cannot be read. */
  readonly markError: string | undefined;
  /** Computed fields as the service sent them, never a token. */
  readonly computed: Readonly<Record<string, Json>>;
}

/** Everything that was read. Complete, or reading was an error. */
export interface LiveState {
  /** By kind; a kind that was not read is absent. */
  readonly resources: ReadonlyMap<string, readonly LiveResource[]>;
  /** HTTPS edges and routes whose modules were read, by the address of the manifest that attaches to them. */
  readonly attachments: ReadonlyMap<Address, LiveResource>;
  /** Number of requests that reading took, retries included. */
  readonly requests: number;
}

/** Orders older first: by creation time, then by place in the list (which is newest first), then by id, so that the order is always the same. */
export function compareAge(left: LiveResource, right: LiveResource): number {
  const { listIndex: leftIndex = 0 } = left;
  const { listIndex: rightIndex = 0 } = right;
  return compareTexts(left.createdAt, right.createdAt) || rightIndex - leftIndex || compareTexts(left.id, right.id);
}

function compareTexts(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
