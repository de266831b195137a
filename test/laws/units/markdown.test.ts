import fc from 'fast-check';
import { describe, test } from 'vitest';
import {
  expectForgeLinksOnly,
  expectOneCodeSpan,
  expectOneFence,
  expectOneMarker,
  expectProse,
  expectWholeBlocks,
} from '../../report/markdown-checks.ts';
import { LONG } from '../../tries.ts';
import { text } from '../hostile-values.ts';

describe('any text of users in Markdown', () => {
  test('is prose of one paragraph with text only, and URLs as code', () => {
    const url = fc.webUrl({ withQueryParameters: true, withFragments: true });
    const mixed = fc.array(fc.oneof(text, url)).map((parts) => parts.join(' '));
    fc.assert(fc.property(fc.oneof(text, mixed), expectProse));
  });

  test('is one piece of code in a paragraph and in a cell', () => {
    fc.assert(fc.property(text, expectOneCodeSpan));
  });

  test('stays in its fence', () => {
    fc.assert(fc.property(fc.array(text), expectOneFence));
  });

  test('does not end the marker', () => {
    fc.assert(fc.property(text, expectOneMarker));
  });

  test('leads a link only to the forge', () => {
    fc.assert(fc.property(text, expectForgeLinksOnly));
  });
});

test('a comment at its size limit is cut at whole blocks', LONG, () => {
  const size = fc.constantFrom(0, 1, 30, 400);
  const length = fc.integer({ min: 1, max: 3000 });
  const sizes = fc.record({ creates: size, deletes: size, updates: size, text, length });
  fc.assert(fc.property(sizes, fc.boolean(), expectWholeBlocks), { numRuns: 10 });
});
