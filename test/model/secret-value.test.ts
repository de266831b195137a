import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/model/json.ts';
import {
  alignSecrets,
  containsConcealed,
  createHiddenNumbers,
  fillTemplate,
  formatConcealed,
  listSecretNames,
  mapConcealed,
  unescapePlaceholders,
  withoutHiddenNumbers,
} from '../../src/model/secret-value.ts';
import { createSecretRegistry } from '../../src/model/secrets.ts';

const TEMPLATE = `Bearer \${secret:NAME} of \${secret:USER}, \${secret:NAME}`;

describe('a template', () => {
  it('names each variable once', () => {
    expect(listSecretNames(TEMPLATE)).toEqual(['NAME', 'USER']);
    expect(listSecretNames(`$\${secret:NAME} \${secret:0} \${env:NAME}`)).toEqual([]);
  });

  it('is filled in only if every variable has a value', () => {
    const values = new Map([
      ['NAME', 'n'],
      ['USER', ''],
    ]);
    expect(fillTemplate(TEMPLATE, (name) => values.get(name))).toBe('Bearer n of , n');
    expect(fillTemplate(TEMPLATE, (name) => (name === 'NAME' ? 'n' : undefined))).toBeUndefined();
  });

  it('keeps an escaped placeholder as a text', () => {
    expect(unescapePlaceholders(`a $\${secret:NAME}`)).toBe(`a \${secret:NAME}`);
    expect(fillTemplate(`$\${secret:NAME}`, () => 'n')).toBe(`\${secret:NAME}`);
  });
});

describe('a concealed value', () => {
  it.each<[string, { readonly $secret: string } | { readonly $hidden: number }]>([
    ['Bearer (secret NAME)', { $secret: `Bearer \${secret:NAME}` }],
    ['(hidden 3)', { $hidden: 3 }],
    ['(hidden)', { $hidden: 0 }],
  ])('is shown as %s', (shown, value) => {
    expect(formatConcealed(value)).toBe(shown);
  });

  it.each<[Json]>([
    [['plain', { $hidden: 1 }]],
    [{ a: 'plain', b: { c: [{ $secret: 'x' }, 'plain'] } }],
    [{ $hidden: 0 }],
  ])('is found and replaced in %j, beside others', (value) => {
    expect(containsConcealed(value)).toBe(true);
    const replaced = mapConcealed(value, () => 'R');
    expect(containsConcealed(replaced)).toBe(false);
    expect(JSON.stringify(replaced)).toContain('"R"');
  });

  it('is not found in another object', () => {
    const value = { $hidden: '1', other: [{ $secret: 1 }] };
    expect(containsConcealed(value)).toBe(false);
    expect(mapConcealed(value, () => 'R')).toBe(value);
  });

  it('loses its number in digests and saved plans', () => {
    const value = [{ $hidden: 7 }, { $secret: 'x', $hidden: 8 }, 'plain'];
    expect(withoutHiddenNumbers(value)).toEqual([{ $hidden: 0 }, { $secret: 'x' }, 'plain']);
  });

  it('is numbered by its first appearance in an output', () => {
    const { inJson, inObject } = createHiddenNumbers();
    expect(inJson([{ $hidden: 40 }, { $hidden: 20 }, { $hidden: 40 }, { $secret: 'x', $hidden: 20 }])).toEqual([
      { $hidden: 1 },
      { $hidden: 2 },
      { $hidden: 1 },
      { $secret: 'x' },
    ]);
    expect(inObject({ a: { $hidden: 20 }, b: { $hidden: 50 } })).toEqual({ a: { $hidden: 2 }, b: { $hidden: 3 } });
  });
});

