import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatPath, parsePath } from '../../../src/model/field-path.ts';
import { toPrintable } from '../../../src/model/printable.ts';
import { hardWrapWithPrefix, wrapProse, wrapWithPrefix } from '../../../src/report/text/layout.ts';
import { countColumns, quoteText } from '../../../src/report/view/escape.ts';

const anyText = fc.string({ unit: 'binary' });

test('printable text is printed unchanged', () => {
  fc.assert(fc.property(anyText, (text) => toPrintable(toPrintable(text)) === toPrintable(text)));
});

test('quoted text is JSON with the same value', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(JSON.parse(quoteText(text))).toBe(text);
    }),
  );
});

test('a formatted path is parsed as the same path', () => {
  const step = fc.oneof(fc.nat(), anyText, fc.constantFrom('a.b', '[0]', '"', '0', '', 'a\\"b'));
  fc.assert(
    fc.property(fc.array(step), (path) => {
      expect(parsePath(formatPath(path))).toEqual(path);
    }),
  );
});

const word = fc.string({ unit: fc.constantFrom(...'abcdefgh.,-日é'), minLength: 1, maxLength: 9 });
const prose = fc.array(word, { minLength: 1, maxLength: 40 }).map((words) => words.join(' '));

test('wrapped prose fits the width of the terminal', () => {
  fc.assert(
    fc.property(prose, fc.integer({ min: 40, max: 120 }), fc.nat({ max: 20 }), (text, width, rest) => {
      for (const line of wrapWithPrefix('label: ', text, { width, rest }))
        expect(countColumns(line)).toBeLessThanOrEqual(width);
    }),
  );
});

test('wrapped prose has every word', () => {
  fc.assert(
    fc.property(prose, fc.integer({ min: 0, max: 60 }), (text, width) => {
      expect(wrapProse(text, width, { first: 0, rest: 4 }).join(' ')).toBe(text);
    }),
  );
});

test('broken lines have every character, and fit', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'ab "日é'), maxLength: 200 }), (text) => {
      const lines = hardWrapWithPrefix('    + ', text, { width: 40, rest: 4 });
      for (const line of lines) expect(countColumns(line)).toBeLessThanOrEqual(40);
      expect(lines.map((line) => line.slice(6)).join('')).toBe(text);
      for (const line of lines.slice(1)) expect(line).toMatch(/^ {4}↪ /);
    }),
  );
});
