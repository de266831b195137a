import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSamePlan, type Plan, type PlanComparison } from '../../src/model/plan.ts';
import { LONG } from '../tries.ts';
import { arbitraryHistory } from './arbitrary-manifests.ts';
import { createDyingTransport } from './dying-transport.ts';
import { holds } from './properties.ts';
import type { TestStack } from './stack.ts';
import { listTouched, World } from './world.ts';

/** An approved plan is applied exactly, or refused with every difference. */

describe('an approved plan', () => {
  it('approves itself while nothing changes', LONG, async () => {
    const property = fc.asyncProperty(arbitraryHistory(1), async (history) => {
      const { world, second, plan } = await createApprovedPlan(history);
      const comparison = await world.compare(plan, second);
      expect(describeComparison(comparison)).toEqual([]);
      expect(comparison.done).toEqual([]);
    });
    await holds(property, 30);
  });

  it('is done after it was applied: nothing is left, and each of its changes is listed', LONG, async () => {
    const property = fc.asyncProperty(arbitraryHistory(1), async (history) => {
      const { world, second, plan } = await createApprovedPlan(history);
      await world.apply(plan);
      const comparison = await world.compare(plan, second);
      expect(describeComparison(comparison)).toEqual([]);
      expect(listTouched(comparison.after)).toEqual([]);
      const changed = plan.changes.filter(({ action }) => action !== 'no-op');
      expect(comparison.done.length).toBe(changed.length);
    });
    await holds(property, 30);
  });

  it('approves its remaining changes after an interrupted apply, until everything is done', LONG, async () => {
    const property = fc.asyncProperty(
      arbitraryHistory(1),
      fc.nat(20),
      fc.constantFrom('before', 'after'),
      async (history, request, when) => {
        const { world, second, plan } = await createApprovedPlan(history);
        await world.applyOver(plan, createDyingTransport({ request, when }));
        const comparison = await world.compare(plan, second);
        expect(describeComparison(comparison)).toEqual([]);
        await world.apply(comparison.after);
        expect(listTouched(await world.plan(second))).toEqual([]);
        const end = await world.compare(plan, second);
        expect(describeComparison(end)).toEqual([]);
      },
    );
    await holds(property, 60);
  });
});

interface Prepared {
  readonly world: World;
  readonly second: TestStack;
  readonly plan: Plan;
}

async function createApprovedPlan([first = [], second = []]: readonly TestStack[]): Promise<Prepared> {
  const world = new World();
  await world.migrate(first);
  return { world, second, plan: JSON.parse(JSON.stringify(await world.plan(second))) };
}

/** One line for each difference. */
function describeComparison(comparison: PlanComparison): readonly string[] {
  const { members, more, less } = comparison;
  const lines = [
    ...members.map((one) => JSON.stringify(one)),
    ...[more, less].flatMap((changes, at) =>
      changes.map(
        ({ change, other, fields, dangers, isWhole, changed }) =>
          `${at === 0 ? 'more' : 'less'} ${change.action} ${change.address} (${other?.action}) ${isWhole} ${changed} ${JSON.stringify(fields)} ${JSON.stringify(dangers)}`,
      ),
    ),
  ];
  expect(isSamePlan(comparison)).toBe(lines.length === 0);
  return lines;
}
