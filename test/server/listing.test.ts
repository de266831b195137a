import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SortedList } from '../../src/server/store.ts';

interface Value {
  readonly id: string;
  readonly version: number;
}

function toIds(values: readonly Value[]): string[] {
  return values.map(({ id }) => id);
}

describe('a listing', () => {
  it('finds, replaces, removes and lists as a sorted array does', () => {
    const change = fc.record({
      act: fc.constantFrom('put', 'remove', 'page'),
      id: fc.nat(20).map((number) => `x${number}`),
      number: fc.integer({ min: 1, max: 5 }),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 80 }), (changes) => {
        const listing = new SortedList<Value>();
        let plain: Value[] = [];
        for (const { act, id, number } of changes) {
          if (act !== 'page') {
            plain = plain.filter((value) => value.id !== id);
            if (act === 'put') plain.push({ id, version: number });
            if (act === 'put') listing.put({ id, version: number });
            else listing.remove(id);
          }
          plain.sort((one, other) => (one.id < other.id ? -1 : 1));
          const older = plain.filter((value) => value.id < id).reverse();
          expect(listing.listBefore(id, number)).toEqual(older.slice(0, number));
          expect(listing.listBefore(undefined, number)).toEqual(plain.toReversed().slice(0, number));
          expect(listing.find(id)).toEqual(plain.find((value) => value.id === id));
          expect(listing.listAll()).toEqual(plain);
        }
      }),
    );
  });

  it('continues from the place of a removed value', () => {
    const listing = new SortedList<Value>();
    for (let index = 0; index < 5; index += 1) listing.put({ id: `x${index}`, version: 0 });
    listing.remove('x3');
    listing.remove('x2');
    expect(toIds(listing.listBefore('x3', 5))).toEqual(['x1', 'x0']);
    expect(toIds(listing.listBefore(undefined, 2))).toEqual(['x4', 'x1']);
  });
});
