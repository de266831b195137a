import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SortedList } from '../../../src/server/store.ts';

interface Value {
  readonly id: string;
  readonly version: number;
}

it('a sorted list finds, replaces, removes and lists as a sorted array does', () => {
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
