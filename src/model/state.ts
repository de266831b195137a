import type { Address } from './address.ts';
import type { LintCode } from './diagnostic.ts';
import type { Json, JsonObject } from './json.ts';
import type { EditableManifest } from './manifest-edit.ts';
import type { Mark } from './mark.ts';
import type { LocateInDocument, Place } from './place.ts';
import type { StackSettings } from './stack.ts';

/** The fields of a resource, named and structured as in request bodies of the API: ids instead of references. */
export type Spec = JsonObject;

/** The path of a value in a document: keys and list indexes. */
export type FieldPath = readonly (string | number)[];

/** The `lifecycle` of a manifest. */
export interface ResourceLifecycle {
  /** Whether the resource is protected: an apply never deletes, replaces or releases it. */
  readonly protect: boolean;
  /** What others manage: fields, and members of fields (`backends.bkdhr_…`). See kinds/ignored-parts.ts. */
  readonly ignore: readonly string[];
  /** The id of the existing resource to adopt. `undefined` if none is adopted. */
  readonly adopt: string | undefined;
  /** The former name of the resource in this stack. */
  readonly renamedFrom?: string;
  /** The stack that hands over the resource, and the name of the resource in that stack. */
  readonly takenFrom?: { readonly stack: string; readonly name: string };
  /** Only true: no manifest names the former name or stack, but the mark remembers the present one. Set by a plan. */
  readonly isRenamedBack?: true;
  /**
   * The settings in `lifecycle` that only some kinds have, such as `rotate_after`, as written. Paths are relative to
   * the working folder.
   */
  readonly settings: Spec;
}

/** A resource as its manifest describes it. */
export interface DesiredResource {
  readonly address: Address;
  readonly kind: string;
  readonly name: string;
  /**
   * As in the manifest, with `${env:…}` filled in. A reference to a document that contains an id (External, HTTPSEdge,
   * HTTPSEdgeRoute) is replaced by this id. Any other reference is an `Address`.
   */
  readonly spec: Spec;
  /** Like `spec`, but all references are addresses, as in the manifest. */
  readonly written: Spec;
  readonly lifecycle: ResourceLifecycle;
  /** `lint.allow`: the suppressed lint rules, each with the reason that the user gave. */
  readonly allow: Readonly<Partial<Record<LintCode, string>>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Returns the position of a path, or of the start of the manifest. */
  readonly locate: LocateInDocument;
  /** Returns a value as its manifest writes it, such as `0x1F`. A path without a value: the text around it. */
  readonly readSource: (path: FieldPath) => string;
  /** Edits the manifest where it is written. */
  readonly manifest: EditableManifest;
}

/** Everything that the manifests describe. */
export interface DesiredState {
  readonly stack: StackSettings;
  readonly resources: ReadonlyMap<Address, DesiredResource>;
  /** Maps the address of an `External` to the id of a resource that edgewise does not manage. For reports. */
  readonly externals: ReadonlyMap<Address, string>;
  /** Returns where the id of an `External` is written. Absent: the manifests were no documents. */
  readonly locateExternal?: (address: Address) => Place | undefined;
  /** Maps the address of an `External` to a resource of another stack. Absent if there is no such `External`. */
  readonly crossStackReferences?: ReadonlyMap<Address, CrossStackReference>;
  /** Real paths of the folders in which manifests may name files. Absent: the repository of the working folder. */
  readonly roots?: readonly string[];
  /** The manifest paths, as the user gave them. Absent: the manifests were not files. */
  readonly paths?: readonly string[];
  /** The files that the manifests were read from. */
  readonly inputs: readonly ManifestFileDigest[];
  /** What is among the manifests and is not read as one. Absent if there is nothing. */
  readonly skipped?: SkippedInput | undefined;
}

/** What is among the manifests and belongs to other tools. */
export interface SkippedInput {
  /** The number of documents whose `apiVersion` and kind are those of another tool. */
  readonly documents: number;
  /** The files that `spec.skip_files` names. */
  readonly files: readonly SkippedFile[];
}

/** A file that `spec.skip_files` names. No document of edgewise was found in it. */
export interface SkippedFile {
  readonly file: string;
  /** The position of the pattern. */
  readonly pattern: Place;
  /** Whether the file may describe a resource nevertheless: its text has the name, or cannot be read. */
  readonly mayDescribe: (name: string) => boolean;
}

/** A reference to a resource of another stack. Edgewise finds the id of the resource by its mark. */
export interface CrossStackReference {
  readonly stack: string;
  readonly resource: Address;
}

/** A manifest file and the SHA-256 of its bytes. */
export interface ManifestFileDigest {
  readonly file: string;
  readonly digest: string;
}

/** A resource as the service returns it. */
export interface LiveResource {
  /** The kind of the list that had it: nothing takes it from the id. */
  readonly kind: string;
  /** Given by the service. Not to be taken for a name: hostile text when shown. */
  readonly id: string;
  /** RFC 3339, by the clock of the service, not by this one. `''` for attached modules, for which the API returns no time. */
  readonly createdAt: string;
  /** In normal form (see `kinds/canonical.ts`), without the mark and the fields that the service does not return. */
  readonly spec: Spec;
  /** Whose the resource is. Not to decide whether there is a difference, or a danger: a mark can be forged. */
  readonly mark: Mark | undefined;
  /** Why the mark in the metadata is invalid, for people only. `undefined` if the mark is valid or there is none. */
  readonly markError: string | undefined;
  /** The modules whose switch the response contained. Not those that are on. Absent if there are none. */
  readonly switches?: readonly string[] | undefined;
  /** Computed fields as the service sent them. Never sent back, and hostile text when shown. Never contains a token. */
  readonly computed: Readonly<Record<string, Json>>;
}

/** The live resources that were read. Always complete: if reading fails, there is no live state. */
export interface LiveState {
  /** By kind. Has no entry for a kind that was not read: not to be taken for a kind without resources. */
  readonly resources: ReadonlyMap<string, readonly LiveResource[]>;
  /** HTTPS edges and routes with their modules, by the address of the manifest that attaches modules to them. */
  readonly attachments: ReadonlyMap<Address, LiveResource>;
  /** Number of requests sent to read the state, including retries. */
  readonly requests: number;
}

/** Sorts the oldest first: by creation time, then by id, so that the order of a list never matters. */
export function compareByAge(left: LiveResource, right: LiveResource): number {
  return compareTexts(left.createdAt, right.createdAt) || compareTexts(left.id, right.id);
}

function compareTexts(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
