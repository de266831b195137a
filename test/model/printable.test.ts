import { expect, test } from 'vitest';
import { toPrintable } from '../../src/model/printable.ts';

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
  ['Postgres\u2800', 'Postgres\\u2800'],
  ['\ufffe\u{1ffff}', '\\ufffe\\ud83f\\udfff'],
  ['a\r\n\tb', 'a\\r\\n\\tb'],
])('shows %j as %s, and that unchanged', (text, shown) => {
  expect(toPrintable(text)).toBe(shown);
  expect(toPrintable(shown)).toBe(shown);
});

test.each(['plain text', 'ünïcode → 日本 😀', '\\u001b', '"quoted"'])('shows %s unchanged', (text) => {
  expect(toPrintable(text)).toBe(text);
});
