import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findWay, sort } from '../../src/model/sort.ts';
import { SEED, toTries } from '../tries.ts';

describe('nodes that are sorted by what they need', () => {
  it('are each once in the order, and in a circle with exactly those that need each other', () => {
    holds(({ nodes, listNeeds }) => {
      const { ordered, circles } = sort(nodes, listNeeds);
      expect(ordered.toSorted(byNumber)).toEqual(nodes.toSorted(byNumber));
      const isInCircle = (left: number, right: number) => leadsTo(left, right) && leadsTo(right, left);
      const leadsTo = (from: number, to: number) => findWay(from, to, listNeeds) !== undefined;
      for (const node of nodes) {
        const own = circles.filter((members) => members.includes(node)).flat();
        expect(own.toSorted(byNumber)).toEqual(nodes.filter((other) => isInCircle(node, other)).toSorted(byNumber));
      }
    });
  });

  it('come after what they need, except for those in one circle', () => {
    holds(({ nodes, listNeeds }) => {
      const { ordered, circles } = sort(nodes, listNeeds);
      for (const [at, node] of ordered.entries()) {
        const later = ordered.slice(at + 1).filter((other) => listNeeds(node).includes(other));
        const circle = circles.find((members) => members.includes(node)) ?? [];
        expect(circle).toEqual(expect.arrayContaining(later));
      }
    });
  });

  it('keep an order that is right', () => {
    holds(({ nodes, listNeeds }) => {
      const listEarlier = (node: number) =>
        listNeeds(node).filter((needed) => nodes.indexOf(needed) < nodes.indexOf(node));
      expect(sort(nodes, listEarlier)).toEqual({ ordered: nodes, circles: [] });
    });
  });

  it('do not need what is not among them', () => {
    expect(sort([1, 2], () => [3])).toEqual({ ordered: [1, 2], circles: [] });
  });

  it('can be a chain or a circle of a hundred thousand', () => {
    const nodes = Array.from({ length: 100_000 }, (_, at) => at);
    const chain = sort(nodes, (node) => [node + 1]);
    expect(chain.ordered).toEqual(nodes.toReversed());
    expect(chain.circles).toEqual([]);
    const { circles } = sort(nodes, (node) => [(node + 1) % nodes.length]);
    expect(circles.map((members) => members.length)).toEqual([nodes.length]);
  });
});

describe('the way from one node to another', () => {
  it('goes over needs, and is as long as the fewest of them that lead there', () => {
    holds(({ nodes, listNeeds }) => {
      for (const from of nodes)
        for (const to of nodes) {
          const way = findWay(from, to, listNeeds);
          expect(way?.length).toBe(countSteps(from, to, listNeeds, nodes.length));
          expect(way === undefined || isWay([from, ...way], listNeeds)).toBe(true);
          expect(way?.at(-1)).toBe(way && to);
        }
    });
  });
});

type ListNeeds = (node: number) => readonly number[];

interface Graph {
  readonly nodes: readonly number[];
  readonly listNeeds: ListNeeds;
}

function holds(check: (graph: Graph) => void): void {
  const node = fc.nat(7);
  const property = fc.property(
    fc.uniqueArray(node, { minLength: 1 }),
    fc.array(fc.tuple(node, node), { maxLength: 14 }),
    (nodes, edges) => {
      const known = edges.filter((edge) => edge.every((one) => nodes.includes(one)));
      check({ nodes, listNeeds: (from) => known.flatMap(([at, to]) => (at === from ? [to] : [])) });
    },
  );
  fc.assert(property, { seed: SEED, numRuns: toTries(1000) });
}

/** Counts the steps to a node by trying all nodes that one, two, three … steps lead to. */
function countSteps(from: number, to: number, listNeeds: ListNeeds, most: number): number | undefined {
  let reached: readonly number[] = [from];
  for (let steps = 1; steps <= most; steps += 1) {
    reached = reached.flatMap(listNeeds);
    reached = [...new Set(reached)];
    if (reached.includes(to)) return steps;
  }
  return undefined;
}

function isWay(way: readonly number[], listNeeds: ListNeeds): boolean {
  return way.slice(1).every((node, at) => listNeeds(way[at] ?? -1).includes(node));
}

function byNumber(left: number, right: number): number {
  return left - right;
}
