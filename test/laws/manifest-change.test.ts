import fc from 'fast-check';
import { describe, it } from 'vitest';
import { getKind } from '../../src/kinds/tables/registry.ts';
import { LONG } from '../tries.ts';
import { arbitraryEdit, EDITABLE_FIELDS } from './arbitrary-edit.ts';
import { expectManifestChange, isSameField } from './field-change.ts';
import { findOwned } from './other-user.ts';
import { holds } from './properties.ts';
import type { TestResource } from './stack.ts';
import { World } from './world.ts';

describe('a field that changes in a manifest', () => {
  it.each(EDITABLE_FIELDS)('is shown as changed by the manifest, alone: $label', LONG, async ({ kind, field }) => {
    const property = fc.asyncProperty(arbitraryEdit(kind, field), async ({ before, after }) => {
      const world = new World();
      await world.migrate(before);
      const [old, subject] = [before.at(-1), after.at(-1)];
      if (old === undefined || subject === undefined) return;
      const isQuiet = subject.lifecycle.ignore.includes(field) || isAsChosen(world, [old, subject], field);
      await expectManifestChange({
        world,
        kind,
        field,
        after,
        isQuiet: isQuiet || isSameField(kind, field, [old, subject]),
      });
    });
    await holds(property, 4);
  });
});

/** Whether the service has chosen the value that the manifest now sets. */
function isAsChosen(world: World, [old, subject]: readonly [TestResource, TestResource], field: string): boolean {
  const kind = getKind(subject.kind);
  const chosen = kind.fields[field]?.serviceDefault ? findOwned(world, kind.name, old.name)?.[field] : undefined;
  return (
    old.spec[field] === undefined &&
    chosen !== undefined &&
    isSameField(kind, field, [{ ...subject, spec: { [field]: chosen } }, subject])
  );
}
