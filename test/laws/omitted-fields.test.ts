import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { getNormalUnsetFieldValue, normalizeField } from '../../src/kinds/canonical.ts';
import type { Field, FieldType, NamedField } from '../../src/kinds/field.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import { isHiddenChange } from '../../src/model/change.ts';
import { assertDefined } from '../../src/model/errors.ts';
import { isJsonObject, isSameJson, type Json, type JsonObject } from '../../src/model/json.ts';
import { renderUserMetadata } from '../../src/model/mark.ts';
import type { ExtraChange, PlanComparison } from '../../src/model/plan.ts';
import type { FaultRule } from '../../src/model/server-faults.ts';
import { type Transport, toSend } from '../../src/model/transport.ts';
import { withFaults } from '../../src/server/index.ts';
import { LONG } from '../tries.ts';
import { arbitraryHistory, arbitraryResource, arbitraryStack } from './arbitrary-manifests.ts';
import { arbitrarySpec } from './arbitrary-values.ts';
import { changeField, createOutsideResource, listChangeable } from './other-user.ts';
import { holds } from './properties.ts';
import { settleStack } from './settle-stack.ts';
import type { TestResource, TestStack } from './stack.ts';
import { SUBJECTS } from './subjects.ts';
import { listTouched, World } from './world.ts';

type LeftOut = Pick<Extract<FaultRule, { fault: 'left_out' }>, 'fields' | 'share'>;

/** A service that leaves fields out of its responses. */
function createOmittingService({ server }: World, seed: number, more: LeftOut = {}): (inner: Transport) => Transport {
  return (handle) => {
    const plain = server.behind(() => toSend(handle));
    return withFaults(plain, { seed, rules: [{ on: '*', fault: 'left_out', ...more }] }).handle;
  };
}

const OWNED = SUBJECTS.filter(({ role }) => role === 'owned');
const CLEARED = OWNED.flatMap((kind) =>
  listChangeable(kind).map((field) => ({ kind, label: `${kind.name} ${field}`, field })),
);

function hasNotice(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === '' || value === false) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

const WITNESS = 'witness';

/** A resource of another user with random fields, in which the service shows the fields of the kind. */
async function createWitness(world: World, kind: Kind, field: string): Promise<boolean> {
  const specs = fc.sample(arbitrarySpec(kind), { seed: 7, numRuns: 60 }).filter((spec) => hasNotice(spec[field]));
  for (const spec of specs) {
    const witness = { kind: kind.name, name: WITNESS, spec, lifecycle: { protect: false, ignore: [] } };
    await createOutsideResource(world, witness, () => renderUserMetadata(WITNESS)).catch(() => undefined);
    const others = (world.resources()[kind.name] ?? []).filter((one) => one['metadata'] === WITNESS);
    if (others.some((one) => hasNotice(one[field]))) return true;
  }
  return false;
}

describe('a field that another user empties', () => {
  it.each(CLEARED)(
    'is found although the service leaves it out while it is empty: $label',
    LONG,
    async ({ kind, field }) => {
      let seen = 0;
      // What is not set cannot be emptied.
      const subjects = arbitraryResource([kind]).filter(({ spec }) => spec[field] !== undefined);
      const arbitrary = fc.tuple(subjects, arbitraryStack({ maxResources: 4 }), fc.nat());
      const property = fc.asyncProperty(arbitrary, async ([subject, others, seed]) => {
        const world = new World();
        const stack = settleStack([subject, ...others]);
        await world.migrate(stack);
        const [first] = stack;
        if (first === undefined || !(await createWitness(world, kind, field))) return;
        const { [field]: _, ...spec } = first.spec;
        const emptied = changeField(world, { resource: { ...first, spec }, stack }, field);
        if (
          !(await emptied.then(
            () => true,
            () => false,
          ))
        )
          return;
        const truth = listTouched(await world.plan(stack));
        expect(
          listTouched(await world.plan(stack, { over: createOmittingService(world, seed, { share: 0.5 }) })),
        ).toEqual(truth);
        expect(listTouched(await world.plan(stack, { over: createOmittingService(world, seed) }))).toEqual(truth);
        world.interpose(createOmittingService(world, seed, { share: 0.5 }));
        await world.migrate(stack);
        world.interpose();
        expect(listTouched(await world.plan(stack))).toEqual([]);
        seen += truth.length;
      });
      await holds(property, 12);
      const [, table] = kind.specFields.find(([name]) => name === field) ?? [];
      if (table !== undefined && !table.required && table.default === undefined) expect(seen).toBeGreaterThan(0);
    },
  );
});

