import fc from 'fast-check';
import type { Kind } from '../../src/kinds/kind.ts';
import { arbitraryResource, arbitraryStack } from './arbitrary-manifests.ts';
import { withField } from './mutate-stack.ts';
import { settleStack } from './settle-stack.ts';
import type { TestResource, TestStack } from './stack.ts';

/** A stack, and its first resource with one field of another resource. */
export function arbitraryDrift(
  kind: Kind,
  field: string,
): fc.Arbitrary<{ readonly stack: TestStack; readonly drifted: TestResource | undefined }> {
  const subject = arbitraryResource([kind]);
  return fc
    .tuple(subject, arbitraryStack({ maxResources: 3 }), arbitraryResource([kind]))
    .map(([first, others, donor]) => {
      const stack = settleStack([first, ...others]);
      const [settled, ...rest] = stack;
      if (settled === undefined) return { stack, drifted: undefined };
      const drifted = { ...settled, spec: withField(settled.spec, field, donor.spec) };
      const found = settleStack([...rest, drifted]).find(
        (resource) => resource.kind === settled.kind && resource.name === settled.name,
      );
      return { stack, drifted: found };
    });
}
