import { describe, expect, it } from 'vitest';
import { readCelNames, readNamesGuardedByHas } from '../../src/expressions/read-cel.ts';

describe('readCelNames', () => {
  it.each([
    ['after.acl.all(rule, rule != owner)', ['after.acl', 'owner']],
    ['x.all(y, y.exists(z, z == y && z == w))', ['w', 'x']],
    ['after.tags.map(a)', ['a', 'after.tags']],
    ['cel.bind(m, after.backend, m.enabled)', ['after.backend']],
    ['math.greatest(a, b)', ['a', 'b']],
    ['int(a.b) > 1 && type(c) == string', ['a.b', 'c']],
    ['a["b"].c', ['a']],
    ['[a, {b: c}, -d]', ['a', 'b', 'c', 'd']],
    ['a.?b.orValue(c)', ['a.b', 'c']],
  ])('lists the variables of %s', (expression, names) => {
    expect(readCelNames(expression)).toEqual({ names });
  });

  it('returns where an expression cannot be parsed', () => {
    expect(readCelNames('1 +')).toEqual({
      finding: {
        code: 'expression-syntax',
        severity: 'error',
        message: 'Unexpected token: EOF',
        range: { start: 3, end: 4 },
      },
    });
  });
});

describe('readNamesGuardedByHas', () => {
  it.each([
    ['has(a.b) && c', ['a.b']],
    ['a.?b.orValue(c)', ['a.b']],
    ['a.b', []],
    ['1 +', []],
  ])('lists the names that %s tests', (expression, names) => {
    expect(readNamesGuardedByHas(expression)).toEqual(names);
  });
});