/** The fields inside of modules of HTTPS edges and their routes. */
const CLEARED_INSIDE = SUBJECTS.filter(({ role }) => role === 'attached').flatMap((kind) =>
  kind.specFields.flatMap(([module, { type }]) =>
    type.type !== 'object'
      ? []
      : Object.entries(type.fields)
          // A switch that is on by default: test/cli/left-out-switches.test.ts.
          .filter(([, one]) => !one.absentWhenDefault && one.default !== true)
          .map(([name, field]) => ({ kind, module, name, field, label: `${kind.name} ${module}.${name}` })),
  ),
);

describe('a field of a module that another user empties', () => {
  it.each(CLEARED_INSIDE)(
    'is found although the service leaves it out while it is empty: $label',
    LONG,
    async ({ kind, module, name, field }) => {
      const isFull = ({ spec }: TestResource): boolean => {
        const value = spec[module];
        return value !== undefined && isJsonObject(value) && hasNotice(value[name]);
      };
      const full = fc.sample(arbitraryResource([kind]), { seed: 7, numRuns: 400 }).filter(isFull);
      let seen = 0;
      for (const [at, resource] of full.slice(0, 12).entries()) {
        const witness = full.find(({ spec }) => spec['id'] !== resource.spec['id']);
        const world = new World();
        const stack = settleStack([resource, withName(assertDefined(witness, 'another one'))]);
        await world.migrate(stack);
        const [first] = stack;
        if (stack.length < 2 || first === undefined || !isFull(first) || first.lifecycle.ignore.includes(module))
          continue;
        const was = first.spec[module];
        const emptied = { ...(was !== undefined && isJsonObject(was) && was), [name]: clearField(field.type) };
        await changeField(world, { resource: { ...first, spec: { ...first.spec, [module]: emptied } }, stack }, module);
        const truth = listTouched(await world.plan(stack));
        for (const share of [1, 0.5])
          expect(listTouched(await world.plan(stack, { over: createOmittingService(world, at, { share }) }))).toEqual(
            truth,
          );
        seen += truth.length;
      }
      expect(seen).toBeGreaterThan(0);
    },
  );
});

function clearField(type: FieldType): Json {
  if (type.type === 'number') return type.min > 0 ? type.min : 0;
  if (type.type === 'text') return '';
  return type.type === 'list' ? [] : {};
}

/**
 * Whether two plans of a change differ only in whether it is known what restricts. A switch or a restriction that no
 * response of a plan shows is unknown, and a danger of the group access. So of two plans that read other responses, one
 * may have a danger more, and ends the approval of the other. It never has one less that another one shows for certain.
 */
function isUnknownRestriction(extra: ExtraChange | PlanComparison['members'][number]): boolean {
  if (!('change' in extra)) return false;
  const { change, isWhole, fields, dangers } = extra;
  const isUnknown = dangers.every(
    ({ danger, path = '' }) =>
      danger === 'restriction-unknown' ||
      (danger === 'restriction-removed' && change.action === 'delete') ||
      // It admits everyone afterwards, and no response of this plan shows whether it did before.
      (danger === 'unrestricted' && hasUnshownMember(change, path.split('.')[0] ?? '')),
  );
  return !isWhole && fields.length === 0 && dangers.length > 0 && isUnknown;
}

