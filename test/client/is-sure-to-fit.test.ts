import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Field, FieldType } from '../../src/kinds/field.ts';
import { KINDS } from '../../src/kinds/tables/registry.ts';
import type { Json, JsonObject } from '../../src/model/json.ts';
import { toResponseSchema } from '../../src/schemas/field.ts';
import { isSureToFit } from '../../src/schemas/is-sure-to-fit.ts';
import { toTries } from '../tries.ts';

const ANY = fc.oneof(
  fc.json({ maxDepth: 1 }).map((text): Json => JSON.parse(text)),
  fc.constantFrom<Json>('x', 1, 0.5, true, null, [], {}, { id: 1 }, { id: 'a' }, { id: null }, ['x', 1]),
);

/** Values as the table of a kind has them, of which some parts are anything. */
function toValues(type: FieldType): fc.Arbitrary<Json> {
  switch (type.type) {
    case 'object':
      return mostly(toObjects(type.fields));
    case 'list':
      return mostly(fc.array(toValues(type.of), { maxLength: 2 }));
    case 'map':
      return mostly(fc.dictionary(fc.string(), toValues(type.of), { maxKeys: 2 }));
    case 'number':
      return mostly(fc.double({ noNaN: true }));
    case 'boolean':
      return mostly(fc.boolean());
    case 'json':
      return mostly(fc.constant({ a: [1] }));
    default:
      return mostly(fc.constantFrom<Json>('x', ...(type.type === 'reference' ? [{ id: 'x' }] : [])));
  }
}

function mostly(values: fc.Arbitrary<Json>): fc.Arbitrary<Json> {
  return fc.oneof({ weight: 12, arbitrary: values }, { weight: 1, arbitrary: ANY });
}

function toObjects(fields: Readonly<Record<string, Field>>): fc.Arbitrary<JsonObject> {
  const entries = Object.entries(fields).map(
    ([name, { type, responseName = name }]) => [responseName, toValues(type)] as const,
  );
  return fc
    .record(Object.fromEntries(entries), { requiredKeys: [] })
    .map((made): JsonObject => JSON.parse(JSON.stringify(made)));
}

it.each(KINDS.map((kind) => [kind.name, kind] as const))('is yes for a %s that fits, and for no other', (_, kind) => {
  const schema = toResponseSchema(kind, 'response');
  fc.assert(
    fc.property(toObjects(kind.fields), (answered) => {
      expect(isSureToFit(kind.fields, answered)).toBe(schema.safeParse(answered).success);
    }),
    { numRuns: toTries(400) },
  );
});
