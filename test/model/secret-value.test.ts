import { describe, expect, it } from 'vitest';
import { ConcealedValue } from '../../src/model/concealed-value.ts';
import { isJsonObject, isSameJson, type Json, toCanonicalJson } from '../../src/model/json.ts';
import { toFieldDigest } from '../../src/model/mark.ts';
import {
  alignSecrets,
  containsConcealed,
  createHiddenNumbers,
  fillTemplate,
  formatConcealed,
  formatJson,
  fromFileJson,
  listSecretNames,
  mapConcealed,
  toFileJson,
  unescapePlaceholders,
  withoutHiddenNumbers,
} from '../../src/model/secret-value.ts';
import { createSecretRegistry } from '../../src/model/secrets.ts';

const TEMPLATE = `Bearer \${secret:NAME} of \${secret:USER}, \${secret:NAME}`;

/** What looks like a concealed value, or like its text. */
const LOOK_ALIKES: readonly Json[] = [
  { $hidden: 1 },
  { $secret: 'x' },
  { $secret: 'x', $hidden: 1 },
  { template: 'x', number: 1 },
  { $$hidden: 1 },
  [{ $$$secret: 'x' }],
  '{"$hidden":1}',
  '({"$hidden":1})',
  '(hidden 1)',
  'x',
  {},
];

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

const { hidden, secret } = ConcealedValue;

describe('a concealed value', () => {
  it.each([
    ['Bearer (secret NAME)', secret(`Bearer \${secret:NAME}`)],
    ['(hidden 3)', hidden(3)],
    ['(hidden)', hidden(0)],
  ])('is shown as %s', (shown, value) => {
    expect(formatConcealed(value)).toBe(shown);
  });

  it('is shown so that no text in a template poses as hidden, as another secret, or as an arrow', () => {
    const templates = [
      `\${secret:A}\${secret:B}`,
      `\${secret:A}(secret B)`,
      `(secret A)\${secret:B}`,
      `\${secret:A} → (hidden 1)`,
      `\${secret:A}"(secret B)`,
      `\${secret:A}"" (secret B)""`,
      `$\${secret:A}\${secret:B}`,
      `\${secret:A}`,
    ];
    const shown = templates.map((template) => formatConcealed(secret(template)));
    expect(shown.slice(0, 4)).toEqual([
      '(secret A)(secret B)',
      '(secret A)"(secret B)"',
      '"(secret A)"(secret B)',
      '(secret A)" → (hidden 1)"',
    ]);
    expect(new Set(shown).size).toBe(templates.length);
  });

  it.each<[Json]>([[['plain', hidden(1)]], [{ a: 'plain', b: { c: [secret('x'), 'plain'] } }], [hidden(0)]])(
    'is found and replaced in %j, beside others',
    (value) => {
      expect(containsConcealed(value)).toBe(true);
      const replaced = mapConcealed(value, () => 'R');
      expect(containsConcealed(replaced)).toBe(false);
      expect(JSON.stringify(replaced)).toContain('"R"');
    },
  );

  it.each<[Json]>(LOOK_ALIKES.map((value) => [value]))('is not what JSON spells as %j', (value) => {
    expect(containsConcealed(value)).toBe(false);
    expect(mapConcealed(value, () => 'R')).toBe(value);
    for (const one of [hidden(1), secret('x')]) {
      expect(isSameJson(value, one) || isSameJson(one, value)).toBe(false);
      expect(toCanonicalJson([value])).not.toBe(toCanonicalJson([one]));
      expect(toFieldDigest(value)).not.toBe(toFieldDigest(one));
      expect(formatJson([value])).not.toBe(formatJson([one]));
    }
  });

  it('is no object with members', () => {
    expect(isJsonObject(hidden(1))).toBe(false);
  });

  it('loses its number in digests and saved plans', () => {
    expect(withoutHiddenNumbers([hidden(7), secret('x', 8), 'plain'])).toEqual([hidden(0), secret('x'), 'plain']);
  });

  it('is numbered by its first appearance in an output', () => {
    const number = createHiddenNumbers();
    expect(number([hidden(40), hidden(20), hidden(40), secret('x', 20)])).toEqual([
      hidden(1),
      hidden(2),
      hidden(1),
      secret('x'),
    ]);
    expect(number({ a: hidden(20), b: hidden(50) })).toEqual({ a: hidden(2), b: hidden(3) });
  });
});