describe('a live value is shown as the secret of the manifest', () => {
  const secret = { $secret: `\${secret:NAME}`, $hidden: 2 };

  it.each<[string, Json, Json | undefined, Json]>([
    ['if it has the same number', { $hidden: 2 }, secret, secret],
    ['if the secret has no known value', 'live', { $secret: 'x' }, { $secret: 'x' }],
    ['in a list, beside others', ['a', { $hidden: 2 }], ['b', secret], ['a', secret]],
    ['in a map, beside others', { a: 'a', b: { $hidden: 2 } }, { a: 'b', b: secret }, { a: 'a', b: secret }],
  ])('%s', (_, live, desired, shown) => {
    expect(alignSecrets(live, desired)).toEqual(shown);
  });

  it.each<[string, Json, Json | undefined]>([
    ['with another number', { $hidden: 3 }, secret],
    ['that is empty', '', { $secret: 'x' }],
    ['that is null', null, { $secret: 'x' }],
    ['in clear', 'live', secret],
    ['that the manifest does not set', { $hidden: 2 }, undefined],
    ['in a list that the manifest does not set', ['a', { $hidden: 2 }], undefined],
    ['in a list of another length', ['a', { $hidden: 2 }], ['a', secret, 'b']],
    ['in a list, where the manifest has a text', ['a', { $hidden: 2 }], 'text'],
    ['under a key that the manifest does not set', { other: { $hidden: 2 } }, { b: secret }],
  ])('but not one %s', (_, live, desired) => {
    expect(alignSecrets(live, desired)).toBe(live);
  });
});

describe('a registry of secrets', () => {
  it('numbers equal values equally, and other values differently', () => {
    const values = createSecretRegistry();
    expect(['a', 'b', 'a'].map((value) => values.hide(value))).toEqual([
      { $hidden: 1 },
      { $hidden: 2 },
      { $hidden: 1 },
    ]);
  });

  it('conceals a secret of the manifests also where a field shows its value', () => {
    const values = createSecretRegistry();
    values.hide('of the manifest');
    expect(values.publish('of the manifest')).toEqual({ $hidden: 1 });
    expect(values.publish('of a field')).toBe('of a field');
    expect(values.hideLive('of the manifest')).toEqual({ $hidden: 1 });
    expect(values.hideLive('of a field')).toBe('of a field');
  });

  it('shows no live value because it equals the template of a secret', () => {
    const values = createSecretRegistry();
    values.reveal({ header: values.seal('template', 'value') });
    expect(values.hideLive('value')).toEqual({ $hidden: 1 });
    expect(values.hideLive('template')).toEqual({ $hidden: 2 });
  });

  it('shows live values on request, except those that are secrets of the manifests', () => {
    const values = createSecretRegistry();
    values.hide('of the manifest');
    values.showLive();
    expect(values.hideLive('live')).toBe('live');
    expect(values.hideLive('of the manifest')).toEqual({ $hidden: 1 });
  });

  it('reveals each value that it concealed, and no other', () => {
    const values = createSecretRegistry();
    const [first, second] = [values.seal('one', 'value of one'), values.seal('two', 'value of two')];
    expect(JSON.stringify([first, second])).not.toContain('value');
    expect(values.reveal({ a: first, b: [second, 'plain'] })).toEqual({
      a: 'value of one',
      b: ['value of two', 'plain'],
    });
    expect(() => values.reveal({ a: { $hidden: 3 } })).toThrow('The value of a hidden field is not known');
    expect(() => values.reveal({ a: values.seal('three', undefined) })).toThrow('The value of three is not known');
  });
});

describe('alignSecrets', () => {
  const secret = { $secret: 'x', $hidden: 1 };

  it.each<[Json, Json | undefined]>([
    [{ a: 1 }, null],
    [{ a: 1 }, undefined],
    [null, { a: secret }],
    [[1], undefined],
    [[1], null],
    [null, [secret]],
    ['ab', [secret, secret]],
    [null, secret],
    [{ a: 1 }, secret],
    [{ $hidden: '1' }, secret],
  ])('leaves %j alone beside %j, which has another type', (live, desired) => {
    expect(alignSecrets(live, desired)).toBe(live);
  });
});
