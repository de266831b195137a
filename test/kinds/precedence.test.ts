import { describe, expect, it } from 'vitest';
import type { Kind } from '../../src/kinds/kind.ts';
import {
  findRetirements,
  isDeliveryInDoubt,
  isProtectedOriginal,
  sortByPrecedence,
} from '../../src/kinds/precedence.ts';
import { getKind } from '../../src/kinds/tables/registry.ts';
import { isCopiedMark, type Mark } from '../../src/model/mark.ts';
import type { LiveResource } from '../../src/model/state.ts';

const EDGE = getKind('TCPEdge');
const CREDENTIAL = getKind('Credential');

interface Described extends Partial<Mark> {
  /** The id of the resource. */
  readonly of: string;
  /** Seconds after the first one. */
  readonly age?: number;
}

function createLive({ of, age = 0, ...mark }: Described): LiveResource {
  return {
    kind: 'any',
    id: of,
    createdAt: `2026-03-01T12:00:${String(age).padStart(2, '0')}Z`,
    spec: {},
    mark: { stack: 's', name: 'n', protect: false, delivered: false, fields: {}, ...mark },
    markError: undefined,
    computed: {},
  };
}

function pickKept(kind: typeof EDGE, described: readonly Described[]): string | undefined {
  return sortByPrecedence(kind, described.map(createLive))[0]?.id;
}

describe('the one kept of several edges with one mark', () => {
  it.each<[string, string, readonly Described[]]>([
    [
      'is the older one if no mark names an id',
      'a',
      [
        { of: 'b', age: 1 },
        { of: 'a', age: 0 },
      ],
    ],
    [
      'is not the one whose mark names another',
      'b',
      [
        { of: 'a', id: 'b', age: 0 },
        { of: 'b', age: 1 },
      ],
    ],
    [
      'is no copy that claims protection',
      'b',
      [
        { of: 'a', id: 'b', protect: true },
        { of: 'b', age: 1 },
      ],
    ],
    ['is the older one, although the mark of the younger names it', 'a', [{ of: 'b', id: 'b', age: 1 }, { of: 'a' }]],
    ['is that with the lower id if both are of one second', 'a', [{ of: 'b' }, { of: 'a' }]],
  ])('%s', (_, kept, described) => {
    expect(pickKept(EDGE, described)).toBe(kept);
    expect(pickKept(EDGE, described.toReversed())).toBe(kept);
  });
});

describe('the one kept of several credentials with one mark', () => {
  it.each<[string, string, readonly Described[]]>([
    ['is the delivered one', 'b', [{ of: 'a' }, { of: 'b', delivered: true, age: 1 }]],
    [
      'is the older one if no mark names an id',
      'a',
      [
        { of: 'a', delivered: true },
        { of: 'b', delivered: true, age: 1 },
      ],
    ],
    [
      'is the one that its mark names, not a younger one whose mark names none',
      'a',
      [
        { of: 'a', id: 'a', delivered: true },
        { of: 'b', delivered: true, age: 1 },
      ],
    ],
    [
      'is the younger one if the mark of each names it',
      'b',
      [
        { of: 'a', id: 'a', delivered: true },
        { of: 'b', id: 'b', delivered: true, age: 1 },
      ],
    ],
    [
      'is not delivered rather than a copy that says that it is',
      'a',
      [{ of: 'a' }, { of: 'b', id: 'x', delivered: true, protect: true, age: 1 }],
    ],
  ])('%s', (_, kept, described) => {
    expect(pickKept(CREDENTIAL, described)).toBe(kept);
    expect(pickKept(CREDENTIAL, described.toReversed())).toBe(kept);
  });
});

/** Every resource with this id: younger or older, delivered or not, with a mark that names it, another one or none. */
function listAllLive(of: string): readonly LiveResource[] {
  return [{}, { id: of }, { id: 'another' }].flatMap((named) =>
    [0, 1].flatMap((age) => [false, true].map((delivered) => createLive({ of, age, delivered, ...named }))),
  );
}