describe('a file', () => {
  it('spells a concealed value, and no value of a user looks the same', () => {
    expect(toFileJson({ a: hidden(1), b: [secret('x', 2)] })).toEqual({ a: { $hidden: 1 }, b: [{ $secret: 'x' }] });
    expect(toFileJson({ $hidden: 1, a: { $$b: 1, $: 2 } })).toEqual({ $$hidden: 1, a: { $$$b: 1, $$: 2 } });
  });

  it.each<[Json]>(
    [...LOOK_ALIKES, hidden(1), [{ a: secret('x') }], JSON.parse('{"__proto__":1,"$":{"$$":1}}')].map((one) => [one]),
  )('is read as it was written: %j', (value) => {
    const read = fromFileJson(JSON.parse(JSON.stringify(toFileJson(value))), Error);
    expect(read).toStrictEqual(value);
    expect(isSameJson(read, value)).toBe(true);
  });

  it.each<[Json]>([
    [{ $hidden: '1' }],
    [{ $hidden: 1, other: 'x' }],
    [{ $secret: 1 }],
    [{ $secret: 'x', $hidden: 1 }],
    [{ a: [{ $other: 1 }] }],
    [{ $: 1 }],
  ])('is refused with a reserved key that has another meaning: %j', (value) => {
    expect(() => fromFileJson(value, Error)).toThrow(/^\$/);
  });
});

describe('a live value is shown as the secret of the manifest', () => {
  const stated = secret(`\${secret:NAME}`, 2);

  it.each<[string, Json, Json | undefined, Json]>([
    ['if it has the same number', hidden(2), stated, stated],
    ['if the secret has no known value', 'live', secret('x'), secret('x')],
    ['in a list, beside others', ['a', hidden(2)], ['b', stated], ['a', stated]],
    ['in a map, beside others', { a: 'a', b: hidden(2) }, { a: 'b', b: stated }, { a: 'a', b: stated }],
  ])('%s', (_, live, desired, shown) => {
    expect(alignSecrets(live, desired)).toEqual(shown);
  });

  it.each<[string, Json, Json | undefined]>([
    ['with another number', hidden(3), stated],
    ['that is empty', '', secret('x')],
    ['that is null', null, secret('x')],
    ['in clear', 'live', stated],
    ['that looks like the secret', { $secret: `\${secret:NAME}` }, stated],
    ['that looks hidden', { $hidden: 2 }, stated],
    ['that the manifest does not set', hidden(2), undefined],
    ['in a list that the manifest does not set', ['a', hidden(2)], undefined],
    ['in a list of another length', ['a', hidden(2)], ['a', stated, 'b']],
    ['in a list, where the manifest has a text', ['a', hidden(2)], 'text'],
    ['under a key that the manifest does not set', { other: hidden(2) }, { b: stated }],
  ])('but not one %s', (_, live, desired) => {
    expect(alignSecrets(live, desired)).toBe(live);
  });
});

describe('a registry of secrets', () => {
  it('numbers equal values equally, and other values differently', () => {
    const values = createSecretRegistry();
    expect(['a', 'b', 'a'].map((value) => values.hide(value))).toEqual([hidden(1), hidden(2), hidden(1)]);
  });

  it('conceals a secret of the manifests also where a field shows its value', () => {
    const values = createSecretRegistry();
    values.hide('of the manifest');
    expect(values.publish('of the manifest')).toEqual(hidden(1));
    expect(values.publish('of a field')).toBe('of a field');
    expect(values.hideLive('of the manifest')).toEqual(hidden(1));
    expect(values.hideLive('of a field')).toBe('of a field');
  });

  it('shows no live value because it equals the template of a secret', () => {
    const values = createSecretRegistry();
    values.reveal({ header: values.seal('template', 'value') });
    expect(values.hideLive('value')).toEqual(hidden(1));
    expect(values.hideLive('template')).toEqual(hidden(2));
  });

  it('shows live values on request, except those that are secrets of the manifests', () => {
    const values = createSecretRegistry();
    values.hide('of the manifest');
    values.showLive();
    expect(values.hideLive('live')).toBe('live');
    expect(values.hideLive('of the manifest')).toEqual(hidden(1));
  });

  it('reveals each value that it concealed, and no other', () => {
    const values = createSecretRegistry();
    const [first, second] = [values.seal('one', 'value of one'), values.seal('two', 'value of two')];
    expect(JSON.stringify([first, second])).not.toContain('value');
    expect(values.reveal({ a: first, b: [second, 'plain'] })).toEqual({
      a: 'value of one',
      b: ['value of two', 'plain'],
    });
    expect(() => values.reveal({ a: hidden(3) })).toThrow('The value of a hidden field is not known');
    expect(() => values.reveal({ a: values.seal('three', undefined) })).toThrow('The value of three is not known');
  });
});

describe('alignSecrets', () => {
  const stated = secret('x', 1);

  it.each<[Json, Json | undefined]>([
    [{ a: 1 }, null],
    [{ a: 1 }, undefined],
    [null, { a: stated }],
    [[1], undefined],
    [[1], null],
    [null, [stated]],
    ['ab', [stated, stated]],
    [null, stated],
    [{ a: 1 }, stated],
    [{ $hidden: '1' }, stated],
  ])('leaves %j alone beside %j, which has another type', (live, desired) => {
    expect(alignSecrets(live, desired)).toBe(live);
  });
});
