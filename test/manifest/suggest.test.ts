import { describe, expect, it } from 'vitest';
import { suggest } from '../../src/manifest/suggest.ts';

describe('a suggestion', () => {
  it.each([
    ['hostport', 'hostports'],
    ['Base-URL', 'base_url'],
    ['naem', 'name'],
    ['di', 'id'],
    ['ke', 'key'],
    ['detailed-exit-cod', 'detailed-exitcode'],
  ])('for %s is %s, which is near', (given, known) => {
    expect(suggest(given, ['unlike', known, 'other'])).toBe(known);
  });

  it.each([
    ['foo', 'root'],
    ['jsn', 'env'],
    ['f', 'if'],
    ['ab', 'ac'],
    ['list', 'show'],
    ['backend', 'frontend'],
    ['', 'id'],
  ])('for %s is not %s: more than a third differs', (given, known) => {
    expect(suggest(given, [known])).toBeUndefined();
  });

  it('prefers the near one of several short words', () => {
    expect(suggest('fo', ['go', 'to', 'foo'])).toBe('foo');
  });
});
