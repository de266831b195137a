import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AS_WRITTEN, canonical, listFieldsWithDigest } from '../../src/kinds/canonical.ts';
import { OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import { assertDefined } from '../../src/model/errors.ts';
import { IGNORED_FIELD_DIGEST, splitMetadata, toFieldDigest } from '../../src/model/mark.ts';
import { LONG } from '../tries.ts';
import { arbitraryStack } from './arbitrary-manifests.ts';
import { findOwned } from './other-user.ts';
import { holds } from './properties.ts';
import type { TestResource } from './stack.ts';
import { World } from './world.ts';

describe('the digests in the mark of a new resource', () => {
  it('are those of its fields as they are live, with ids that came later', LONG, async () => {
    const property = fc.asyncProperty(arbitraryStack({ kinds: OWNED_KINDS }), async (stack) => {
      const world = new World();
      await world.migrate(stack);
      for (const resource of stack) expectDigests(world, resource);
    });
    await holds(property, 25);
  });
});

function expectDigests(world: World, { kind: name, name: resource, lifecycle, spec }: TestResource): void {
  const kind = assertDefined(
    OWNED_KINDS.find((candidate) => candidate.name === name),
    name,
  );
  const live = assertDefined(findOwned(world, name, resource), `live ${name}/${resource}`);
  const { mark, user } = splitMetadata(String(live['metadata']));
  const normal = canonical(kind, { ...live, metadata: user }, AS_WRITTEN);
  const chosen = Object.keys(kind.fields).filter(
    (field) => kind.fields[field]?.serviceDefault && spec[field] === undefined,
  );
  const marked = listFieldsWithDigest(kind, normal).filter((field) => !chosen.includes(field));
  const managed = marked.filter((field) => !lifecycle.ignore.includes(field));
  const digests = managed.map((field): [string, string] => [field, toFieldDigest(normal[field] ?? null)]);
  const others = lifecycle.ignore.map((field): [string, string] => [field, IGNORED_FIELD_DIGEST]);
  expect(mark?.fields).toEqual(Object.fromEntries([...digests, ...others]));
}
