import { assertDefined } from './errors.ts';

export interface Sorted<T> {
  /** Each node after those that it needs, otherwise in the given order. Within a circle, no order is right. */
  readonly ordered: readonly T[];
  /** The groups of nodes that need each other, also over other nodes, and the single nodes that need themselves. */
  readonly circles: readonly (readonly [T, ...T[]])[];
}

/** Lists the nodes that a node needs. */
type ListNeeds<T> = (node: T) => Iterable<T>;

/**
 * Sorts nodes by what they need (Tarjan's algorithm). Ignores needs that are not among the nodes. The path is a list
 * instead of recursion, because a chain can be as long as a stack is large.
 */
export function sort<T>(nodes: Iterable<T>, listNeeds: ListNeeds<T>): Sorted<T> {
  const all = new Set(nodes);
  const ordered: T[] = [];
  const circles: [T, ...T[]][] = [];
  const path: Visit<T>[] = [];
  /** The visited nodes whose circle is not complete, in the order of their visits. */
  const open: T[] = [];
  /** The number of the first open node to which a visited node leads. */
  const firsts = new Map<T, number>();
  const enter = (node: T): void => {
    const number = firsts.size;
    firsts.set(node, number);
    path.push({ node, number, depth: open.push(node) - 1, needs: listNeeds(node)[Symbol.iterator](), isLoop: false });
  };
  const followFirst = (node: T, needed: T): void => {
    firsts.set(node, Math.min(assertDefined(firsts.get(node), 'node'), assertDefined(firsts.get(needed), 'need')));
  };
  const leave = ({ node, number, depth, isLoop }: Visit<T>): void => {
    ordered.push(node);
    if (firsts.get(node) !== number) return;
    const [, ...others] = open.splice(depth);
    for (const member of [node, ...others]) firsts.set(member, Number.POSITIVE_INFINITY);
    if (isLoop || others.length > 0) circles.push([node, ...others]);
  };
  for (const start of all) {
    if (!firsts.has(start)) enter(start);
    for (let visit = path.at(-1); visit !== undefined; visit = path.at(-1)) {
      const { node } = visit;
      const { done, value: needed } = visit.needs.next();
      if (done === true) {
        path.pop();
        leave(visit);
        const before = path.at(-1);
        if (before !== undefined) followFirst(before.node, node);
      } else if (firsts.has(needed)) {
        visit.isLoop ||= needed === node;
        followFirst(node, needed);
      } else if (all.has(needed)) enter(needed);
    }
  }
  return { ordered, circles };
}

interface Visit<T> {
  readonly node: T;
  readonly number: number;
  readonly depth: number;
  readonly needs: Iterator<T>;
  /** Whether the node needs itself. */
  isLoop: boolean;
}

/**
 * Finds the shortest way from a node over its needs to another one, or back to itself. Returns the nodes of the way,
 * without the first.
 */
export function findWay<T>(from: T, to: T, listNeeds: ListNeeds<T>): readonly [...T[], T] | undefined {
  const before = new Map<T, T | undefined>([[from, undefined]]);
  // The map grows while it is iterated.
  for (const node of before.keys())
    for (const needed of listNeeds(node)) {
      if (needed === to) {
        const way: T[] = [];
        for (let at: T | undefined = node; at !== undefined && at !== from; at = before.get(at)) way.push(at);
        return [...way.reverse(), needed];
      }
      if (!before.has(needed)) before.set(needed, node);
    }
  return undefined;
}
