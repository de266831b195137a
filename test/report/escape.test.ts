import fc from 'fast-check';
import { expect, test } from 'vitest';
import { quoteIfNeeded, quoteText, toPrintableLines } from '../../src/report/view/escape.ts';

test('quoted text is JSON of the same text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(JSON.parse(quoteText(text))).toBe(text);
    }),
  );
});

test.each(['a', 'TCPEdge/a@edgtcp_2', '*', 'bind:*.example.com', '10.0.0.0/8', '::1', './tokens', 'key=*'])(
  '%s is a word',
  (text) => {
    expect(quoteIfNeeded(text)).toBe(text);
  },
);

test.each(['', 'a b', '-x', '+x', '(none)', 'a"', 'ü', 'a\nb', '…'])('%j is quoted where a word is wanted', (text) => {
  expect(quoteIfNeeded(text)).toBe(JSON.stringify(text));
});

test('a carriage return is not lost where lines are shown', () => {
  expect(toPrintableLines('a\r\nb\n\rc')).toEqual(['a\\r', 'b', '\\rc']);
});
