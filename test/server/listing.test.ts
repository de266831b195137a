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
  it('has the last value of each id, sorted by id, in any order of the puts', () => {
    const listing = new SortedList<Value>();
    for (const id of ['x2', 'x0', 'x4', 'x1', 'x3']) listing.put({ id, version: 1 });
    for (const id of ['x2', 'x4']) listing.put({ id, version: 2 });
    for (const id of ['x1', 'x1', 'x9', '']) listing.remove(id);
    expect(listing.listAll().map(({ id, version }) => `${id} ${version}`)).toEqual(['x0 1', 'x2 2', 'x3 1', 'x4 2']);
    expect(['x0', 'x1', 'x2', 'x3', 'x4', 'x9'].map((id) => listing.find(id)?.version)).toEqual([
      ...[1, undefined, 2, 1, 2, undefined],
    ]);
  });

  it.each([
    [undefined, 2, ['x4', 'x3']],
    [undefined, 9, ['x4', 'x3', 'x2', 'x0']],
    ['x9', 1, ['x4']],
    ['x4', 2, ['x3', 'x2']],
    ['x1', 1, ['x0']],
    ['x3', 3, ['x2', 'x0']],
    ['x0', 5, []],
  ])('lists before %s at most %i of x0, x2, x3 and x4, newest first', (before, limit, expected) => {
    const listing = new SortedList<Value>();
    for (const id of ['x3', 'x0', 'x4', 'x2']) listing.put({ id, version: 1 });
    expect(toIds(listing.listBefore(before, limit))).toEqual(expected);
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
