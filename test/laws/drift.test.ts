import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { getKind } from '../../src/kinds/tables/registry.ts';
import type { Plan } from '../../src/model/plan.ts';
import { LONG } from '../tries.ts';
import { arbitraryDrift } from './arbitrary-drift.ts';
import { expectOnlyDifference, isOtherSpelling, isSameField } from './field-change.ts';
import { changeField, listChangeable } from './other-user.ts';
import { holds } from './properties.ts';
import type { TestStack } from './stack.ts';
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

  it.each(FIELDS.filter(({ kind }) => kind.role === 'owned'))(
    'is kept on request, and stays drift: $label',
    LONG,
    async ({ kind, field }) => {
      const property = fc.asyncProperty(arbitraryDrift(kind, field), async ({ stack, drifted }) => {
        const world = new World();
        await world.migrate(stack);
        if (stack[0] === undefined || drifted === undefined) return;
        await changeField(world, { resource: drifted, stack }, field);
        const before = world.resources();
        const usual = await world.plan(stack);
        expect(listTouched(await world.migrate(stack, { keepDrift: true }))).toEqual([]);
        expect(world.resources()).toEqual(before);
        await world.migrate(withDescriptions(stack, 'changed in git'), { keepDrift: true });
        const after = await world.plan(withDescriptions(stack, 'changed in git'));
        expect(listDriftOf(after, field)).toEqual(listDriftOf(usual, field));
      });
      await holds(property, 5);
    },
  );
});

/** The same stack with other descriptions. */
function withDescriptions(stack: TestStack, description: string): TestStack {
  return stack.map((resource) =>
    'description' in getKind(resource.kind).fields && !resource.lifecycle.ignore.includes('description')
      ? { ...resource, spec: { ...resource.spec, description } }
      : resource,
  );
}

/** Differences of a field that has only drifted. This test changes the description. */
function listDriftOf(plan: Plan, field: string) {
  if (field === 'description') return [];
  return plan.changes.flatMap(({ differences }) =>
    differences.filter(({ origin, path }) => origin === 'drift' && path.split(/[.[]/, 1)[0] === field),
  );
}
