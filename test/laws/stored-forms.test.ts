import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readLive } from '../../src/client/read-live.ts';
import { getNormalUnsetFieldValue } from '../../src/kinds/canonical.ts';
import { getKind } from '../../src/kinds/tables/registry.ts';
import { isSameJson, type Json } from '../../src/model/json.ts';
import { STORED_FORMS, type StoredForm } from '../../src/model/server-faults.ts';
import type { Spec } from '../../src/model/state.ts';
import { type Transport, toSend } from '../../src/model/transport.ts';
import { createReadRequest } from '../../src/plan/select-targets.ts';
import { withFaults } from '../../src/server/index.ts';
import { LONG } from '../tries.ts';
import { arbitraryDrift } from './arbitrary-drift.ts';
import { arbitraryEdit, EDITABLE_FIELDS } from './arbitrary-edit.ts';
import { arbitraryHistory } from './arbitrary-manifests.ts';
import { expectManifestChange, expectOnlyDifference, isOtherSpelling, isSameField } from './field-change.ts';
import { changeField, listChangeable } from './other-user.ts';
import { holds } from './properties.ts';
import type { TestResource, TestStack } from './stack.ts';
import { SUBJECTS } from './subjects.ts';
import { listTouched, loadStack, World } from './world.ts';

/** A service that stores values in other forms: all of them, or the given ones. */
function createNormalizingService({ server }: World, forms?: readonly StoredForm[]): (inner: Transport) => Transport {
  return (handle) =>
    withFaults(
      server.behind(() => toSend(handle)),
      { rules: [{ on: '*', fault: 'normalise', ...(forms && { forms }) }] },
    ).handle;
}

describe('a service that stores values in its own forms', () => {
  it.each(SUBJECTS)('needs no second apply: $name', LONG, async (kind) => {
    const property = fc.asyncProperty(arbitraryHistory(2, { kinds: [kind] }), async (stacks) => {
      const world = new World();
      world.interpose(createNormalizingService(world));
      for (const stack of stacks) {
        await world.migrate(stack);
        for (let times = 0; times < 2; times += 1) {
          const plan = await world.plan(stack);
          expect(listTouched(plan)).toEqual([]);
          world.takeRequests();
          await world.apply(plan);
          expect(world.takeRequests()).toEqual([]);
        }
      }
    });
    await holds(property, 8);
  });

  it('needs no second apply of stacks of every kind', LONG, async () => {
    const property = fc.asyncProperty(arbitraryHistory(3), async (stacks) => {
      const world = new World();
      world.interpose(createNormalizingService(world));
      for (const stack of stacks) {
        await world.migrate(stack);
        expect(listTouched(await world.plan(stack))).toEqual([]);
      }
    });
    await holds(property, 30);
  });
});

const FIELDS = SUBJECTS.flatMap((kind) =>
  listChangeable(kind).map((field) => ({ kind, label: `${kind.name} ${field}`, field })),
);

/** All forms except those of omitted values, which are unknown if no response shows them. */
const SHOWN_FORMS = STORED_FORMS.filter((form) => form !== 'left_out');

/** The spec of a resource in a response. */
async function readSpec(world: World, stack: TestStack, { kind, name }: TestResource): Promise<Spec> {
  const live = await readLive(world.connect(), createReadRequest(loadStack(stack), []));
  const owned = (live.resources.get(kind) ?? []).find(({ mark }) => mark?.name === name);
  const attached = [...live.attachments].find(([address]) => address === `${kind}/${name}`)?.[1];
  return (owned ?? attached)?.spec ?? {};
}

/** The value of a field in a response. */
async function readField(world: World, stack: TestStack, resource: TestResource, field: string): Promise<Json> {
  const [, table] = getKind(resource.kind).specFields.find(([one]) => one === field) ?? [];
  const spec = await readSpec(world, stack, resource);
  return spec[field] ?? (table === undefined ? null : getNormalUnsetFieldValue(table));
}

describe('a field that another user changes at a service with its own forms', () => {
  it.each(FIELDS)(
    'is found if the service shows another value than before, and not only another spelling, and reverted: $label',
    LONG,
    async ({ kind, field }) => {
      const property = fc.asyncProperty(arbitraryDrift(kind, field), async ({ stack, drifted }) => {
        const [subject] = stack;
        if (subject === undefined || drifted === undefined || subject.lifecycle.ignore.includes(field)) return;
        const world = new World();
        world.interpose(createNormalizingService(world, SHOWN_FORMS));
        await world.migrate(stack);
        const before = await readField(world, stack, subject, field);
        await changeField(world, { resource: drifted, stack }, field);
        const after = await readField(world, stack, subject, field);
        const plan = await world.plan(stack);
        if (isSameJson(before, after) || isOtherSpelling(kind, field, [after, subject]))
          expect(listTouched(plan)).toEqual([]);
        else expectOnlyDifference(plan, subject, { field, origin: kind.role === 'owned' ? 'drift' : 'unknown' });
        await world.migrate(stack);
        expect(listTouched(await world.plan(stack))).toEqual([]);
      });
      await holds(property, 5);
    },
  );
});

describe('a field that changes in its manifest at a service with its own forms', () => {
  it.each(EDITABLE_FIELDS)(
    'is a change if its meaning differs, and matches after that: $label',
    LONG,
    async ({ kind, field }) => {
      const property = fc.asyncProperty(arbitraryEdit(kind, field), async ({ before, after }) => {
        const [old, subject] = [before.at(-1), after.at(-1)];
        if (old === undefined || subject === undefined) return;
        const world = new World();
        world.interpose(createNormalizingService(world));
        await world.migrate(before);
        const shown = { ...old, spec: await readSpec(world, before, old) };
        const isSame = [old, shown].some((live) => isSameField(kind, field, [live, subject]));
        const isQuiet = isSame || subject.lifecycle.ignore.includes(field);
        const isSpelledOtherwise = kind.fields[field]?.mayBeSpelledOtherwise === true;
        await expectManifestChange({ world, kind, field, after, isQuiet, isSpelledOtherwise });
      });
      await holds(property, 4);
    },
  );
});

describe('a description that changes in its manifest at a service with its own forms', () => {
  const DESCRIBED = SUBJECTS.filter(({ fields }) => fields['description'] !== undefined);

  it.each(DESCRIBED)('is written, and matches after that: $name', LONG, async (kind) => {
    const property = fc.asyncProperty(arbitraryHistory(1, { kinds: [kind] }), async (stacks) => {
      const [stack = []] = stacks;
      const world = new World();
      world.interpose(createNormalizingService(world, ['lower_case', 'trimmed']));
      const subjects = stack.filter(({ kind: one, lifecycle }) => one === kind.name && lifecycle.ignore.length === 0);
      const toStack = (description: string): TestStack =>
        stack.map((one) => (subjects.includes(one) ? { ...one, spec: { ...one.spec, description } } : one));
      await world.migrate(toStack(' First'));
      const next = toStack(' Second');
      const plan = await world.plan(next);
      expect(listTouched(plan)).toHaveLength(subjects.length);
      expect(plan.changes.flatMap(({ differences }) => differences.map(({ path, origin }) => [path, origin]))).toEqual(
        // The mark does not say how the service spells the text that was applied.
        subjects.map(() => ['description', 'both']),
      );
      await world.migrate(next);
      expect(listTouched(await world.plan(next))).toEqual([]);
    });
    await holds(property, 4);
  });
});
