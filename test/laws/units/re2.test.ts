import fc from 'fast-check';
import { expect, it } from 'vitest';
import { checkRe2, compileRe2 } from '../../../src/kinds/re2.ts';
import { toTries } from '../../tries.ts';

/** Parts of patterns, and similar texts that are invalid there. */
const PARTS = [
  ...['a', 'k', 'i', 's', 'U', 'm', 'z', 'é', '🙂', '0', '5', ' ', '\n', '-', ',', ':', '<', '>', '=', '!', 'P'],
  ...['.', '^', '$', '|', '*', '+', '?', '(', ')', '[', ']', '[^', '{', '}', '\\'],
  ...['{2}', '{0}', '{31}', '{1000}', '{1001}', '{0,3}', '{3,0}', '{0,0}', '{00,3}', '{2,}', '{0,1000}', '{1000,2}'],
  ...[
    '(?i)',
    '(?i:',
    '(?-i)',
    '(?i-s)',
    '(?s-i)',
    '(?i-U)',
    '(?i-i)',
    '(?mi-i)',
    '(?i-m:',
    '(?:',
    '(?P<a>',
    '(?<k>',
    '(?=',
    '(?',
  ],
  ...[
    '[:',
    ':]',
    '[[:alpha:]]',
    '[[:^word:]',
    '[:nope:]',
    '\\Q',
    '\\E',
    '\\\\',
    '\\d',
    '\\W',
    '\\b',
    '\\z',
    '\\C',
    '\\i',
    '\\x{41}',
    '\\x',
  ],
  ...[
    '\\pL',
    '\\PN',
    '\\p{Greek}',
    '\\P{^Lu}',
    '\\p{Nope}',
    '\\p{',
    '\\p{}',
    '\\p',
    '\\p\\',
    'é-ü',
    '-\\pL',
    '\\pL-z',
    '\\x80-\\xff',
  ],
  ...['[(?i-i)]', '[(?i-m)]', '[(?i-U)]', '[(?i-s:]'],
];

/** Half of them are balanced, so that valid patterns are compared too. */
const pattern = fc.letrec<{ readonly text: string; readonly group: string }>((tie) => ({
  text: fc
    .array(fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...PARTS) }, tie('group')), { maxLength: 8 })
    .map((parts) => parts.join('')),
  group: fc
    .tuple(
      fc.constantFrom('(', '(?:', '(?i:', '(?i-s:', '[', '[^', '\\Q'),
      tie('text'),
      fc.constantFrom('{2}', '{0,9}', '*', ''),
    )
    .map(([open, text, times]) => `${open}${text}${CLOSING.get(open) ?? ')'}${times}`),
})).text;

const CLOSING = new Map([
  ['[', ']'],
  ['[^', ']'],
  ['\\Q', '\\E'],
]);

it('accepts a pattern if and only if RE2 compiles it', () => {
  fc.assert(
    fc.property(pattern, (text) => {
      const compiled = compileRe2(text);
      expect(checkRe2(text) === undefined).toBe(!('finding' in compiled));
    }),
    { numRuns: toTries(20_000) },
  );
});
