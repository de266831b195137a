/** One broken place in a source. */
export interface Mutant {
  /** Relative to the checkout. */
  readonly file: string;
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly from: string;
  readonly to: string;
}

/** Creates a mutant that replaces a part of a source. `start`, `end`: in UTF-16 units. */
export function createMutant(
  file: string,
  source: string,
  { start, end, to }: Pick<Mutant, 'start' | 'end' | 'to'>,
): Mutant {
  const line = source.slice(0, start).split('\n').length;
  return { file, line, start, end, from: source.slice(start, end), to };
}

/** Returns the source of a file with its mutant. */
export function applyMutant(source: string, { start, end, to }: Mutant): string {
  return `${source.slice(0, start)}${to}${source.slice(end)}`;
}

export function isSameMutant(
  a: Pick<Mutant, 'file' | 'from' | 'to'>,
  b: Pick<Mutant, 'file' | 'from' | 'to'>,
): boolean {
  return a.file === b.file && a.from === b.from && a.to === b.to;
}

/** A generator of numbers from 0 to below 1, by mulberry32: the same seed draws the same mutants. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Draws up to `count` members that are accepted: each is as likely as every other. */
export function drawFrom<One>(
  all: readonly One[],
  count: number,
  { random, accepts = () => true }: { readonly random: () => number; readonly accepts?: (one: One) => boolean },
): readonly One[] {
  const left = [...all];
  const drawn: One[] = [];
  while (drawn.length < count && left.length > 0) {
    const [one] = left.splice(Math.floor(random() * left.length), 1);
    if (one !== undefined && accepts(one)) drawn.push(one);
  }
  return drawn;
}
