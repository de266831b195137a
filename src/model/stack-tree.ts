import type { Address } from './address.ts';
import type { Diagnostic } from './diagnostic.ts';
import type { CrossStackReference } from './state.ts';

/** A stack, found by the folder of its `Stack` document. Subfolders with such a document are other stacks. */
export interface StackFolder {
  /** The name of the stack. `''` if the document has none; then the validation of the stack reports an error. */
  readonly name: string;
  /** Relative to the working folder. Absolute if the user gave the root folder as an absolute path. */
  readonly folder: string;
  /** The file that contains the `Stack`. */
  readonly file: string;
  /** The base URL of the service. `undefined` if neither the manifests nor the environment set it. */
  readonly baseUrl?: string | undefined;
  /** Identifies the service: equal for stacks of one service, however its URL is written. Absent without a base URL. */
  readonly serviceId?: string | undefined;
  /** The environment variable of the API key. Absent if the document names none. */
  readonly keyEnv?: string | undefined;
  /** `spec.inputs`: patterns, relative to the folder, of further files that affect the manifests. */
  readonly inputs: readonly string[];
  /** `spec.policies`: files and folders with policies, relative to the folder. */
  readonly policies: readonly string[];
  /** Names of the stacks to whose resources this stack refers. */
  readonly dependsOn: readonly string[];
  /** Resources that this stack takes over from other stacks, with `lifecycle.renamed_from`. */
  readonly takes: readonly TakenOverResource[];
  /** Former names of the stack: it takes over what it describes and what has the mark of one of them. */
  readonly formerNames: readonly string[];
  /** The addresses that the documents of this stack describe, as far as they can be read. */
  readonly describes: ReadonlySet<string>;
  /** The addresses whose documents adopt a resource, by its id. */
  readonly adopts: ReadonlyMap<string, Address>;
}

/** Whether two stacks may own the same resources: they have one name, and may share a service. Symmetrical. */
export function mayBeSameStack(
  one: Pick<StackFolder, 'name' | 'serviceId'>,
  other: Pick<StackFolder, 'name' | 'serviceId'>,
): boolean {
  return one.name === other.name && mayShareService(one, other);
}

/** Whether two stacks may be at one service. A stack without one is at any. Symmetrical. */
export function mayShareService(one: Pick<StackFolder, 'serviceId'>, other: Pick<StackFolder, 'serviceId'>): boolean {
  return one.serviceId === undefined || other.serviceId === undefined || one.serviceId === other.serviceId;
}

export interface TakenOverResource extends CrossStackReference {
  /** The address of the resource in the stack that takes it over. */
  readonly as: Address;
}

/** A manifest file that belongs to no stack, and the resources that it takes over. */
export type FileWithoutStack = Pick<StackFolder, 'file' | 'takes'>;

/** Another stack that takes over a resource. */
export interface TakingOverStack {
  /** The name of the other stack. `''`: the manifest belongs to no stack. */
  readonly stack: string;
  /** The address of the resource in the other stack. */
  readonly as: Address;
  /** The folder of the other stack, or the file of the manifest that belongs to no stack. */
  readonly folder: string;
  /** Whether only the mark of the resource says so: the other stack may take it back if its manifest says what is live. */
  readonly isByMark?: true;
}

/**
 * Finds the stack that takes over the resource with this address, or takes back what it was: `former`. `undefined` if no
 * stack does.
 */
export type FindTakingOverStack = (
  address: Address,
  former?: CrossStackReference | undefined,
) => TakingOverStack | undefined;

/** Another stack of the repository that has, or takes, a resource which a document of this stack describes too. */
export interface ClaimingStack {
  readonly stack: string;
  readonly folder: string;
  /** `owner`: the mark names it. `line`: `lifecycle.renamed_from` names the resource. `name`: it had the same former name. */
  readonly by: 'owner' | 'line' | 'name';
}

/** What a plan that takes resources over has to know of the other stacks of its repository. */
export interface OtherStacks {
  /** Whether the repository has a stack of this name at the service. */
  readonly has: (stack: string) => boolean;
  /** Lists the stacks that describe or take over a resource of the stack `owner`. */
  readonly listClaiming: (owner: string, address: Address) => readonly ClaimingStack[];
  /** Finds the document of another stack that adopts the resource with this id. */
  readonly findAdopting: (id: string) => { readonly stack: string; readonly address: Address } | undefined;
}

/** Without a repository, no other stack is known. */
export const NO_OTHER_STACKS: OtherStacks = {
  has: () => false,
  listClaiming: () => [],
  findAdopting: () => undefined,
};

/** The stacks in and below the folder `root`. */
export interface StackTree {
  readonly root: string;
  /** Sorted by folder. */
  readonly stacks: readonly StackFolder[];
  /** Manifest files without a `Stack` in their folder or above it. */
  readonly filesWithoutStack: readonly string[];
  /** The files among `filesWithoutStack` that take over resources from a stack. */
  readonly strays: readonly FileWithoutStack[];
  /** Files that seem to contain a `Stack` whose name cannot be read. */
  readonly unread: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

/** A changed stack, and why it counts as changed. */
export interface ChangedStack {
  readonly stack: StackFolder;
  /** The changed files: manifests, files named in fields, and files that `spec.inputs` selects. */
  readonly files: readonly string[];
  /** Names of the changed stacks that this stack depends on. */
  readonly through: readonly string[];
}

/** What a report says of the stacks that were removed since a commit. */
export interface Removals {
  /** The commit, as the user gave it. */
  readonly since: string;
  /** The files of the commit that are gone and probably had a `Stack`. */
  readonly removed: readonly string[];
  /** The names of stacks that the commit has in these files or in changed ones, and that no `Stack` has any more. */
  readonly renamed: readonly { readonly file: string; readonly name: string }[];
}

/** The stacks that changed since a commit. */
export interface TreeChanges extends Removals {
  readonly changed: readonly ChangedStack[];
  /** Changed files below the root that belong to no stack. */
  readonly filesWithoutStack: readonly string[];
}

/** The stacks to show in a list: all stacks below the root, or those that the run selects. */
export interface StackListing {
  readonly root: string;
  /** Number of stacks below the root. */
  readonly total: number;
  readonly stacks: readonly StackFolder[];
  readonly changes?: TreeChanges | undefined;
  /** Manifest files that belong to no stack. */
  readonly filesWithoutStack: readonly string[];
  /** Errors and warnings on the whole tree. */
  readonly diagnostics?: readonly Diagnostic[] | undefined;
}

/** Whether `stack` refers to resources of `other`. Both must be at the same service. */
export function refersToStack(stack: StackFolder, other: StackFolder): boolean {
  return stack !== other && stack.dependsOn.includes(other.name) && stack.serviceId === other.serviceId;
}

/** Returns a function that finds the nearest of `folders` at or above a given folder. `undefined` if there is none. */
export function createNearestFolderSearch(folders: Iterable<string>): (folder: string) => string | undefined {
  const byPath = new Map(Array.from(folders, (one) => [trim(one), one]));
  return (folder) => {
    for (let at = trim(folder); ; at = at.slice(0, at.lastIndexOf('/'))) {
      const nearest = byPath.get(at);
      if (nearest !== undefined) return nearest;
      if (!at.includes('/')) return byPath.get('.');
    }
  };
}

function trim(folder: string): string {
  return folder.replace(/\/+$/, '');
}
