import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parseSizes, SIZES } from './sizes.ts';

it('the bench takes whole numbers above zero, and nothing else', () => {
  expect(parseSizes([])).toEqual(SIZES);
  expect(parseSizes(['7', '1000'])).toEqual([7, 1000]);
  for (const word of ['x', '0', '-1', '1.5', '']) expect(() => parseSizes([word])).toThrow(RangeError);
});

it('the documentation has rows for each size that is measured', () => {
  const rows = readFileSync('docs/benchmarks.md', 'utf8').split('\n');
  const counts = SIZES.map((size) => rows.filter((row) => row.startsWith(`| ${size.toLocaleString('en')} |`)).length);
  expect(counts).toEqual(SIZES.map(() => 3));
});
