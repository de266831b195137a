import { expect, test } from 'vitest';
import { hardWrapWithPrefix, padToWidth, wrapProse, wrapWithPrefix } from '../../src/report/text/layout.ts';
import { clipToColumns, countColumns } from '../../src/report/view/escape.ts';
import { formatCount } from '../../src/report/view/wording.ts';

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

const TEXT = 'Each change of an edge with a wide 日本 name, and é, is shown on lines that fit.';

test.each([
  [40, 4, ['label: Each change of an edge with a', '    wide 日本 name, and é, is shown on', '    lines that fit.']],
  [41, 4, ['label: Each change of an edge with a wide', '    日本 name, and é, is shown on lines', '    that fit.']],
  [46, 0, ['label: Each change of an edge with a wide 日本', 'name, and é, is shown on lines that fit.']],
  [0, 4, [`label: ${TEXT}`]],
])('wraps prose after a prefix to %i columns, with an indent of %i', (width, rest, lines) => {
  expect(wrapWithPrefix('label: ', TEXT, { width, rest })).toEqual(lines);
});

test('wraps to at least 20 columns', () => {
  expect(wrapProse(TEXT, 5, { first: 0, rest: 4 })).toEqual([
    'Each change of an',
    'edge with a wide',
    '日本 name, and é, is',
    'shown on lines that',
    'fit.',
  ]);
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

test.each([
  ['a short text', ['    + a short text']],
  [
    'words that are broken after a space, if there is one',
    ['    + words that are broken after a ', '    ↪ space, if there is one'],
  ],
  ['x'.repeat(70), [`    + ${'x'.repeat(34)}`, `    ↪ ${'x'.repeat(34)}`, '    ↪ xx']],
  [`abcde ${'日'.repeat(20)}`, [`    + abcde ${'日'.repeat(14)}`, `    ↪ ${'日'.repeat(6)}`]],
])('breaks %j to 40 columns, and keeps every character', (text, lines) => {
  expect(hardWrapWithPrefix('    + ', text, { width: 40, rest: 4 })).toEqual(lines);
  expect(lines.map((line) => line.slice(6)).join('')).toBe(text);
});
