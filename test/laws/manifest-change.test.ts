import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Kind, listSpecFields } from '../../src/kinds/kind.ts';
import { MANIFEST_KINDS } from '../../src/kinds/tables/registry.ts';
import { arbitraryResource, arbitraryStack } from './arbitrary-manifests.ts';
import { expectOnlyDifference, isSameField } from './field-change.ts';
import { withField } from './mutate-stack.ts';
import { holds, LONG } from './properties.ts';
import { settleStack } from './settle-stack.ts';
import type { TestStack } from './stack.ts';
import { listTouched, World } from './world.ts';

const FIELDS = MANIFEST_KINDS.flatMap((kind) =>
  listSpecFields(kind)
    .filter(([, field]) => kind.role === 'owned' || field.lifecycle === 'mutable')
    .map(([field]) => ({ kind, label: `${kind.name} ${field}`, field })),
);

describe('a field that changes in a manifest', () => {
  it.each(FIELDS)('is shown as such, and nothing else is: $label', LONG, async ({ kind, field }) => {
    const property = fc.asyncProperty(arbitraryEdit(kind, field), async ({ before, after }) => {
      const world = new World();
      await world.migrate(before);
      const plan = await world.plan(after);
      const [old, subject] = [before.at(-1), after.at(-1)];
      if (old === undefined || subject === undefined) return;
      const isQuiet = subject.lifecycle.ignore.includes(field) || isChosenByService(kind, field, subject.spec);
      if (isQuiet || isSameField(kind, field, [old, subject])) expect(listTouched(plan)).toEqual([]);
      else {
        const isFixed = kind.fields[field]?.lifecycle === 'immutable';
        const origin = kind.role === 'owned' ? 'manifest' : 'unknown';
        expectOnlyDifference(plan, subject, { field, origin, action: isFixed ? 'replace' : 'update' });
      }
      await world.apply(plan);
      expect(listTouched(await world.plan(after))).toEqual([]);
    });
    await holds(property, 4);
  });
});

function isChosenByService(kind: Kind, field: string, spec: TestStack[number]['spec']): boolean {
  return kind.fields[field]?.serviceDefault === true && spec[field] === undefined;
}

/** A stack, and the same one with a field of its last resource as another has it. */
function arbitraryEdit(
  kind: Kind,
  field: string,
): fc.Arbitrary<{ readonly before: TestStack; readonly after: TestStack }> {
  const parts = fc.tuple(arbitraryStack({ maxResources: 3 }), arbitraryResource([kind]), arbitraryResource([kind]));
  return parts
    .map(([others, subject, donor]) => {
      const before = settleStack([...others, subject]);
      const last = before.at(-1);
      const edited = last && { ...last, spec: withField(last.spec, field, donor.spec) };
      return { before, after: settleStack([...before.slice(0, -1), ...(edited === undefined ? [] : [edited])]) };
    })
    .filter(({ before, after }) => {
      const [old, edited] = [before.at(-1), after.at(-1)];
      return old?.kind === kind.name && edited?.kind === kind.name && edited.name === old.name;
    });
}
