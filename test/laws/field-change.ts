import { expect } from 'vitest';
import { AS_WRITTEN, canonical, normalizeField } from '../../src/kinds/canonical.ts';
import { like } from '../../src/kinds/evidence.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import { mapReferences } from '../../src/kinds/references.ts';
import { isSpellingOf } from '../../src/kinds/spelling.ts';
import type { Action, DifferenceCause } from '../../src/model/change.ts';
import { parsePath } from '../../src/model/field-path.ts';
import { isJsonObject, isSameJson, type Json } from '../../src/model/json.ts';
import type { Plan } from '../../src/model/plan.ts';
import type { Spec } from '../../src/model/state.ts';
import { isKept } from './arbitrary-edit.ts';
import { toExternalId } from './settle-stack.ts';
import type { TestResource, TestStack } from './stack.ts';
import { listTouched, type World } from './world.ts';

/** Whether a field has the same value in two manifests. */
export function isSameField(
  kind: Kind,
  field: string,
  [live, desired]: readonly [TestResource, TestResource],
): boolean {
  const [from = {}, to = {}] = [live, desired].map(({ spec }) =>
    canonical(
      kind,
      mapReferences(kind, spec, ({ value }) => toExternalId(value)),
      AS_WRITTEN,
    ),
  );
  const isOpen = from[field] === undefined || to[field] === undefined;
  const shown = isOpen ? from : canonical(kind, withChosenNumbers(kind, from), like(to));
  return isSameJson(shown[field] ?? null, to[field] ?? null);
}

/** Whether a live value is that of a manifest in another spelling. */
export function isOtherSpelling(kind: Kind, name: string, [live, { spec }]: readonly [Json, TestResource]): boolean {
  const field = kind.fields[name];
  return field !== undefined && isSpellingOf(field, live, normalizeField(field, spec[name]));
}

/** The values that the bundled server chooses for unset parts of modules. */
function withChosenNumbers(kind: Kind, spec: Spec): Spec {
  const filled = kind.specFields.flatMap(([name, { type }]): [string, Json][] => {
    const value = spec[name];
    if (type.type !== 'object' || value === undefined || !isJsonObject(value)) return [];
    const chosen = Object.entries(type.fields).flatMap(([part, { serviceDefault, type: inner }]): [string, Json][] =>
      serviceDefault && inner.type === 'number' && value[part] === undefined ? [[part, inner.min]] : [],
    );
    return [[name, { ...value, ...Object.fromEntries(chosen) }]];
  });
  return { ...spec, ...Object.fromEntries(filled) };
}

/** Expects that a plan changes one field of one resource. */
export function expectOnlyDifference(
  plan: Plan,
  subject: TestResource,
  wanted: {
    readonly field: string;
    readonly origin: DifferenceCause;
    readonly action?: Action;
    /** Another origin that the difference may have. */
    readonly otherOrigin?: DifferenceCause | undefined;
  },
): void {
  const touched = plan.changes.filter(({ action }) => action !== 'no-op');
  expect(touched.map(({ address, action }) => ({ address, action }))).toEqual([
    { address: `${subject.kind}/${subject.name}`, action: wanted.action ?? 'update' },
  ]);
  const differences = touched.flatMap((change) => change.differences);
  expect(differences.length).toBeGreaterThan(0);
  for (const { path, origin } of differences) {
    expect(parsePath(path)?.[0], path).toBe(wanted.field);
    expect(origin).toBeOneOf([wanted.origin, wanted.otherOrigin]);
  }
}

interface ManifestChange {
  readonly world: World;
  readonly kind: Kind;
  readonly field: string;
  /** The manifests after the change. The changed resource is the last one. */
  readonly after: TestStack;
  /** Whether the new value is live already, or left to others. */
  readonly isQuiet: boolean;
  /** Whether the live value may be another spelling of the one before. */
  readonly isSpelledOtherwise?: boolean;
}

/** Expects that a plan changes the field alone, or nothing if that is quiet, and that the next plan is empty. */
export async function expectManifestChange({
  world,
  kind,
  field,
  after,
  isQuiet,
  isSpelledOtherwise = false,
}: ManifestChange): Promise<void> {
  const plan = await world.plan(after);
  const subject = after.at(-1);
  if (isQuiet || subject === undefined) expect(listTouched(plan)).toEqual([]);
  else {
    const isFixed = kind.fields[field]?.lifecycle === 'immutable' && !isKept(kind, field, subject);
    const origin = kind.role === 'owned' ? 'manifest' : 'unknown';
    const otherOrigin = isSpelledOtherwise ? 'both' : undefined;
    expectOnlyDifference(plan, subject, { field, origin, otherOrigin, action: isFixed ? 'replace' : 'update' });
  }
  await world.apply(plan);
  expect(listTouched(await world.plan(after))).toEqual([]);
}
