import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listReferences } from '../../src/kinds/references.ts';
import { getKind } from '../../src/kinds/tables/registry.ts';
import { formatChangeAddress } from '../../src/model/change.ts';
import { hasErrors } from '../../src/model/diagnostic.ts';
import { LONG } from '../tries.ts';
import { arbitraryHistory } from './arbitrary-manifests.ts';
import { holds } from './properties.ts';
import type { TestStack } from './stack.ts';
import { listTouched, World } from './world.ts';

describe('a plan for targets', () => {
  it('changes the targets and their dependencies, and leaves nothing to do for them', LONG, async () => {
    const picks = fc.array(fc.nat(15), { minLength: 1, maxLength: 2 });
    const property = fc.asyncProperty(arbitraryHistory(1), picks, async ([first = [], second = []], at) => {
      const world = new World();
      await world.migrate(first);
      const known = [...first, ...second].filter(({ kind }) => getKind(kind).role === 'owned').map(toAddress);
      const targets = [...new Set(at.flatMap((index) => known[index % known.length] ?? []))];
      if (targets.length === 0) return;
      const plan = await world.plan(second, { targets });
      const allowed = listNeeded(second, targets);
      expect(plan.changes.filter(({ address }) => !allowed.has(address))).toEqual([]);
      expect(plan.writes.length === 0 || !hasErrors(plan.diagnostics)).toBe(true);
      if (hasErrors(plan.diagnostics)) return;
      const { outcomes } = await world.apply(plan);
      const isWhole = outcomes.every(({ outcome }) => outcome === 'applied');
      if (!isWhole) expectInUse(outcomes);
      if (isWhole) expect(listTouched(await world.plan(second, { targets }))).toEqual([]);
      await world.migrate(second);
      expect(listTouched(await world.plan(second))).toEqual([]);
    });
    await holds(property, 40);
  });
});

describe('a plan with exclusions', () => {
  it('leaves excluded resources and their dependents unchanged, and can be applied', LONG, async () => {
    const picks = fc.array(fc.nat(15), { minLength: 1, maxLength: 2 });
    const property = fc.asyncProperty(arbitraryHistory(1), picks, async ([first = [], second = []], at) => {
      const world = new World();
      await world.migrate(first);
      const known = [...first, ...second].filter(({ kind }) => getKind(kind).role === 'owned').map(toAddress);
      const exclusions = [...new Set(at.flatMap((index) => known[index % known.length] ?? []))];
      if (exclusions.length === 0) return;
      const whole = await world.plan(second);
      const plan = await world.plan(second, { exclusions });
      expect(hasErrors(plan.diagnostics)).toBe(false);
      const left = new Set(plan.changes.map(formatChangeAddress));
      const reasons = plan.diagnostics.filter(({ code }) => code === 'left-out').map(({ address }) => address);
      const missing = whole.changes.map(formatChangeAddress).filter((address) => !left.has(address));
      expect(missing.toSorted()).toEqual(reasons.toSorted());
      for (const address of exclusions) expect([...left]).not.toContain(address);
      for (const { kind, name, spec } of second)
        if (listReferences(getKind(kind), spec).some(({ value }) => exclusions.includes(value)))
          expect([...left]).not.toContain(`${kind}/${name}`);
      const { outcomes } = await world.apply(plan);
      expect(outcomes.filter(({ outcome }) => outcome !== 'applied')).toEqual([]);
      expect(listTouched(await world.plan(second, { exclusions }))).toEqual([]);
      await world.migrate(second);
      expect(listTouched(await world.plan(second))).toEqual([]);
    });
    await holds(property, 40);
  });
});

/** A delete may fail only because a resource outside of the plan still uses its target. */
function expectInUse(outcomes: Awaited<ReturnType<World['apply']>>['outcomes']): void {
  const failed = outcomes.filter((result) => result.outcome === 'failed');
  expect(failed.length).toBeGreaterThan(0);
  for (const { message } of failed) expect(message).toContain('in_use');
}

function toAddress({ kind, name }: TestStack[number]): string {
  return `${kind}/${name}`;
}

/** The targets, and step by step their references. */
function listNeeded(stack: TestStack, targets: readonly string[]): ReadonlySet<string> {
  const needed = new Set(targets);
  for (const address of needed) {
    const resource = stack.find((candidate) => toAddress(candidate) === address);
    if (resource !== undefined)
      for (const { value } of listReferences(getKind(resource.kind), resource.spec)) needed.add(value);
  }
  return needed;
}
