import { expect } from 'vitest';
import type { Kind } from '../../src/kinds/kind.ts';
import { normalizeSpec } from '../../src/kinds/normalize.ts';
import { mapReferences } from '../../src/kinds/references.ts';
import type { Action, DifferenceCause } from '../../src/model/change.ts';
import { parsePath } from '../../src/model/field-path.ts';
import { isSameJson } from '../../src/model/json.ts';
import type { Plan } from '../../src/model/plan.ts';
import { toExternalId } from './settle-stack.ts';
import type { TestResource } from './stack.ts';

/** Whether one field of two specs means the same. */
export function isSameField(kind: Kind, field: string, specs: readonly [TestResource, TestResource]): boolean {
  const [left, right] = specs.map(({ spec }) => {
    const resolved = mapReferences(kind, spec, ({ value }) => toExternalId(value));
    return normalizeSpec(kind, resolved)[field] ?? null;
  });
  return isSameJson(left ?? null, right ?? null);
}

/** Expects that a plan touches one resource, and of that one field. */
export function expectOnlyDifference(
  plan: Plan,
  subject: TestResource,
  wanted: { readonly field: string; readonly origin: DifferenceCause; readonly action?: Action },
): void {
  const touched = plan.changes.filter(({ action }) => action !== 'no-op');
  expect(touched.map(({ address, action }) => ({ address, action }))).toEqual([
    { address: `${subject.kind}/${subject.name}`, action: wanted.action ?? 'update' },
  ]);
  const differences = touched.flatMap((change) => change.differences);
  expect(differences.length).toBeGreaterThan(0);
  for (const { path, origin } of differences) {
    expect(parsePath(path)?.[0], path).toBe(wanted.field);
    expect(origin).toBe(wanted.origin);
  }
}
