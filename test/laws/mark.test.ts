import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRotatable } from '../../src/kinds/kind.ts';
import { getKind, OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import { METADATA } from '../../src/kinds/tables/standard-fields.ts';
import { findMetadataFinding } from '../../src/manifest/metadata.ts';
import { LONGEST_NAME } from '../../src/model/address.ts';
import { assertDefined } from '../../src/model/errors.ts';
import { computeUtf8ByteLength, isJsonObject, type JsonObject } from '../../src/model/json.ts';
import { type Mark, normalizeUserMetadata, renderMetadata, splitMetadata } from '../../src/model/mark.ts';
import { LONG } from '../tries.ts';
import { arbitraryResource } from './arbitrary-manifests.ts';
import { arbitraryField } from './arbitrary-values.ts';
import { NAMES } from './names.ts';
import { holds } from './properties.ts';
import { settleStack } from './settle-stack.ts';
import { STACK_NAME, type TestResource } from './stack.ts';
import { listTouched, World } from './world.ts';

describe('the mark', () => {
  it('is read as it was written, beside any metadata', async () => {
    const property = fc.asyncProperty(arbitraryField(METADATA), arbitraryMark(), async (metadata, mark) => {
      const user = toUser(metadata);
      if (splitMetadata(typeof user === 'string' ? user : JSON.stringify(user)).error !== undefined) return;
      const parsed = splitMetadata(renderMetadata(user, mark));
      expect(parsed).toEqual({ user: normalizeUserMetadata(user), mark, error: undefined });
      expect(renderMetadata(parsed.user, mark)).toBe(renderMetadata(user, mark));
    });
    await holds(property, 300);
  });

  it('fits beside the longest metadata that a manifest may have', LONG, async () => {
    const property = fc.asyncProperty(
      arbitraryResource(OWNED_KINDS),
      fc.constantFrom('x', 'é', '🙂'),
      async (any, letter) => {
        const [resource] = settleStack([any]);
        if (resource === undefined || resource.lifecycle.ignore.includes('metadata')) return;
        const stack = [fillMetadata(resource, letter)];
        const world = new World();
        await world.migrate(stack);
        expect(listTouched(await world.plan(stack))).toEqual([]);
        const lengths = Object.values(world.resources())
          .flat()
          .map(({ id, metadata }) => computeLongestLength(resource.kind, String(id), String(metadata)));
        expect(lengths).toEqual([4096]);
      },
    );
    await holds(property, 15);
  });
});

/** The length of metadata if its mark names the resource, its former name and, for a kind with rotation, the retiring one. */
function computeLongestLength(kind: string, id: string, metadata: string): number {
  const { user, mark } = splitMetadata(metadata);
  const retires = { id, at: '9999-12-31T23:59:59Z' };
  const former = { name: LONGEST_NAME, stack: LONGEST_NAME };
  return computeUtf8ByteLength(
    renderMetadata(user, {
      ...assertDefined(mark, 'mark'),
      id,
      former,
      adopted: true,
      ...(isRotatable(getKind(kind)) && { retires }),
    }),
  );
}

function toUser(metadata: unknown): string | JsonObject {
  return isJsonObject(metadata) ? metadata : String(metadata);
}

function arbitraryMark(): fc.Arbitrary<Mark> {
  const digest = fc.constantFrom('', 'k3f9aQ', '______', '-_-_-_');
  return fc.record({
    stack: fc.constantFrom(...NAMES),
    name: fc.constantFrom(...NAMES),
    protect: fc.boolean(),
    delivered: fc.boolean(),
    former: fc.constantFrom(undefined, { name: 'old' }, { name: 'old', stack: 'other' }),
    fields: fc.array(fc.tuple(fc.constantFrom('hostports', 'policy', 'metadata'), digest)).map(Object.fromEntries),
  });
}

/** The resource with metadata of the greatest length. */
function fillMetadata(resource: TestResource, letter: string): TestResource {
  const padTo = (length: number, rest: number): TestResource => ({
    ...resource,
    spec: { ...resource.spec, metadata: { pad: letter.repeat(length) + 'x'.repeat(rest) } },
  });
  const length = findLargest((count) => fits(padTo(count, 0)));
  return padTo(
    length,
    findLargest((count) => fits(padTo(length, count))),
  );
}

/** The largest number up to 4096 for which a condition holds. It must hold for all smaller numbers. */
function findLargest(holdsFor: (count: number) => boolean): number {
  let [low, high] = [0, 4096];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (holdsFor(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

function fits({ kind, name, spec, lifecycle }: TestResource): boolean {
  const found = OWNED_KINDS.filter((candidate) => candidate.name === kind).map((candidate) =>
    findMetadataFinding({
      kind: candidate,
      stack: STACK_NAME,
      name,
      spec,
      lifecycle: { adopt: undefined, settings: {}, ...lifecycle },
      isValid: true,
    }),
  );
  return found.every((problem) => problem === undefined);
}
