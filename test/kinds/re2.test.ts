import { describe, expect, it } from 'vitest';
import { checkRe2, compileRe2 } from '../../src/kinds/re2.ts';

/** Checking must agree with RE2, although it replaces what is slow to parse: repetitions, classes of Unicode, flags and `[:`. */
const VALID = [
  '',
  'a|b',
  '[^a]',
  'a*?',
  'a{2,3}',
  'a{2,}',
  'a{0,0}',
  'a{00,3}',
  'a{1000}',
  'a{0,1000}',
  '(a{0,31}){0,32}',
  '(?i)a',
  '(?i:a)',
  '(?i-s)a',
  '(?i-U)a',
  '(?i-i)a',
  '(?mi-i)a',
  '[(?i-i)]',
  '[(?i-m)]',
  '[(?i-s:]',
  '(?P<i>b)',
  '[[:alpha:]]',
  '[[:^word:]]',
  '[[:a]',
  '[:nope:]',
  '\\Q(',
  '\\Qa{3,2}\\E',
  '\\Q\\p{Nope}\\E',
  '\\Q(?iz)\\E',
  '\\pL',
  '\\PN',
  '\\p{Greek}',
  '\\P{^Lu}',
  '[\\pL-z]',
  '\\p{Greek}{0,9}',
  '\\\\pL',
  '\\\\p{Nope}',
  '\\{3,2}',
  '(?i)[é-ü]',
  '\\[:',
];

const INVALID = [
  '*a',
  'a**',
  '(a',
  'a)',
  '[a',
  '\\',
  '{2}',
  'a{1001}',
  'a{0,1001}',
  'a{3,2}',
  'a{3,0}',
  'a{1000,2}',
  'a{0,9}{2}',
  '(a{0,1000}){2}',
  '(a{0,31}){0,33}',
  '(?iz)a',
  '(?i',
  '(?i-)a',
  '(?=a)',
  '(?<a>b)(?<a>c)',
  '[(?i-U)]',
  '\\(?i)',
  '[:',
  '[[:]',
  '[[:a:]',
  '[[:nope:]]',
  '[[:alpha:]',
  '\\E',
  '\\C',
  '\\i',
  '\\x{110000}',
  '\\x{0,3}',
  '\\p',
  '\\p{',
  '\\p{}',
  '\\pX',
  '\\p{Nope}',
  '[a-\\pL]',
  '[ü-é]',
  '\\\\{3,2}',
];

describe('the check of a pattern', () => {
  it.each(VALID)('accepts %j, which RE2 compiles', (pattern) => {
    expect(compileRe2(pattern)).toHaveProperty('size');
    expect(checkRe2(pattern)).toBeUndefined();
  });

  it.each(INVALID)('refuses %j, which RE2 does not compile', (pattern) => {
    expect(compileRe2(pattern)).toHaveProperty('finding');
    expect(checkRe2(pattern)).toBeTypeOf('string');
  });
});