function hasUnshownMember({ live, desired }: ExtraChange['change'], field: string): boolean {
  const [shown, wanted] = [live?.spec?.[field], desired?.[field]];
  return isJsonObject(shown) && isJsonObject(wanted) && Object.keys(wanted).some((key) => !Object.hasOwn(shown, key));
}

describe('a service that leaves out empty values at random', () => {
  it('does not change the result: each step leaves nothing to do, and an approval stays valid', LONG, async () => {
    const property = fc.asyncProperty(arbitraryHistory(3), fc.nat(), async (stacks, seed) => {
      const world = new World();
      let answers = seed;
      // Each read and each apply gets other omissions.
      const next = () => {
        answers += 1;
        world.interpose(createOmittingService(world, answers, { share: 0.5 }));
      };
      for (const stack of stacks) {
        next();
        const plan = await world.plan(stack);
        next();
        const { members, more, less } = await world.compare(plan, stack);
        expect([...members, ...more, ...less].filter((extra) => !isUnknownRestriction(extra))).toEqual([]);
        await world.migrate(stack);
        next();
        expect(listTouched(await world.plan(stack))).toEqual([]);
        world.interpose();
        expect(listTouched(await world.plan(stack))).toEqual([]);
      }
      // Nothing changed after a plan was made.
      const said = world.events.flatMap((one) => (one.event === 'diagnostic' ? [one.diagnostic] : []));
      expect(said.filter(({ code }) => code === 'concurrent-change')).toEqual([]);
    });
    await holds(property, 40);
  });
});

/** The names of a field and of its inner fields in responses. */
function listNames(fields: readonly NamedField[]): readonly string[] {
  return fields.flatMap(([name, { type, responseName }]) => [responseName ?? name, ...listInnerNames(type)]);
}

function listInnerNames(type: FieldType): readonly string[] {
  if (type.type === 'list') return listInnerNames(type.of);
  return type.type === 'object' ? listNames(Object.entries(type.fields)) : [];
}

/** Fields for which the API defines what leaving them out means: without `enabled`, a module is enabled. */
const SAID = listNotices(SUBJECTS.flatMap(({ fields }) => Object.entries(fields)));

function listNotices(fields: readonly NamedField[]): readonly string[] {
  return fields.flatMap(([name, { type, absentWhenDefault }]) => [
    ...(absentWhenDefault ? [name] : []),
    ...(type.type === 'object' ? listNotices(Object.entries(type.fields)) : []),
  ]);
}

const NEVER_SHOWN = SUBJECTS.filter(({ role }) => role !== 'submitted').flatMap((kind) =>
  // A module is the whole body of its responses.
  [
    ...new Set(
      kind.role === 'attached'
        ? kind.specFields.flatMap(([, { type }]) => listInnerNames(type))
        : listNames(kind.specFields),
    ),
  ]
    .filter((name) => !SAID.includes(name))
    .map((name) => ({ kind, name, label: `${kind.name} ${name}` })),
);

describe('a field that is never shown', () => {
  it.each(NEVER_SHOWN)('is no change once it is written, and reported once: $label', LONG, async ({ kind, name }) => {
    const arbitrary = fc.tuple(arbitraryResource([kind]), arbitraryResource([kind]), fc.nat());
    const property = fc.asyncProperty(arbitrary, async ([one, other, seed]) => {
      const world = new World();
      const stack: TestStack = settleStack([one, withName(other)]);
      world.interpose(createOmittingService(world, seed, { fields: [name] }));
      await world.migrate(stack);
      const plan = await world.plan(stack);
      // Modules have no mark that records the written value: they are written each time.
      expect(listTouched({ ...plan, changes: plan.changes.filter((change) => !isHiddenChange(change)) })).toEqual([]);
      if (kind.role === 'owned') expect(plan.writes).toEqual([]);
      const said = plan.diagnostics.filter(({ code }) => code === 'shown-otherwise').map(({ message }) => message);
      expect(said.length, 'one of a kind').toBe(new Set(said.map((message) => message.split(':')[0])).size);
      world.interpose();
      expect(listTouched(await world.plan(stack))).toEqual([]);
    });
    await holds(property, 3);
  });
});

