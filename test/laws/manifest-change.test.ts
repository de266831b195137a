import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Kind } from '../../src/kinds/kind.ts';
import { getKind } from '../../src/kinds/tables/registry.ts';
import { isSameJson } from '../../src/model/json.ts';
import { arbitraryResource, arbitraryStack } from './arbitrary-manifests.ts';
import { findOwned } from './behind-the-back.ts';
import { expectOnlyDifference, isSameField } from './field-change.ts';
import { withField } from './mutate-stack.ts';
import { holds, LONG } from './properties.ts';
import { settleStack } from './settle-stack.ts';
import type { TestResource, TestStack } from './stack.ts';
import { SUBJECTS } from './subjects.ts';
import { listTouched, World } from './world.ts';

const FIELDS = SUBJECTS.flatMap((kind) =>
  kind.specFields
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
      const isQuiet = subject.lifecycle.ignore.includes(field) || isAsChosen(world, [old, subject], field);
      if (isQuiet || isSameField(kind, field, [old, subject])) expect(listTouched(plan)).toEqual([]);
      else {
        const isFixed = kind.fields[field]?.lifecycle === 'immutable' && !isKept(kind, field, subject);
        const origin = kind.role === 'owned' ? 'manifest' : 'unknown';
        expectOnlyDifference(plan, subject, { field, origin, action: isFixed ? 'replace' : 'update' });
      }
      await world.apply(plan);
      expect(listTouched(await world.plan(after))).toEqual([]);
    });
    await holds(property, 4);
  });
});

/** Whether a field that was stated keeps its value though it is not stated any more, or is said in another way. */
function isKept(kind: Kind, field: string, { spec, lifecycle }: TestResource): boolean {
  const isTime = Object.values(kind.validity ?? {}).includes(field);
  const isCovered = isTime && lifecycle.settings?.['valid_for'] !== undefined;
  return spec[field] === undefined && (isCovered || kind.fields[field]?.keepsLiveValue === true);
}

/** Whether the service chose by itself what the manifest states now. */
function isAsChosen(world: World, [old, subject]: readonly [TestResource, TestResource], field: string): boolean {
  const kind = getKind(subject.kind);
  const chosen = kind.fields[field]?.serviceDefault ? findOwned(world, kind.name, old.name)?.[field] : undefined;
  return (
    old.spec[field] === undefined &&
    chosen !== undefined &&
    isSameField(kind, field, [{ ...subject, spec: { [field]: chosen } }, subject])
  );
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
      if (old?.kind !== kind.name || edited?.kind !== kind.name || edited.name !== old.name) return false;
      // What no longer fits beside the field is left out of the edited one.
      return isSameJson(withField(old.spec, field, {}), withField(edited.spec, field, {}));
    });
}
