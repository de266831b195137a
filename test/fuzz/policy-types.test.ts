import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CelValues, createBudget } from '../../src/expressions/cost.ts';
import { type CelProgram, createCelCompiler } from '../../src/expressions/environment.ts';
import { AS_WRITTEN, canonical } from '../../src/kinds/canonical.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import { MANIFEST_KINDS } from '../../src/kinds/tables/registry.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';
import { createPolicyDeclarations, listVisibleFields } from '../../src/policy/vocabulary.ts';
import { arbitrarySpec } from '../laws/arbitrary-values.ts';
import { holds } from '../laws/properties.ts';
import { LONG } from '../tries.ts';

/** Types are checked when a policy is read: no policy that evaluates without an error is refused. */

/** Resources of several kinds, as in plans. */
const resources = fc
  .subarray([...MANIFEST_KINDS], { minLength: 1, maxLength: 3 })
  .chain((kinds) =>
    fc.tuple(fc.constant(kinds), ...kinds.map((kind) => arbitrarySpec(kind).map((spec) => toVisible(kind, spec)))),
  );

function toVisible(kind: Kind, spec: JsonObject): JsonObject {
  const visible = new Set(listVisibleFields(kind).map(([name]) => name));
  return Object.fromEntries(Object.entries(canonical(kind, spec, AS_WRITTEN)).filter(([name]) => visible.has(name)));
}

/** Names that can follow a dot: not the words of the language. */
const WORD = /^(?!(?:true|false|null|in)$)[a-z]\w*$/;

/** Lists the expressions for everything in a value, with their values. */
function listPlaces(at: string, value: Json): readonly (readonly [place: string, value: Json])[] {
  const inner = isJsonArray(value)
    ? value.map((one, index): [string, Json] => [`${at}[${index}]`, one])
    : Object.entries(isJsonObject(value) ? value : {}).map(([name, one]): [string, Json] => [
        WORD.test(name) ? `${at}.${name}` : `${at}[${JSON.stringify(name)}]`,
        one,
      ]);
  return [[at, value] as const, ...inner.flatMap(([place, one]) => listPlaces(place, one))];
}

/** Lists conditions that fit the type of a value. */
function listConditions(place: string, value: Json): readonly string[] {
  const some = [`${place} != null`, `null == ${place}`, `[${place}, null].size() == 2`, `type(${place}) == null_type`];
  const own = [
    `cel.bind(v, ${place}, v == ${place})`,
    `(true ? ${place} : dyn(null)) == ${place}`,
    `${place} in [${place}]`,
  ];
  return [...some, ...own, ...listTypical(place, value)];
}

function listTypical(place: string, value: Json): readonly string[] {
  if (typeof value === 'boolean')
    return [place, `!${place}`, `${place} ? true : ${place} == false`, `${place} || false`];
  if (typeof value === 'number')
    return [
      `${place} > 1`,
      `${place} < 1.5`,
      `1 == ${place}`,
      `${place} == 0.5`,
      `double(${place}) + 1.0 > 0.0`,
      `-${place} < 5`,
    ];
  if (typeof value === 'string')
    return [
      `${place} == "a"`,
      `${place} + "x" != ""`,
      `${place}.contains("a")`,
      `size(${place}) > 2`,
      `${place} in ["a", null]`,
    ];
  if (isJsonArray(value))
    return [
      `${place} == []`,
      `size(${place}) >= 0`,
      `${place} + ${place} != []`,
      `${place}.all(x, x == x)`,
      `${place}.map(x, [x]) != [[]]`,
    ];
  if (!isJsonObject(value)) return [];
  const [name = ''] = Object.keys(value);
  return [
    `${JSON.stringify(name)} in ${place}`,
    `size(${place}) >= 0`,
    `${place}.all(k, ${place}[k] == ${place}[k])`,
    `${place} == {} || ${place} != {}`,
    `(false ? ${place} : {}) == {}`,
    `optional.of(${place}).orValue({}) == ${place}`,
    `${place}.map(k, k).size() >= 0`,
    `${place} == ${place}`,
  ];
}

function run(program: CelProgram, after: JsonObject): ReturnType<CelProgram['run']> {
  return program.run({ after, before: after } satisfies CelValues, createBudget(100_000));
}

describe('an expression that is accepted', () => {
  it('evaluates without a type error on real resources', LONG, async () => {
    const property = fc.asyncProperty(resources, fc.infiniteStream(fc.nat()), async ([kinds, ...specs], numbers) => {
      const pick = <T>(from: readonly T[]): T => from[numbers.next().value % from.length] as T; // none is empty
      const cel = createCelCompiler(createPolicyDeclarations(kinds));
      for (const spec of specs) {
        const conditions = Array.from({ length: 3 }, () => {
          const [place, value] = pick(listPlaces('after', spec).slice(1));
          return pick(listConditions(place, value));
        });
        const rule = `(${conditions[0]}) ? (${conditions[1]}) : (${conditions[2]})`;
        for (const text of [...conditions, rule]) {
          const program = cel.compile(text);
          expect('finding' in program ? program.finding : undefined, text).toBe(undefined);
          if ('run' in program) expect(run(program, spec), text).toMatchObject({ value: expect.anything() });
        }
      }
    });
    await holds(property, 600);
  });
});
