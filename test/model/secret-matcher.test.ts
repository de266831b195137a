import { describe, expect, it } from 'vitest';
import { createPieceMatcher, createSecretMatcher } from '../../src/model/secret-matcher.ts';

const SECRET = '2abC_9xYzQp+7/Lm-4nOpQrStUv';
const BYTES = Buffer.from(SECRET);

function toCodes(prefix: string, radix: number, width: number, suffix = ''): string {
  return Array.from(BYTES, (byte) => prefix + byte.toString(radix).padStart(width, '0') + suffix).join('');
}

const NOTATIONS: readonly (readonly [string, string])[] = [
  ['as it is', SECRET],
  ['URL-encoded', encodeURIComponent(SECRET)],
  ['in base64', BYTES.toString('base64')],
  ['in base64 after other bytes', Buffer.from(`ab${SECRET}yz`).toString('base64url')],
  ['in hexadecimal', BYTES.toString('hex')],
  ['in upper case hexadecimal', BYTES.toString('hex').toUpperCase()],
  ['as codes of a string literal', toCodes('\\x', 16, 2)],
  ['as codes of JSON', toCodes('\\u', 16, 4)],
  ['as octal codes', toCodes('\\', 8, 3)],
];

describe('a matcher of a whole secret', () => {
  const { search, replace } = createSecretMatcher(SECRET);

  it.each(NOTATIONS)('finds it %s', (_, text) => {
    expect(search(`before ${text} after`)).toBeLessThan(15);
    expect(replace(`before ${text} after`, '#')).toMatch(/^before .{0,4}#.{0,5} after$/);
  });

  it.each(['<wbr>', '&#8203;', '\\'])('finds it with what a format inserts between characters: %s', (markup) => {
    const text = `before ${SECRET.slice(0, 9)}${markup}${SECRET.slice(9)} after`;
    expect(search(text)).toBe(7);
    expect(replace(text, '#')).toBe('before # after');
  });

  it('ignores a part of it', () => {
    expect(replace(SECRET.slice(1), '#')).toBe(SECRET.slice(1));
    expect(search(BYTES.toString('hex').slice(2))).toBeUndefined();
  });
});

describe('a matcher of pieces', () => {
  const { replace } = createPieceMatcher(SECRET, 8);

  it.each<readonly [string, string]>([
    ...NOTATIONS,
    ['as decimal codes', BYTES.join(', ')],
    ['as HTML codes', toCodes('&#', 10, 1, ';')],
    ['in lower case', SECRET.toLowerCase()],
    ['in lines', SECRET.match(/.{1,3}/g)?.join('\n') ?? ''],
    [
      'as a hex dump',
      BYTES.toString('hex')
        .match(/.{1,4}/g)
        ?.join(' ') ?? '',
    ],
  ])('finds each letter of a secret %s', (_, text) => {
    expect(replace(`<${text}>`, '#')).toMatch(/^<.{0,4}#.{0,5}>$/);
  });

  it('finds eight letters and digits in a row, and not seven', () => {
    expect(replace('<2abC_9xYz>', '#')).toBe('<#>');
    expect(replace('<2abC_9xY>', '#')).toBe('<2abC_9xY>');
  });

  it('finds pieces on both sides of an escaped character', () => {
    expect(replace('<aBc%5f9XyZq>', '#')).toBe('<#>');
  });

  it('treats a secret with fewer letters as one piece', () => {
    expect(createPieceMatcher('ab-12', 8).replace('<AB12> <ab1>', '#')).toBe('<#> <ab1>');
    expect(createPieceMatcher('', 8).replace('text', '#')).toBe('text');
  });
});
