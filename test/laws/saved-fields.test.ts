import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/exit-code.ts';
import { AS_WRITTEN, canonical } from '../../src/kinds/canonical.ts';
import type { FieldType } from '../../src/kinds/field.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import { mapReferences } from '../../src/kinds/references.ts';
import { getKind } from '../../src/kinds/tables/registry.ts';
import { formatPath } from '../../src/model/field-path.ts';
import { isJsonArray, isJsonObject, isSameJson, type Json } from '../../src/model/json.ts';
import type { FieldPath, Spec } from '../../src/model/state.ts';
import { createWorkspace, type Workspace } from '../cli/workspace.ts';
import { LONG, selectEvenly } from '../tries.ts';
import { arbitraryResource } from './arbitrary-manifests.ts';
import { listKnownIds } from './known-ids.ts';
import { holds } from './properties.ts';
import { renderStack } from './render-stack.ts';
import { settleStack, toExternalId } from './settle-stack.ts';
import type { TestResource, TestStack } from './stack.ts';
import { SUBJECTS } from './subjects.ts';

/** Ways to apply a saved plan: each is a command that plans, and one that applies. */
const WAYS = [
  ['plan -o plan.json', 'apply --approved plan.json'],
  ['plan -o plan.json', 'apply --no-rehearsal --approved plan.json'],
  ['plan -R . -o plans', 'apply -R . --approved plans'],
] as const;

/** The path of a value in a spec, through objects and the first members of lists. */
interface Leaf {
  readonly kind: Kind;
  readonly path: FieldPath;
}

const LEAVES = SUBJECTS.map((kind) => ({ kind, leaves: listLeaves(kind) }));

describe('a saved plan is read back and applied with a change of', () => {
  const cases = LEAVES.flatMap(({ kind, leaves }) =>
    leaves.map((first, at) => ({
      label: `${kind.name} ${formatPath(first.path)}`,
      first,
      inside: leaves.slice(at).filter(({ path }) => path[0] === first.path[0]),
      others: leaves.slice(at).filter(({ path }) => path[0] !== first.path[0]),
    })),
  );
  it.each(cases)('$label, alone and with any other field', LONG, async ({ first, inside, others }) => {
    for (const second of [...inside, ...selectEvenly(others)]) {
      const property = fc.asyncProperty(
        arbitraryEdit(first, second),
        fc.constantFrom(...WAYS),
        async ({ before, after }, [plan, apply]) => {
          const { edgewise, write } = await createStackWorkspace(before);
          expect(await edgewise('apply --yes --no-rehearsal')).toMatchObject({ exitCode: 0 });
          await write({ 'edgewise.yaml': toText(after) });
          const planned = await edgewise(`${plan} --no-rehearsal --detailed-exitcode`);
          expect(planned).toMatchObject({ exitCode: EXIT.changes });
          expect(await edgewise(`${apply} --yes --no-rehearsal --token-directory tokens`)).toMatchObject({
            exitCode: 0,
          });
          expect(await edgewise('plan --detailed-exitcode')).toMatchObject({ exitCode: 0 });
        },
      );
      await holds(property, 2);
    }
  });
});

function createStackWorkspace(stack: TestStack): Promise<Workspace> {
  return createWorkspace({ 'edgewise.yaml': toText(stack) }, { seed: { externals: listKnownIds() } });
}

function toText(stack: TestStack): string {
  return renderStack(stack)
    .map(({ bytes }) => Buffer.from(bytes).toString())
    .join('---\n');
}

function listLeaves(kind: Kind): readonly Leaf[] {
  return kind.specFields
    .filter(([, { lifecycle }]) => kind.role === 'owned' || lifecycle === 'mutable')
    .flatMap(([name, { type }]) => listPaths(type, [name]))
    .map((path) => ({ kind, path }));
}

function listPaths(type: FieldType, path: FieldPath): readonly FieldPath[] {
  if (type.type === 'object')
    return Object.entries(type.fields).flatMap(([name, field]) => listPaths(field.type, [...path, name]));
  return type.type === 'list' && type.of.type === 'object' ? listPaths(type.of, [...path, 0]) : [path];
}

/** A resource, and the same resource with two values of another one. */
function arbitraryEdit(
  { kind, path }: Leaf,
  second: Leaf,
): fc.Arbitrary<{ readonly before: TestStack; readonly after: TestStack }> {
  return fc
    .tuple(arbitraryResource([kind]), arbitraryResource([kind]))
    .filter(([subject, donor]) => [path, second.path].every((one) => differs(subject, donor, one)))
    .map(([resource, donor]) => {
      const subject = { ...resource, lifecycle: { protect: false, ignore: [] } };
      const spec = [path, second.path].reduce<Json>((value, one) => withValue(value, one, donor.spec), subject.spec);
      return { before: settleStack([subject]), after: settleStack([{ ...subject, spec: spec as Spec }]) }; // an object with another member
    })
    .filter(
      ({ before: [old], after: [edited] }) => old !== undefined && edited !== undefined && differs(old, edited, []),
    );
}

/** Whether the values at a path of two resources differ in meaning. */
function differs(left: TestResource, right: TestResource, path: FieldPath): boolean {
  const [from = null, to = null] = [left, right].map(({ kind, spec }) => {
    const resolved = mapReferences(getKind(kind), spec, ({ value }) => toExternalId(value));
    return valueAt(canonical(getKind(kind), resolved, AS_WRITTEN), path);
  });
  return !isSameJson(from, to);
}

function valueAt(value: Json | undefined, [step, ...rest]: FieldPath): Json | undefined {
  if (step === undefined || value === undefined) return value;
  if (typeof step === 'number') return valueAt(toList(value)[step], rest);
  return isJsonObject(value) ? valueAt(value[step], rest) : undefined;
}

/** A single value in place of a list is a list of one. */
function toList(value: Json): readonly Json[] {
  return isJsonArray(value) ? value : [value];
}

/** Sets the value at a path from a donor, from the first step on that the value lacks. */
function withValue(value: Json, [step, ...rest]: FieldPath, donor: Json | undefined): Json {
  if (step === undefined) return donor ?? value;
  const given = valueAt(donor, [step]);
  const own = valueAt(value, [step]);
  const isWhole = rest.length === 0 || own === undefined || given === undefined;
  const next = isWhole ? given : withValue(own, rest, given);
  if (typeof step === 'number') return next === undefined ? [] : [next, ...toList(value).slice(1)];
  if (!isJsonObject(value)) return value;
  const { [step]: _, ...others } = value;
  return next === undefined ? others : { ...others, [step]: next };
}