describe('the order of any three resources with one mark', () => {
  const [a = [], b = [], c = []] = ['a', 'b', 'c'].map(listAllLive);
  const triples = a.flatMap((first) => b.flatMap((second) => c.map((third) => [first, second, third] as const)));

  it.each([EDGE, CREDENTIAL])('does not depend on the order of the list, and has copies last: $name', (kind) => {
    expect(triples).toHaveLength(12 ** 3);
    for (const [first, second, third] of triples) {
      const sorted = sortByPrecedence(kind, [first, second, third]);
      expect(sortByPrecedence(kind, [third, second, first])).toEqual(sorted);
      expect(sortByPrecedence(kind, [second, third, first])).toEqual(sorted);
      const copies = sorted.map((live) => Number(isCopiedMark(live)));
      expect(copies).toEqual(copies.toSorted());
    }
  });
});

describe('the token that was delivered last is', () => {
  const old = createLive({ of: 'a', id: 'a', delivered: true });
  it.each<[string, boolean, Described, LiveResource]>([
    ['known if the mark names what the credential replaced', false, { of: 'b', id: 'b', replaces: 'a' }, old],
    ['unknown if two applies delivered one each', true, { of: 'b', id: 'b' }, old],
    ['unknown beside one that was not delivered', true, { of: 'b', id: 'b' }, createLive({ of: 'a' })],
    ['known beside a copy', false, { of: 'b', id: 'b' }, createLive({ of: 'a', id: 'b', delivered: true })],
    ['known beside one whose mark names none', false, { of: 'b', id: 'b' }, createLive({ of: 'a', delivered: true })],
  ])('%s', (_, inDoubt, kept, duplicate) => {
    const live = createLive({ ...kept, delivered: true, age: 1 });
    expect(isDeliveryInDoubt(CREDENTIAL, live, [duplicate])).toBe(inDoubt);
    expect(isDeliveryInDoubt(EDGE, live, [duplicate])).toBe(false);
  });
});

function isOriginalOf(kind: Kind, duplicate: LiveResource, kept: LiveResource): boolean {
  return isProtectedOriginal(kind, { duplicate, kept, isProtected: duplicate.mark?.protect === true });
}

describe('a duplicate may be the protected original', () => {
  const kept = createLive({ of: 'k', age: 1 });
  it.each<[boolean, string, Described]>([
    [true, 'if its mark names it', { of: 'd', id: 'd', age: 2, protect: true }],
    [true, 'if it is older', { of: 'd', age: 0, protect: true }],
    [true, 'if it is of the same second', { of: 'd', age: 1, protect: true }],
    [false, 'if it is younger', { of: 'd', age: 2, protect: true }],
    [false, 'if it is not protected', { of: 'd', id: 'd', age: 0 }],
    [false, 'if its mark is a copy', { of: 'd', id: 'k', age: 0, protect: true }],
  ])('%s: %s', (isOriginal, _, duplicate) => {
    expect(isOriginalOf(EDGE, createLive(duplicate), kept)).toBe(isOriginal);
  });

  it('unless it is a credential without a delivered token', () => {
    const duplicate = createLive({ of: 'd', age: 0, protect: true });
    expect(isOriginalOf(CREDENTIAL, duplicate, kept)).toBe(false);
    expect(isOriginalOf(CREDENTIAL, { ...duplicate, mark: { ...duplicate.mark, delivered: true } as Mark }, kept)).toBe(
      true,
    );
  });
});

describe('a resource that the mark of another one retires', () => {
  const at = '2026-03-01T13:00:00Z';
  const toEdge = (described: Described): LiveResource => ({ ...createLive(described), kind: 'TCPEdge' });
  const listRetired = (...described: readonly Described[]) =>
    Array.from(findRetirements(described.map(toEdge)).keys(), ({ id }) => id);
  const by: Described = { of: 'new', retires: { id: 'old', at } };

  it('retires if it has the same stack and name', () => {
    expect(listRetired(by, { of: 'old' })).toEqual(['old']);
  });

  it.each<[string, readonly Described[]]>([
    ['it belongs to another stack', [by, { of: 'old', stack: 'other' }]],
    ['it has another name', [by, { of: 'old', name: 'other' }]],
    ['it is the resource with the mark', [{ of: 'old', retires: { id: 'old', at } }]],
    ['the mark is a copy', [{ ...by, id: 'original' }, { of: 'old' }]],
    ['its own mark is a copy', [by, { of: 'old', id: 'original' }]],
  ])('is left alone if %s', (_, described) => {
    expect(listRetired(...described)).toEqual([]);
  });
});
