import { describe, expect, it } from 'vitest';
import { readCondition } from '../../src/expressions/read-condition.ts';

const CASES = [
  ['true', 'always'],
  ['false', 'never'],
  ['!true', 'never'],
  ['!!true', 'always'],
  ['a', 'depends'],
  ['!a', 'depends'],
  ['1', 'depends'],
  ['a && false', 'never'],
  ['true && a', 'depends'],
  ['true && true', 'always'],
  ['a || true', 'always'],
  ['false || a', 'depends'],
  ['false || false', 'never'],
  ['!(a || true) || b', 'depends'],
  ['conn.client_ip in []', 'never'],
  ["conn.client_ip in ['192.0.2.1']", 'depends'],
  ['!(a in [])', 'always'],
  ['true ? a : true', 'depends'],
  ['false ? a : true', 'always'],
  ['a ? true : true', 'always'],
  ['a ? true : false', 'depends'],
  ['a ? b : b', 'depends'],
  ['1 > 2', 'never'],
  ['!(1 == 1)', 'never'],
  ["'a' != 'b'", 'always'],
  ['2 <= 2', 'always'],
  ['1.5 < 2.5', 'always'],
  ['true == false', 'never'],
  ['3 >= 4', 'never'],
  ['1 == 1.0', 'depends'],
  ['a == a', 'depends'],
  ['a == ', 'invalid'],
  ['a AND b', 'invalid'],
  ['message{a: 1}.b', 'unreadable'],
  [`${'!'.repeat(220)}true`, 'depends'],
] as const;

describe('a condition', () => {
  it.each(CASES)('%s is %s', (text, expected) => {
    expect(readCondition(text)).toBe(expected);
  });
});
