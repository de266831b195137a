import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toPrintable, toPrintableLines, toQuoted, toWord } from '../../src/report/escape.ts';

test.each([
  ['\u001b[31m', '\\u001b[31m'],
  ['\u0000\u0007\u007f', '\\u0000\\u0007\\u007f'],
  ['\u0085\u009b', '\\u0085\\u009b'],
  ['\u202e\u2066\u200f', '\\u202e\\u2066\\u200f'],
  ['\u200b\u200d\u2060\ufeff\u00ad', '\\u200b\\u200d\\u2060\\ufeff\\u00ad'],
  ['\u2028\u2029', '\\u2028\\u2029'],
  ['\ud800x\udc00', '\\ud800x\\udc00'],
  ['\u{e0041}', '\\udb40\\udc41'],
  ['\u3164\ufe0f', '\\u3164\\ufe0f'],
  ['a\r\n\tb', 'a\\r\\n\\tb'],
])('%j is shown as %s', (text, shown) => {
  expect(toPrintable(text)).toBe(shown);
});

test.each(['plain text', 'ünïcode → 日本 😀', '\\u001b', '"quoted"'])('%s is shown as it is', (text) => {
  expect(toPrintable(text)).toBe(text);
});

test('escaping twice is escaping once', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => toPrintable(toPrintable(text)) === toPrintable(text)));
});

test('quoted text is JSON of the same text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(JSON.parse(toQuoted(text))).toBe(text);
    }),
  );
});

test.each(['a', 'TCPEdge/a@edgtcp_2', '*', 'bind:*.example.com', '10.0.0.0/8', '::1', './tokens', 'key=*'])(
  '%s is a word',
  (text) => {
    expect(toWord(text)).toBe(text);
  },
);

test.each(['', 'a b', '-x', '+x', '(none)', 'a"', 'ü', 'a\nb', '…'])('%j is quoted where a word is wanted', (text) => {
  expect(toWord(text)).toBe(JSON.stringify(text));
});

test('a carriage return is not lost where lines are shown', () => {
  expect(toPrintableLines('a\r\nb\n\rc')).toEqual(['a\\r', 'b', '\\rc']);
});
