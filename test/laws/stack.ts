import type { Spec } from '../../src/model/state.ts';

/** One document of a random stack. */
export interface TestResource {
  readonly kind: string;
  readonly name: string;
  /** The spec in a manifest, with references by name. */
  readonly spec: Spec;
  readonly lifecycle: {
    readonly protect: boolean;
    readonly ignore: readonly string[];
    readonly adopt?: string;
    readonly renamedFrom?: string;
    /** The resource of another stack that is handed over to this one. */
    readonly takenFrom?: { readonly stack: string; readonly name: string };
    /** Settings of the kind in `lifecycle`. */
    readonly settings?: Spec;
  };
}

/** The resources of a random stack, in the order of their documents. */
export type TestStack = readonly TestResource[];

/** The name of every random stack. */
export const STACK_NAME = 'stack.under_test';

/** The names of stacks that are parts of one repository. */
export const REPOSITORY_STACKS = ['network', 'apps', 'web'] as const;

/** Every name of a stack, except those of other users. */
export const OUR_STACKS: ReadonlySet<string> = new Set([STACK_NAME, ...REPOSITORY_STACKS]);
