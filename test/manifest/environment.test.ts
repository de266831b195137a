import { describe, expect, it } from 'vitest';
import { NO_ENVIRONMENT, replaceEnvironmentVariables } from '../../src/manifest/environment.ts';
import { listSecretNames } from '../../src/model/secret-value.ts';

const VARIABLES = {
  NAME: 'value',
  EMPTY: '',
  DOLLAR: '$' + '{env:NAME}',
  PRICE: '$&$1',
  EDGEWISE_API_KEY: 'a key',
  EDGEWISE_GITLAB_TOKEN: 'a token',
};
const ENV = { variables: VARIABLES, offered: [...Object.keys(VARIABLES), 'NOPE', 'ALSO', 'toString'] };
const D = '$';
const LITERAL = `$NAME $5 $ ${D}{NAME} ${D}{ENV:NAME} ${D}{env}`;

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
    [`${D}{env:toString}`, `${D}{env:toString}`, ['toString']],
  ])('are filled in: %s becomes %s', (text, filled, unset) => {
    expect(replaceEnvironmentVariables(text, ENV)).toEqual({ text: filled, unset, withheld: [], malformed: [] });
  });

  it.each([
    ['alone', `v ${D}{env:V}`, { V: `a ${D}{secret:W} b` }, `v a ${D}${D}{secret:W} b`],
    ['with a default', `v ${D}{env:V:-none}`, { V: `a ${D}{secret:W} b` }, `v a ${D}${D}{secret:W} b`],
    ['with an empty default', `${D}{env:V:-}`, { V: `${D}{secret:W}` }, `${D}${D}{secret:W}`],
    ['that is escaped already', `${D}{env:V}`, { V: `${D}${D}{secret:W}` }, `${D}${D}${D}{secret:W}`],
    ['together with the text behind it', `${D}{env:V}{secret:W}`, { V: D }, `${D}${D}{secret:W}`],
    ['together with the text before it', `${D}${D}${D}${D}{env:V}`, { V: '{secret:W}' }, undefined],
    ['together with another variable', `${D}{env:V}${D}{env:X}`, { V: `${D}{sec`, X: 'ret:W}' }, `${D}${D}{secret:W}`],
    [
      'beside one of the manifest',
      `${D}{secret:W} ${D}{env:V}`,
      { V: `${D}{secret:W}` },
      `${D}{secret:W} ${D}${D}{secret:W}`,
    ],
  ])('name no secret by the value of a variable: %s', (_, text, variables, filled) => {
    const env = { variables, offered: Object.keys(variables), offeredSecrets: ['W'] };
    const found = replaceEnvironmentVariables(text, env).text;
    if (filled !== undefined) expect(found).toBe(filled);
    const own = listSecretNames(text);
    expect(listSecretNames(found)).toEqual(own);
  });

  it.each([
    [`${D}{env:NOPE:-${D}{env:NAME:-x}}`, [`${D}{env:NOPE:-${D}{env:NAME:-x}`]],
    [`a ${D}{env:} b`, [`${D}{env:}`]],
    [`${D}{env:9A}`, [`${D}{env:9A}`]],
    [`${D}{env:A-B} ${D}{env:A:B}`, [`${D}{env:A-B}`, `${D}{env:A:B}`]],
    [`${D}{env:NAME`, [`${D}{env:NAME`]],
    [`${D}{env:NAME\nnext`, [`${D}{env:NAME`]],
    [`${D}{env:NOPE:-{}}`, [`${D}{env:NOPE:-{}`]],
    [`${D}${D}${D}{env:}`, []],
    [`${D}${D}{env:} ${D}${D}{env:`, []],
  ])('are not found in %j', (text, malformed) => {
    const filled = replaceEnvironmentVariables(text, NO_ENVIRONMENT);
    expect(filled).toMatchObject({ unset: [], malformed });
    expect(filled.text).toBe(text.replaceAll(`${D}${D}{`, `${D}{`));
  });

  it('are filled in once: their value is not searched for variables', () => {
    expect(replaceEnvironmentVariables(`${D}{env:DOLLAR} ${D}{env:PRICE}`, ENV)).toEqual({
      text: `${D}{env:NAME} $&$1`,
      unset: [],
      withheld: [],
      malformed: [],
    });
  });

  it('are filled in in time that grows with the text only', () => {
    const text = `${D}{env:A:-`.repeat(100_000);
    expect(replaceEnvironmentVariables(text, ENV)).toEqual({ text, unset: [], withheld: [], malformed: [text] });
  });

  it.each([
    ['NAME', ['NAME'], 'value'],
    ['NAME', ['NA*'], undefined],
    ['NAME', ['*'], undefined],
    ['NAME', ['NAM'], undefined],
    ['NAME', ['NAME_*'], undefined],
    ['NAME', ['name'], undefined],
    ['NAME', [], undefined],
    ['EDGEWISE_API_KEY', ['EDGEWISE_API_KEY'], undefined],
    ['EDGEWISE_GITLAB_TOKEN', ['EDGEWISE_GITLAB_TOKEN'], undefined],
  ])('are read as %s if %j are offered: %s', (name, offered, value) => {
    const text = `${D}{env:${name}}`;
    const filled = replaceEnvironmentVariables(text, { variables: VARIABLES, offered });
    expect(filled).toMatchObject({ text: value ?? text, withheld: value === undefined ? [name] : [] });
  });

  it.each(['NAME', 'NOPE', 'EDGEWISE_GITLAB_TOKEN'])('are withheld with a default, too, if not offered: %s', (name) => {
    const text = `${D}{env:${name}:-other}`;
    for (const offeredSecrets of [[], [name]]) {
      const env = { variables: VARIABLES, offered: [], offeredSecrets };
      expect(replaceEnvironmentVariables(text, env)).toMatchObject({ text, withheld: [name] });
    }
  });
});
