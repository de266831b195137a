import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FORMATS } from '../../src/kinds/formats.ts';
import { assertDefined } from '../../src/model/errors.ts';
import { toTries } from '../tries.ts';

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
  rule.pattern === undefined ? [] : [{ name, check: rule.check, example: rule.example, pattern: rule.pattern }],
);

it.each(RULES)('the pattern of a $name matches every valid one', ({ check, example, pattern }) => {
  const form = new RegExp(pattern, 'u');
  expect(form.test(example)).toBe(true);
  const texts = fc.array(fc.constantFrom(...PARTS), { maxLength: 6 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(texts, (text) => {
      if (check(text) === undefined) expect(form.test(text)).toBe(true);
    }),
    { numRuns: toTries(1000) },
  );
});

const ED25519 = FORMATS['ssh-public-key'].example.replace(/ [^ ]*$/, '');

it.each([
  ['hostport', 'nope'],
  ['hostport', 'a b:80'],
  ['domain', 'localhost'],
  ['acl-rule', 'bind:'],
  ['acl-rule', 'bind:a=b=c'],
  ['header-name', 'a b'],
  ['header-value', 'a\nb'],
  ['ssh-public-key', 'ssh-dss AAAA'],
  ['ssh-public-key', `${ED25519}\ncommand="id" ssh-rsa AAAA`],
  ['ssh-public-key', `${ED25519} alice\rssh-rsa AAAA`],
  ['ssh-public-key', `${ED25519} alice\0`],
  ['ssh-public-key', ED25519.replace(' ', '\n')],
  ['principal', 'a,b'],
  ['duration', '1y'],
] as const)('the pattern of a %s does not match %j', (format, text) => {
  expect(new RegExp(assertDefined(FORMATS[format].pattern, 'pattern'), 'u').test(text)).toBe(false);
});
