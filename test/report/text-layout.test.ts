import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hardWrapWithPrefix, padToWidth, wrapProse, wrapWithPrefix } from '../../src/report/text/layout.ts';
import { clipToColumns, countColumns } from '../../src/report/view/escape.ts';
import { formatCount } from '../../src/report/view/wording.ts';

const word = fc.string({ unit: fc.constantFrom(...'abcdefgh.,-日é'), minLength: 1, maxLength: 9 });
const prose = fc.array(word, { minLength: 1, maxLength: 40 }).map((words) => words.join(' '));

test('counts two columns for wide characters and none for combining marks', () => {
  expect(countColumns('abc')).toBe(3);
  expect(countColumns('日本')).toBe(4);
  expect(countColumns('e\u0301')).toBe(1);
  expect(countColumns('😀')).toBe(2);
  expect(countColumns('± → …')).toBe(5);
});

test('pads in columns', () => {
  expect(padToWidth('日', 4)).toBe('日  ');
  expect(padToWidth('abcd', 2)).toBe('abcd');
});

test('wraps prose to the width of the terminal', () => {
  fc.assert(
    fc.property(prose, fc.integer({ min: 40, max: 120 }), fc.nat({ max: 20 }), (text, width, rest) => {
      for (const line of wrapWithPrefix('label: ', text, { width, rest }))
        expect(countColumns(line)).toBeLessThanOrEqual(width);
    }),
  );
});

test('loses nothing when it wraps', () => {
  fc.assert(
    fc.property(prose, fc.integer({ min: 0, max: 60 }), (text, width) => {
      expect(wrapProse(text, width, { first: 0, rest: 4 }).join(' ')).toBe(text);
    }),
  );
});

test('does not wrap at width 0', () => {
  expect(wrapProse('word '.repeat(100), 0, { first: 0, rest: 0 })).toHaveLength(1);
});

test('does not break quotes, code and long words', () => {
  const text =
    'Write `hostports: [a, b, c, d, e, f]` or "one two three four five six" or verylongwordthatdoesnotfitanywhere.';
  expect(wrapProse(text, 20, { first: 0, rest: 0 })).toEqual([
    'Write',
    '`hostports: [a, b, c, d, e, f]`',
    'or',
    '"one two three four five six"',
    'or',
    'verylongwordthatdoesnotfitanywhere.',
  ]);
});

test('treats an unfinished quote as a word', () => {
  expect(wrapProse('five o"clock in the `morning', 20, { first: 0, rest: 0 })).toEqual([
    'five o"clock in the',
    '`morning',
  ]);
});

test('returns one empty line for an empty text', () => {
  expect(wrapWithPrefix('help: ', '', { width: 40, rest: 2 })).toEqual(['help: ']);
});

test('clips to the width and shows that there was more', () => {
  expect(clipToColumns('abcdef', 0)).toBe('abcdef');
  expect(clipToColumns('abcdef', 6)).toBe('abcdef');
  expect(clipToColumns('abcdef', 4)).toBe('abc…');
  expect(clipToColumns('日本日本', 4)).toBe('日…');
});

test('uses the singular for one', () => {
  expect([0, 1, 2].map((number) => formatCount(number, 'request'))).toEqual(['0 requests', '1 request', '2 requests']);
});

test('keeps every character when it breaks, and fits', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'ab "日é'), maxLength: 200 }), (text) => {
      const lines = hardWrapWithPrefix('    + ', text, { width: 40, rest: 4 });
      for (const line of lines) expect(countColumns(line)).toBeLessThanOrEqual(40);
      expect(lines.map((line) => line.slice(6)).join('')).toBe(text);
      for (const line of lines.slice(1)) expect(line).toMatch(/^ {4}↪ /);
    }),
  );
});
