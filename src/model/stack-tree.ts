import type { Address } from './address.ts';
import type { Diagnostic } from './diagnostic.ts';
import type { CrossStackReference } from './state.ts';

/**
 * A folder that contains a `Stack` document. Its manifests are the files in and below the folder, except those of
 * stacks in subfolders.
 */
export interface StackFolder {
  /** `''` if the document has no name; its validation reports that. */
  readonly name: string;
  /** Relative to the working folder or absolute, like the root that the user gave. */
  readonly folder: string;
  /** The file that contains the `Stack`. */
  readonly file: string;
  /** The base URL of its service. `undefined` if neither the manifests nor the environment set it. */
  readonly baseUrl: string | undefined;
  /** The variable of its API key. Absent if the document names none. */
  readonly keyEnv?: string;
  /** `spec.inputs`: patterns of further files that affect its manifests, relative to the folder. */
  readonly inputs: readonly string[];
  /** `spec.policies`: files and folders with policies, relative to the folder. */
  readonly policies: readonly string[];
  /** Whether it has a `spec.render`: a command prints its manifests, and may read any file below the folder. */
  readonly isRendered: boolean;
  /** Names of the stacks whose resources it refers to. */
  readonly needs: readonly string[];
  /** Resources that it takes over from other stacks: `lifecycle.renamed_from` with a stack. */
  readonly takes: readonly TakenResource[];
  /** Its manifests that cannot be read, which may take over more resources. Absent: none. */
  readonly unread?: readonly UnreadManifest[];
}

/** A resource that a stack takes over from another one. */
export interface TakenResource extends CrossStackReference {
  /** Its address in the stack that takes it over. */
  readonly as: Address;
}

/** A manifest, or all manifests of a stack, that cannot be read. */
export interface UnreadManifest {
  /** The reason, such as `live/b/pool.yaml has a mistake: kind is required`. */
  readonly why: string;
  /** The words in the file. Absent: unknown, so it may contain any word. */
  readonly words?: ReadonlySet<string>;
}

/** A manifest file that belongs to no stack, with the resources that it takes over. */
export type StrayFile = Pick<StackFolder, 'file' | 'takes'>;

/** Another stack that takes over a resource, or may do so. */
export interface TakeOverStack {
  /** `''` if unknown. */
  readonly stack: string;
  /** The address in that stack. Absent if unknown. */
  readonly as?: Address;
  /** The folder of its manifests. Absent if unknown. */
  readonly folder?: string;
  /**
   * Why it is uncertain whether the stack takes over the resource, such as `the variable of its API key is not set`.
   * Absent: it is certain.
   */
  readonly doubt?: string;
}

/** Finds the stack that takes over an address of this stack. */
export type FindTaker = (address: Address) => TakeOverStack | undefined;

/** The stacks below a folder. */
export interface StackTree {
  readonly root: string;
  /** Sorted by folder. */
  readonly stacks: readonly StackFolder[];
  /** Manifest files without a `Stack` in their folder or above it. */
  readonly unowned: readonly string[];
  /** The files among `unowned` that take over resources from a stack. */
  readonly strays: readonly StrayFile[];
  readonly diagnostics: readonly Diagnostic[];
}

/** A changed stack, and why it counts as changed. */
export interface StackChange {
  readonly stack: StackFolder;
  /** The changed files: manifests, files that fields name, and files that `spec.inputs` names. */
  readonly files: readonly string[];
  /** Names of changed stacks that it depends on. */
  readonly through: readonly string[];
}

/** The stacks that changed since a commit. */
export interface TreeChanges {
  /** The commit, as the user gave it. */
  readonly since: string;
  readonly changed: readonly StackChange[];
  /** Changed files below the root that belong to no stack. */
  readonly unowned: readonly string[];
}

/** One of `total` parts of the stacks, for running on several machines. */
export interface Shard {
  /** From 1. */
  readonly index: number;
  readonly total: number;
  /** The source of the shard in messages: `--shard`, or the name of a variable. */
  readonly from: string;
}

export const SHARD_EXPECTED = 'INDEX/TOTAL with an index from 1, such as 2/5';

/** Parses a text such as `2/5`. `undefined` if it is not a valid shard. */
export function parseShard(text: string, from: string): Shard | undefined {
  const [, index, total] = /^(\d{1,4})\/(\d{1,4})$/.exec(text) ?? [];
  return createShard(Number(index), Number(total), from);
}

/** Returns `undefined` if the index is not in 1 to `total`. */
export function createShard(index: number, total: number, from: string): Shard | undefined {
  return index >= 1 && index <= total ? { index, total, from } : undefined;
}

/** The stacks of a tree that a listing shows: all of them, or those that the run selects. */
export interface StackListing {
  readonly root: string;
  /** Number of stacks below the root. */
  readonly total: number;
  readonly stacks: readonly StackFolder[];
  readonly changes?: TreeChanges;
  readonly shard?: Shard;
  /** Manifest files that belong to no stack. */
  readonly unowned: readonly string[];
  /** When plan files are applied: names of the stacks without a plan file. */
  readonly unplanned?: readonly string[];
}

export const PLAN_INDEX_FORMAT = 1;

/** A file in a folder of plan files that lists the files that a run wrote there. */
export interface PlanIndex {
  /** Named `type` instead of `kind`, because the file is not a manifest. */
  readonly type: 'PlanIndex';
  readonly format: typeof PLAN_INDEX_FORMAT;
  readonly tool: { readonly name: 'edgewise'; readonly version: string };
  /** The shard that the run planned. Absent: all stacks that the run selected. */
  readonly shard?: Omit<Shard, 'from'>;
  /** The paths below which the run searched for stacks, as the user gave them. Absent if unknown. */
  readonly manifests?: readonly string[];
  /** Names of all stacks of the run, including those without a plan that can be applied. */
  readonly stacks: readonly string[];
  readonly plans: readonly IndexedPlan[];
}

/** A plan file in the folder of an index. */
export interface IndexedPlan {
  /** File name, without the folder. */
  readonly file: string;
  readonly stack: string;
  readonly baseUrl: string;
  /** SHA-256 of its bytes, in hexadecimal. */
  readonly sha256: string;
}

/**
 * The file name of an index. Starts with `_`, so no stack name can equal it. Includes the shard, because several shards
 * may write to one folder.
 */
export function formatIndexName(shard: Omit<Shard, 'from'> | undefined): string {
  return shard === undefined ? '_index.json' : `_index-${shard.index}-of-${shard.total}.json`;
}

export function isIndexName(name: string): boolean {
  return /^_index(?:-\d+-of-\d+)?\.json$/.test(name);
}

/**
 * Returns a function that finds the nearest of the given folders that is or contains a folder; `undefined` if none
 * does.
 */
export function createOwnerSearch(folders: Iterable<string>): (folder: string) => string | undefined {
  const byPath = new Map(Array.from(folders, (one) => [trim(one), one]));
  return (folder) => {
    for (let at = trim(folder); ; at = at.slice(0, at.lastIndexOf('/'))) {
      const owner = byPath.get(at);
      if (owner !== undefined) return owner;
      if (!at.includes('/')) return byPath.get('.');
    }
  };
}

function trim(folder: string): string {
  return folder.replace(/\/+$/, '');
}
