import { hash } from 'node:crypto';

/** Random values from one seed: the same calls return the same values. */
export interface SeededRandom {
  /** 0 to 1, without 1. */
  readonly next: () => number;
  /** A whole number from `min` to `max`, both included. */
  readonly int: (min: number, max: number) => number;
  readonly isLucky: (probability: number) => boolean;
  readonly pick: <T>(list: readonly [T, ...T[]]) => T;
  /** Any member of a list; `undefined` if it is empty. */
  readonly pickAny: <T>(list: readonly T[]) => T | undefined;
  /** A list in any order. */
  readonly shuffle: <T>(list: readonly T[]) => readonly T[];
  /** A generator of its own, which calls of this one do not change. */
  readonly fork: (purpose: string) => SeededRandom;
}

export function createRandom(seed: string): SeededRandom {
  let state = Number.parseInt(hash('sha256', seed).slice(0, 8), 16) | 1;
  const next = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  const int = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    int,
    isLucky: (probability) => next() < probability,
    pick: (list) => list[int(0, list.length - 1)] ?? list[0],
    pickAny: (list) => list[int(0, Math.max(0, list.length - 1))],
    shuffle: (list) =>
      list
        .map((member) => ({ member, rank: next() }))
        .sort((left, right) => left.rank - right.rank)
        .map(({ member }) => member),
    fork: (purpose) => createRandom(`${seed} ${purpose}`),
  };
}
