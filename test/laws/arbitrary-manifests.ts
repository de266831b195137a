import fc from 'fast-check';
import type { Field } from '../../src/kinds/field.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import { MANIFEST_KINDS } from '../../src/kinds/tables/registry.ts';
import { arbitrarySettings, arbitrarySpec, mayUseOwned } from './arbitrary-values.ts';
import type { Mutation } from './mutate-stack.ts';
import { mutateStack } from './mutate-stack.ts';
import { NAMES } from './names.ts';
import { settleStack } from './settle-stack.ts';
import type { TestResource, TestStack } from './stack.ts';

/** Random valid stacks of every kind of manifest, and small changes of them. */

/** Options for random stacks. */
export interface StackOptions {
  /** Default: every kind of manifests. */
  readonly kinds?: readonly Kind[];
  readonly minResources?: number;
  readonly maxResources?: number;
}

/** Any valid stack. */
export function arbitraryStack({
  kinds = MANIFEST_KINDS,
  minResources = 0,
  maxResources = 8,
}: StackOptions = {}): fc.Arbitrary<TestStack> {
  return fc.array(arbitraryResource(kinds), { minLength: minResources, maxLength: maxResources }).map(settleStack);
}

/** A stack, and its states after small changes, one after another. */
export function arbitraryHistory(steps: number, options: StackOptions = {}): fc.Arbitrary<readonly TestStack[]> {
  const { kinds = MANIFEST_KINDS } = options;
  const changes = fc.array(fc.array(arbitraryMutation(kinds), { minLength: 1, maxLength: 4 }), {
    minLength: steps,
    maxLength: steps,
  });
  return fc.tuple(arbitraryStack(options), changes).map(([first, rounds]) => {
    const stacks = [first];
    for (const mutations of rounds) stacks.push(mutations.reduce(mutateStack, stacks.at(-1) ?? []));
    return stacks;
  });
}

/** A resource of these kinds. `settleStack` makes its references valid. */
export function arbitraryResource(kinds: readonly Kind[] = MANIFEST_KINDS): fc.Arbitrary<TestResource> {
  return fc.oneof(
    ...kinds.map((kind) =>
      fc.record({
        kind: fc.constant(kind.name),
        name: fc.constantFrom(...NAMES),
        spec: arbitrarySpec(kind),
        lifecycle: arbitraryLifecycle(kind),
      }),
    ),
  );
}

/**
 * A random lifecycle, seldom protected. It ignores no unique value, because a kept value would block the other resources, and no reference,
 * because a kept reference would block a delete. It also ignores no value that the service chooses, because that may be invalid beside a later
 * manifest.
 */
function arbitraryLifecycle(kind: Kind): fc.Arbitrary<TestResource['lifecycle']> {
  const isIgnorable = ({ type, unique, serviceDefault, hasPath }: Field) =>
    !unique && !serviceDefault && !mayUseOwned(type) && (kind.role === 'owned' || hasPath);
  const fields = kind.specFields.filter(([, field]) => isIgnorable(field));
  return fc.record({
    protect: kind.role === 'owned' ? fc.integer({ min: 0, max: 7 }).map((number) => number === 0) : fc.constant(false),
    ignore: fc.oneof(
      { weight: 4, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.uniqueArray(fc.constantFrom(...fields.map(([name]) => name)), { maxLength: 2 }) },
    ),
    settings: arbitrarySettings(kind),
  });
}

function arbitraryMutation(kinds: readonly Kind[]): fc.Arbitrary<Mutation> {
  const at = fc.nat(11);
  const donor = arbitraryResource(kinds);
  return fc.oneof(
    fc.record({ act: fc.constant('add' as const), donor }),
    fc.record({ act: fc.constant('remove' as const), at }),
    fc.record({ act: fc.constant('rename' as const), at, name: fc.constantFrom(...NAMES) }),
    fc.record({ act: fc.constant('set' as const), at, field: fc.nat(11), donor }),
    fc.record({ act: fc.constant('set' as const), at, field: fc.nat(11), donor }),
    fc.record({ act: fc.constant('lifecycle' as const), at, donor }),
    fc.record({ act: fc.constant('swap' as const), at, count: fc.integer({ min: 2, max: 10 }) }),
  );
}
