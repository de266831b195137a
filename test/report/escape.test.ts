import fc from 'fast-check';
import { expect, test } from 'vitest';
import { quoteIfNeeded, quoteText, toPrintableLines } from '../../src/report/view/escape.ts';

test('quotes text as JSON', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(JSON.parse(quoteText(text))).toBe(text);
    }),
  );
});

test.each(['a', 'TCPEdge/a@edgtcp_2', '*', 'bind:*.example.com', '10.0.0.0/8', '::1', './tokens', 'key=*'])(
  'accepts %s as a word',
  (text) => {
    expect(quoteIfNeeded(text)).toBe(text);
  },
);

test.each(['', 'a b', '-x', '+x', '(none)', 'a"', 'ü', 'a\nb', '…'])('quotes %j where a word is expected', (text) => {
  expect(quoteIfNeeded(text)).toBe(JSON.stringify(text));
});

test('keeps a carriage return in lines', () => {
  expect(toPrintableLines('a\r\nb\n\rc')).toEqual(['a\\r', 'b', '\\rc']);
});
