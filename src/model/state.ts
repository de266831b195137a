import type { Address } from './address.ts';
import type { LintCode, ManifestStart, SourcePlace, TextPart } from './diagnostic.ts';
import type { Json, JsonObject } from './json.ts';
import type { Mark } from './mark.ts';
import type { StackSettings } from './stack.ts';

/** The fields of a resource, with the API's names and in the shape of request bodies: ids instead of references. */
export type Spec = JsonObject;

/** The path of a value in a document: keys and list indexes. */
export type FieldPath = readonly (string | number)[];

/** The `lifecycle` of a manifest. */
export interface ResourceLifecycle {
  /** An apply never deletes, replaces or releases the resource. */
  readonly protect: boolean;
  /** Top-level fields that another owner manages. */
  readonly ignore: readonly string[];
  /** Id of the existing resource to adopt. */
  readonly adopt: string | undefined;
  /** Its former name in this stack. */
  readonly renamedFrom?: string;
  /** The stack that hands it over, and its name in that stack. */
  readonly takenFrom?: { readonly stack: string; readonly name: string };
  /**
   * Lifecycle settings of its kind, as written: `rotate_after`, `valid_for`. Paths are relative to the working folder.
   */
  readonly settings: Spec;
}

/** A resource as its manifest describes it. */
export interface DesiredResource {
  readonly address: Address;
  readonly kind: string;
  readonly name: string;
  /**
   * As written, with `${env:…}` filled in and references to known ids (External, HTTPSEdge, HTTPSEdgeRoute) replaced by
   * the ids. A reference to a resource whose id the service generates stays an `Address`.
   */
  readonly spec: Spec;
  /** `spec` with all references as written: addresses instead of ids. */
  readonly written: Spec;
  readonly lifecycle: ResourceLifecycle;
  /** `lint.allow`: the lint rules that are suppressed for it, with the user's reason. */
  readonly allow: Readonly<Partial<Record<LintCode, string>>>;
  /** `metadata.labels` and `metadata.annotations`. */
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Returns the position of its document's first line. Does not parse the document again. */
  readonly findStart: () => ManifestStart;
  /**
   * Returns the position of a path in its document; without a path, the start of the document. Parses the document
   * again, so only for diagnostics.
   */
  readonly locate: (path?: FieldPath, part?: TextPart) => SourcePlace;
}

/** Everything that the manifests describe. */
export interface DesiredState {
  readonly stack: StackSettings;
  readonly resources: ReadonlyMap<Address, DesiredResource>;
  /** Ids of resources that edgewise does not manage, by the address of the External. For reports. */
  readonly externals: ReadonlyMap<Address, string>;
  /** References to resources of other stacks, by the address of the External. Absent: none. */
  readonly foreign?: ReadonlyMap<Address, CrossStackReference>;
  /**
   * Real paths of the folders that must contain every file that manifests name. Absent: the repository of the working
   * folder.
   */
  readonly roots?: readonly string[];
  /** The manifest paths, as the user gave them. Absent: the manifests were not files. */
  readonly paths?: readonly string[];
  /** The files that the manifests were read from. */
  readonly inputs: readonly ManifestInput[];
}

/** A reference to a resource of another stack. Its id is found by the mark of a live resource. */
export interface CrossStackReference {
  readonly stack: string;
  /** Its address in that stack. */
  readonly resource: Address;
}

/** A manifest file and the SHA-256 of its bytes. */
export interface ManifestInput {
  readonly file: string;
  readonly digest: string;
}

/** A resource as the service returns it. */
export interface LiveResource {
  readonly kind: string;
  readonly id: string;
  /** RFC 3339. `''` for attached modules, for which the API returns no time. */
  readonly createdAt: string;
  /**
   * Index in the service's list of its kind, which is sorted newest first. Orders resources that were created in the
   * same second.
   */
  readonly listIndex?: number;
  /**
   * In normal form (see `kinds/normalize`). Contains the user's part of the metadata only, and no fields that the
   * service does not return.
   */
  readonly spec: Spec;
  readonly mark: Mark | undefined;
  /** Why the mark in the metadata is invalid. `undefined`: there is no mark, or it is valid. */
  readonly markError: string | undefined;
  /** Computed fields as the service sent them. Never contains a token. */
  readonly computed: Readonly<Record<string, Json>>;
}

/** The live resources that were read. Always complete: if reading fails, there is no live state. */
export interface LiveState {
  /** By kind. A kind that was not read has no entry. */
  readonly resources: ReadonlyMap<string, readonly LiveResource[]>;
  /** HTTPS edges and routes whose modules were read, by the address of the manifest that attaches modules to them. */
  readonly attachments: ReadonlyMap<Address, LiveResource>;
  /** Number of requests sent to read the state, including retries. */
  readonly requests: number;
}

/**
 * Compares resources for sorting, oldest first: by creation time, then by list index, then by id, so that the order is
 * always the same.
 */
export function compareAge(left: LiveResource, right: LiveResource): number {
  const { listIndex: leftIndex = 0 } = left;
  const { listIndex: rightIndex = 0 } = right;
  return compareTexts(left.createdAt, right.createdAt) || rightIndex - leftIndex || compareTexts(left.id, right.id);
}

function compareTexts(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
