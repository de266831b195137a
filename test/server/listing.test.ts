import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PagedList } from '../../src/server/store.ts';

interface Value {
  readonly id: string;
  readonly version: number;
}

function createListing(count: number): PagedList<Value> {
  const listing = new PagedList<Value>();
  for (let index = 0; index < count; index += 1) listing.add({ id: `x${index}`, version: 0 });
  return listing;
}

function toIds(values: readonly Value[]): string[] {
  return values.map(({ id }) => id);
}

describe('a listing', () => {
  it('does what a plain array of values does', () => {
    const change = fc.record({
      act: fc.constantFrom('add', 'replace', 'remove', 'page'),
      id: fc.nat(20),
      limit: fc.integer({ min: 1, max: 5 }),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 80 }), (changes) => {
        const listing = new PagedList<Value>();
        let plain: Value[] = [];
        for (const { act, id: number, limit } of changes) {
          const id = `x${number}`;
          const isThere = plain.some((value) => value.id === id);
          if (act === 'add' && !isThere) {
            listing.add({ id, version: 0 });
            plain.push({ id, version: 0 });
          } else if (act === 'replace') {
            listing.replace({ id, version: limit });
            plain = plain.map((value) => (value.id === id ? { id, version: limit } : value));
          } else if (act === 'remove') {
            listing.remove(id);
            plain = plain.filter((value) => value.id !== id);
          } else if (isThere) {
            const older = plain
              .slice(
                0,
                plain.findIndex((value) => value.id === id),
              )
              .reverse();
            expect(listing.listBefore(id, limit)).toEqual(older.slice(0, limit));
          }
          expect(listing.find(id)).toEqual(plain.find((value) => value.id === id));
          expect(listing.listAll()).toEqual(plain);
        }
      }),
    );
  });

  it('goes on from where something was that is gone', () => {
    const listing = createListing(5);
    listing.remove('x3');
    listing.remove('x2');
    expect(toIds(listing.listBefore('x3', 5))).toEqual(['x1', 'x0']);
    expect(toIds(listing.listBefore(undefined, 2))).toEqual(['x4', 'x1']);
  });

  it('goes on from any of thousands that are gone, and keeps the order of the rest', () => {
    const count = 3000;
    const listing = createListing(count);
    for (let index = 0; index < count; index += 1) if (index % 3 !== 0) listing.remove(`x${index}`);
    expect(listing.listAll()).toHaveLength(count / 3);
    expect(toIds(listing.listBefore('x2999', 2))).toEqual(['x2997', 'x2994']);
    expect(toIds(listing.listBefore('x1', 2))).toEqual(['x0']);
    listing.add({ id: 'new', version: 0 });
    expect(toIds(listing.listBefore(undefined, 3))).toEqual(['new', 'x2997', 'x2994']);
    expect(toIds(listing.listBefore('x2994', 2))).toEqual(['x2991', 'x2988']);
    expect(toIds(listing.listBefore('x0', 2))).toEqual([]);
  });

  it('finds the place of what is gone and came back', () => {
    const listing = createListing(3);
    listing.remove('x1');
    listing.add({ id: 'x1', version: 1 });
    expect(toIds(listing.listBefore('x1', 5))).toEqual(['x2', 'x0']);
    expect(toIds(listing.listBefore(undefined, 1))).toEqual(['x1']);
  });

  it('forgets in the end, what was removed first at first', () => {
    const listing = createListing(100_002);
    for (let index = 0; index < 100_001; index += 1) listing.remove(`x${index}`);
    expect(['x0', 'x1', 'x100001'].map((id) => listing.canPageFrom(id))).toEqual([false, true, true]);
  });
});
