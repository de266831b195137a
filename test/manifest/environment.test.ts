import { describe, expect, it } from 'vitest';
import { fillEnvironment } from '../../src/manifest/environment.ts';

const ENV = { NAME: 'value', EMPTY: '', DOLLAR: '$' + '{env:NAME}', PRICE: '$&$1' };
const D = '$';
const LITERAL = `$NAME $5 $ ${D}{NAME} ${D}{env:} ${D}{env:1A} ${D}{env:A-B} ${D}{env:NAME`;

describe('variables in a text', () => {
  it.each([
    ['plain text', 'plain text', []],
    [`${D}{env:NAME}`, 'value', []],
    [`a ${D}{env:NAME}-${D}{env:NAME} b`, 'a value-value b', []],
    [`${D}{env:EMPTY}`, '', []],
    [`${D}{env:NOPE}`, `${D}{env:NOPE}`, ['NOPE']],
    [`${D}{env:NOPE} ${D}{env:NAME} ${D}{env:ALSO}`, `${D}{env:NOPE} value ${D}{env:ALSO}`, ['NOPE', 'ALSO']],
    [`${D}{env:NOPE:-default}`, 'default', []],
    [`${D}{env:NOPE:-}`, '', []],
    [`${D}{env:EMPTY:-default}`, 'default', []],
    [`${D}{env:NAME:-default}`, 'value', []],
    [`${D}{env:NOPE:-a:-b $5}`, 'a:-b $5', []],
    [`${D}${D}{env:NAME}`, `${D}{env:NAME}`, []],
    [`${D}${D}{x}`, `${D}{x}`, []],
    [`${D}${D}${D}{env:NAME}`, `${D}${D}{env:NAME}`, []],
    [LITERAL, LITERAL, []],
    [`${D}{env:NOPE:-{}}`, `${D}{env:NOPE:-{}}`, []],
    [`${D}{env:toString}`, `${D}{env:toString}`, ['toString']],
  ])('%s gives %s', (text, filled, unset) => {
    expect(fillEnvironment(text, ENV)).toEqual({ text: filled, unset });
  });

  it('are filled in once: what a variable holds is not looked at again', () => {
    expect(fillEnvironment(`${D}{env:DOLLAR} ${D}{env:PRICE}`, ENV)).toEqual({
      text: `${D}{env:NAME} $&$1`,
      unset: [],
    });
  });

  it('take time that grows with the text only', () => {
    const text = `${D}{env:A:-`.repeat(100_000);
    expect(fillEnvironment(text, ENV)).toEqual({ text, unset: [] });
  });
});
