import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LONG } from '../tries.ts';
import { arbitraryDrift } from './arbitrary-drift.ts';
import { expectOnlyDifference, isOtherSpelling, isSameField } from './field-change.ts';
import { changeField, listChangeable } from './other-user.ts';
import { holds } from './properties.ts';
import { SUBJECTS } from './subjects.ts';
import { listTouched, World } from './world.ts';

const FIELDS = SUBJECTS.flatMap((kind) =>
  listChangeable(kind).map((field) => ({ kind, label: `${kind.name} ${field}`, field })),
);

describe('a field that another user changes', () => {
  it.each(FIELDS)('is shown as drift and reverted: $label', LONG, async ({ kind, field }) => {
    const property = fc.asyncProperty(arbitraryDrift(kind, field), async ({ stack, drifted }) => {
      const world = new World();
      await world.migrate(stack);
      const subject = stack[0];
      if (subject === undefined || drifted === undefined) return;
      await changeField(world, { resource: drifted, stack }, field);
      const plan = await world.plan(stack);
      const isIgnored = subject.lifecycle.ignore.includes(field);
      const origin = kind.role === 'owned' ? 'drift' : 'unknown';
      const isQuiet =
        isSameField(kind, field, [drifted, subject]) ||
        isOtherSpelling(kind, field, [drifted.spec[field] ?? '', subject]);
      if (isIgnored || isQuiet) expect(listTouched(plan)).toEqual([]);
      else expectOnlyDifference(plan, subject, { field, origin });
      await world.migrate(stack);
      expect(listTouched(await world.plan(stack))).toEqual([]);
    });
    await holds(property, 5);
  });
});
