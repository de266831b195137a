import { expect, test } from 'vitest';
import { quoteIfNeeded, quoteText, toPrintableLines } from '../../src/report/view/escape.ts';

test.each([
  ['', '""'],
  ['a "b" \\n', '"a \\"b\\" \\\\n"'],
  ['ü → 🙂', '"ü → 🙂"'],
  ['\u001b[31m\n\u0000', '"\\u001b[31m\\n\\u0000"'],
  ['\u202e\u200b\u2028\ud800', '"\\u202e\\u200b\\u2028\\ud800"'],
])('quotes %j as JSON that can be printed', (text, quoted) => {
  expect(quoteText(text)).toBe(quoted);
  expect(JSON.parse(quoted)).toBe(text);
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
