import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AS_WRITTEN, canonical } from '../../src/kinds/canonical.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import { assertDefined } from '../../src/model/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';
import { splitMetadata } from '../../src/model/mark.ts';
import type { SentRequest } from '../cli/recorder.ts';
import { LONG } from '../tries.ts';
import { arbitraryResource } from './arbitrary-manifests.ts';
import { withField } from './mutate-stack.ts';
import { changeField, findOwned, listChangeable } from './other-user.ts';
import { holds } from './properties.ts';
import { settleStack } from './settle-stack.ts';
import type { TestResource } from './stack.ts';
import { SUBJECTS } from './subjects.ts';
import { listTouched, World } from './world.ts';

const FIELDS = SUBJECTS.filter(({ role }) => role === 'owned').flatMap((kind) =>
  listChangeable(kind)
    .filter((field) => kind.fields[field]?.unique === false)
    .map((field) => ({ kind, field, label: `${kind.name} ${field}` })),
);

describe('an ignored field', () => {
  it.each(FIELDS)('is never sent in an update, and survives a replace: $label', LONG, async ({ kind, field }) => {
    const property = fc.asyncProperty(arbitraryEdits(kind, field), async ({ first, theirs, second }) => {
      const world = new World();
      await world.migrate([first]);
      await changeField(world, { resource: theirs, stack: [] }, field);
      const before = readField(world, kind, { name: first.name, field });
      world.takeRequests();
      await world.migrate([second]);
      for (const sent of world.takeRequests()) expectLeftAlone(kind, field, { sent, before });
      expect(readField(world, kind, { name: first.name, field })).toEqual(before);
      expect(listTouched(await world.plan([second]))).toEqual([]);
    });
    await holds(property, 6);
  });
});

/** A resource that ignores a field, the value that another user sets, and the resource with other fields changed. */
function arbitraryEdits(
  kind: Kind,
  field: string,
): fc.Arbitrary<{ readonly first: TestResource; readonly theirs: TestResource; readonly second: TestResource }> {
  const any = arbitraryResource([kind]);
  return fc.tuple(any, any, any).map(([resource, donor, other]) => {
    const lifecycle = { protect: false, ignore: [field] };
    const [first] = settleStack([{ ...resource, lifecycle }]);
    const settled = assertDefined(first, 'the only resource of a stack');
    const [theirs] = settleStack([{ ...settled, spec: withField(settled.spec, field, donor.spec) }]);
    const [second] = settleStack([{ ...other, name: settled.name, lifecycle }]);
    return { first: settled, theirs: theirs ?? settled, second: second ?? settled };
  });
}

/**
 * Fields that the service clears when they are left out are sent unchanged. The metadata contains the mark too: the rest of it is sent
 * unchanged.
 */
function expectLeftAlone(
  kind: Kind,
  field: string,
  { sent, before }: { readonly sent: SentRequest; readonly before: Json },
): void {
  if (sent.method !== 'PATCH') return;
  const body: unknown = JSON.parse(sent.body);
  const value = isJsonObject(body) ? body[field] : undefined;
  if (value === undefined) return;
  expect(kind.fields[field]?.alwaysSent === true || field === 'metadata').toBe(true);
  expect(toNormal(kind, field, value)).toEqual(before);
}

function readField(world: World, kind: Kind, { name, field }: { readonly name: string; readonly field: string }): Json {
  const live: JsonObject = assertDefined(findOwned(world, kind.name, name), `live ${kind.name}/${name}`);
  return toNormal(kind, field, live[field] ?? null);
}

function toNormal(kind: Kind, field: string, value: Json): Json {
  const shown = field === 'metadata' && typeof value === 'string' ? splitMetadata(value).user : value;
  return canonical(kind, { [field]: shown }, AS_WRITTEN)[field] ?? null;
}
