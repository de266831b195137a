import type { Address } from './address.ts';
import type { Diagnostic } from './diagnostic.ts';
import type { CrossStackReference } from './state.ts';

/** A folder with a `Stack` document of its own: its manifests are the files below it, down to the next such folder. */
export interface StackFolder {
  /** `''`: the document has no name, which its validation tells. */
  readonly name: string;
  /** Relative to the working folder or absolute, as the root was given. */
  readonly folder: string;
  /** The file that holds the `Stack`. */
  readonly file: string;
  /** Where its service is, as far as the manifests or the environment say it. */
  readonly baseUrl: string | undefined;
  /** The variable that holds its API key, where its document names one. */
  readonly keyEnv?: string;
  /** `spec.inputs`: further files that the manifests are made of, as patterns relative to the folder. */
  readonly inputs: readonly string[];
  /** `spec.policies`: files and folders with policies, relative to the folder. */
  readonly policies: readonly string[];
  /** It has a `spec.render`: a command prints its manifests, of whatever is below the folder. */
  readonly isRendered: boolean;
  /** Names of the stacks whose resources it refers to. */
  readonly needs: readonly string[];
  /** What it takes over from other stacks: `lifecycle.renamed_from` with a stack. */
  readonly takes: readonly TakenResource[];
  /** The parts of it that cannot be read: each may take over more. Absent: none. */
  readonly unread?: readonly UnreadManifest[];
}

/** What a stack takes over from another one. */
export interface TakenResource extends CrossStackReference {
  /** Its address here. */
  readonly as: Address;
}

/** What cannot be read of manifests. */
export interface UnreadManifest {
  /** The reason, such as `live/b/pool.yaml has a mistake: kind is required`. */
  readonly why: string;
  /** The words in the file; absent: it may contain any word. */
  readonly words?: ReadonlySet<string>;
}

/** Manifest files that belong to no stack, as far as they take over something. */
export type StrayFile = Pick<StackFolder, 'file' | 'takes'>;

/** Another stack that takes over a resource, or may do so. */
export interface TakeOverStack {
  /** `''`: it is not known. */
  readonly stack: string;
  /** The address there; absent: it is not known. */
  readonly as?: Address;
  /** The folder of its manifests; absent: it is not known. */
  readonly folder?: string;
  /** Why it is not known whether it does, such as `the variable of its API key is not set`. */
  readonly doubt?: string;
}

/** Finds the stack that takes over an address of this one. */
export type FindTaker = (address: Address) => TakeOverStack | undefined;

/** The stacks below a folder. */
export interface StackTree {
  readonly root: string;
  /** By folder. */
  readonly stacks: readonly StackFolder[];
  /** Manifest files without a `Stack` in their folder or above it. */
  readonly unowned: readonly string[];
  /** Those among them that take over something from a stack. */
  readonly strays: readonly StrayFile[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Why a stack counts as changed. */
export interface StackChange {
  readonly stack: StackFolder;
  /** What differs: its files, what its fields name, what its inputs name. */
  readonly files: readonly string[];
  /** Changed stacks that it depends on. */
  readonly through: readonly string[];
}

/** What differs from a commit, stack by stack. */
export interface TreeChanges {
  /** The commit, as it was given. */
  readonly since: string;
  readonly changed: readonly StackChange[];
  /** Changed files below the root that no stack owns. */
  readonly unowned: readonly string[];
}

/** A part of the stacks, for one of several machines. */
export interface Shard {
  /** From 1. */
  readonly index: number;
  readonly total: number;
  /** What says so: `--shard`, or a variable. */
  readonly from: string;
}

/** The form of `--shard`. */
export const SHARD_EXPECTED = 'INDEX/TOTAL with an index from 1, such as 2/5';

/** The shard in a text such as `2/5`; `undefined`: it is of another form. */
export function parseShard(text: string, from: string): Shard | undefined {
  const [, index, total] = /^(\d{1,4})\/(\d{1,4})$/.exec(text) ?? [];
  return createShard(Number(index), Number(total), from);
}

/** `undefined` if the number is not one of the total. */
export function createShard(index: number, total: number, from: string): Shard | undefined {
  return index >= 1 && index <= total ? { index, total, from } : undefined;
}

/** The shown part of a tree: all of its stacks, or those that a run selects. */
export interface StackListing {
  readonly root: string;
  /** Stacks below the root. */
  readonly total: number;
  readonly stacks: readonly StackFolder[];
  readonly changes?: TreeChanges;
  readonly shard?: Shard;
  /** Manifest files that belong to no stack. */
  readonly unowned: readonly string[];
  /** Where plans are applied: names of the stacks that none of them is of. */
  readonly unplanned?: readonly string[];
}

/** Version of the format of an index. */
export const PLAN_INDEX_FORMAT = 1;

/** What says which files a run wrote into a folder of plans. It is a file of that folder. */
export interface PlanIndex {
  /** Not `kind`: the file is not a manifest. */
  readonly type: 'PlanIndex';
  readonly format: typeof PLAN_INDEX_FORMAT;
  readonly tool: { readonly name: 'edgewise'; readonly version: string };
  /** The part of the stacks that the run planned; absent: all that it was narrowed to. */
  readonly shard?: Omit<Shard, 'from'>;
  /** The folder below which the stacks are, as it was given. Absent: it is not known. */
  readonly manifests?: readonly string[];
  /** Names of the stacks of the run, also of those that have no plan that could be applied. */
  readonly stacks: readonly string[];
  readonly plans: readonly IndexedPlan[];
}

/** A plan file of a folder. */
export interface IndexedPlan {
  /** Its name in the folder. */
  readonly file: string;
  readonly stack: string;
  readonly baseUrl: string;
  /** Digest of its bytes, in hexadecimal. */
  readonly sha256: string;
}

/** The name of an index in its folder. No stack has a name that starts like it. Each shard has its own: several may write into one folder. */
export function formatIndexName(shard: Omit<Shard, 'from'> | undefined): string {
  return shard === undefined ? '_index.json' : `_index-${shard.index}-of-${shard.total}.json`;
}

/** Whether a file of a folder of plans is an index, by its name. */
export function isIndexName(name: string): boolean {
  return /^_index(?:-\d+-of-\d+)?\.json$/.test(name);
}

/** Says which of some folders is the nearest that a folder is or is in; `undefined`: none. */
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