/** Parts of modules that may be empty, and that services leave out if they are. */
const EMPTIED = CLEARED_INSIDE.filter(({ field: { required, type } }) => !required && type.type !== 'number');

describe('a part of a module that no response shows', () => {
  it.each(EMPTIED)(
    'is written if the manifest sets it, and matches after that: $label',
    LONG,
    async ({ kind, module, name }) => {
      const isSet = (spec: TestResource['spec']): boolean => {
        const value = spec[module];
        return value !== undefined && isJsonObject(value) && hasNotice(value[name]);
      };
      const full = fc.sample(arbitraryResource([kind]), { seed: 11, numRuns: 400 }).filter(({ spec }) => isSet(spec));
      let written = 0;
      for (const [at, resource] of full.slice(0, 8).entries()) {
        const [first] = settleStack([resource]);
        if (first === undefined || !isSet(first.spec) || first.lifecycle.ignore.includes(module)) continue;
        const world = new World();
        const { [name]: _, ...rest } = toObject(first.spec[module]);
        await world.migrate([{ ...first, spec: { ...first.spec, [module]: rest } }]);
        world.interpose(createOmittingService(world, at));
        const stack = [first];
        const plan = await world.plan(stack);
        expect(plan.changes.flatMap(({ differences }) => differences.map(({ path }) => path))).toContain(
          `${module}.${name}`,
        );
        await world.migrate(stack);
        expect(listTouched(await world.plan(stack))).toEqual([]);
        world.interpose();
        expect(listTouched(await world.plan(stack))).toEqual([]);
        written += 1;
      }
      expect(written).toBeGreaterThan(0);
    },
  );
});

const INSIDE = CLEARED_INSIDE.filter(({ field: { required } }) => !required);

describe('a part of a module that is never shown', () => {
  it.each(INSIDE)(
    'is written by each apply while the manifest sets it: $label',
    LONG,
    async ({ kind, module, name, field }) => {
      const resources = fc.sample(arbitraryResource([kind]), { seed: 13, numRuns: 400 });
      let written = 0;
      for (const resource of resources) {
        const [first] = settleStack([resource]);
        const value = toObject(first?.spec[module])[name];
        if (first === undefined || !hasNotice(value) || isEmptyByMeaning(field, value)) continue;
        if (first.lifecycle.ignore.some((path) => path.startsWith(module))) continue;
        const { [name]: _, ...rest } = toObject(first.spec[module]);
        const world = new World();
        world.interpose(createOmittingService(world, 1, { fields: [name] }));
        await world.migrate([{ ...first, spec: { ...first.spec, [module]: rest } }]);
        for (let times = 0; times < 2; times += 1) {
          const plan = await world.migrate([first]);
          expect(plan.changes.filter(isHiddenChange), `apply ${times}`).toHaveLength(1);
          expect(plan.writes.map(({ method }) => method)).toEqual(['PUT']);
        }
        world.interpose();
        expect(listTouched(await world.plan([first]))).toEqual([]);
        written += 1;
        if (written === 4) break;
      }
      expect(written).toBeGreaterThan(0);
    },
  );
});

/** Whether a value means the same as an unset field. */
function isEmptyByMeaning(field: Field, value: Json | undefined): boolean {
  const normal = normalizeField(field, value);
  return normal === 0 || isSameJson(normal, getNormalUnsetFieldValue(field));
}

function toObject(value: Json | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}

function withName(resource: TestResource): TestResource {
  return { ...resource, name: 'the-other-one' };
}
