import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FORMATS } from '../../../src/kinds/formats.ts';
import { toTries } from '../../tries.ts';

const PARTS = [
  'a',
  'Z',
  '1',
  '80',
  '_',
  '-',
  '.',
  ':',
  '*',
  '=',
  '/',
  ',',
  ' ',
  '\t',
  '\n',
  'ü',
  'd',
  'bind:',
  '*.',
  '&',
];
const RULES = Object.entries(FORMATS).flatMap(([name, rule]) =>
  rule.pattern === undefined ? [] : [{ name, check: rule.check, pattern: rule.pattern }],
);

it.each(RULES)('the pattern of a $name matches every valid text', ({ check, pattern }) => {
  const form = new RegExp(pattern, 'u');
  const texts = fc.array(fc.constantFrom(...PARTS), { maxLength: 6 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(texts, (text) => {
      if (check(text) === undefined) expect(form.test(text)).toBe(true);
    }),
    { numRuns: toTries(1000) },
  );
});
