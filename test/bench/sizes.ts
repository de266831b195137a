/** How many TCP edges are measured when nobody says it: docs/benchmarks.md has rows for each. */
export const SIZES: readonly number[] = [100, 1_000, 10_000];

/** The sizes that a command line asks for. Throws `RangeError` on anything but whole numbers above zero. */
export function parseSizes(words: readonly string[]): readonly number[] {
  const sizes = words.map(Number);
  const wrong = words.find((_, index) => !Number.isInteger(sizes[index]) || (sizes[index] ?? 0) < 1);
  if (wrong !== undefined)
    throw new RangeError(`npm run bench -- EDGES… takes whole numbers above zero, server or rehearsal, not ${wrong}`);
  return sizes.length === 0 ? SIZES : sizes;
}
