import type { Diagnostic } from './diagnostic.ts';
import type { ForeignResource } from './state.ts';

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
  /** `spec.inputs`: what it is made of besides, as patterns relative to the folder. */
  readonly inputs: readonly string[];
  /** `spec.policies`: files and folders with policies, relative to the folder. */
  readonly policies: readonly string[];
  /** It has a `spec.render`: a command prints its manifests, of whatever is below the folder. */
  readonly isRendered: boolean;
  /** Names of the stacks whose resources it refers to. */
  readonly needs: readonly string[];
  /** What it takes over from other stacks: `lifecycle.renamed_from` with a stack. */
  readonly takes: readonly ForeignResource[];
}

/** The stacks below a folder. */
export interface StackTree {
  readonly root: string;
  /** By folder. */
  readonly stacks: readonly StackFolder[];
  /** Manifest files without a `Stack` in their folder or above it. */
  readonly unowned: readonly string[];
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

/** What is shown of a tree: all of its stacks, or those that a run is narrowed to. */
export interface StackListing {
  readonly root: string;
  /** Stacks below the root. */
  readonly total: number;
  readonly stacks: readonly StackFolder[];
  readonly changes?: TreeChanges;
  readonly shard?: Shard;
  /** Manifest files that belong to no stack. */
  readonly unowned: readonly string[];
}
