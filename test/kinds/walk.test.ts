import { describe, expect, it } from 'vitest';
import {
  boolean,
  type FieldType,
  field,
  idOf,
  jsonWithLists,
  listOf,
  mapOf,
  objectOf,
  setOf,
  text,
} from '../../src/kinds/field.ts';
import { findMemberType, listSelfAndNestedTypes, mapDirectMembers } from '../../src/kinds/walk.ts';
import type { Json } from '../../src/model/json.ts';
import type { FieldPath } from '../../src/model/state.ts';

const TYPE = objectOf({
  tags: field(listOf(text(), { orSingle: true }), 'Texts.'),
  shares: field(mapOf(idOf('bkdtg'), boolean), 'By id.'),
  config: field(jsonWithLists({ ids: idOf('ipp') }), 'Free.'),
});

/** Lists every path of a walk, with its type. */
function listPlaces(type: FieldType, value: Json, path: FieldPath = []): readonly string[] {
  const inner: string[] = [];
  mapDirectMembers(type, value, {
    visit: (member, innerValue, at) => {
      inner.push(...listPlaces(member, innerValue, [...path, ...at]));
      return innerValue;
    },
  });
  return [`${path.join('.')}: ${type.type}`, ...inner];
}

describe('the walk', () => {
  it('reaches every value that has a type, and no other', () => {
    const value = { tags: ['a'], shares: { bkdtg_1: true }, config: { ids: ['ipp_1'], other: ['x'] }, more: [1] };
    expect(listPlaces(TYPE, value)).toEqual([
      ': object',
      'tags: list',
      'tags.0: text',
      'shares: map',
      'shares.bkdtg_1: boolean',
      'config: json',
      'config.ids: list',
      'config.ids.0: reference',
    ]);
  });

  it('reads a single value as a list of one if the table allows it', () => {
    expect(listPlaces(TYPE, { tags: 'a' })).toEqual([': object', 'tags: list', 'tags: text']);
    expect(listPlaces(setOf(text()), 'a')).toEqual([': list']);
  });

  it.each<Json>([null, 'text', 7, [1]])('leaves %j alone if another type is expected', (value) => {
    expect(mapDirectMembers(TYPE, value, { visit: () => 'changed' })).toEqual(value);
    expect(mapDirectMembers(mapOf(text(), text()), value, { visit: () => 'changed' })).toEqual(value);
  });

  it('keeps unknown fields, and names that every object seems to have', () => {
    const value = { constructor: 'mine', config: { constructor: ['x'] } };
    expect(mapDirectMembers(TYPE, value, { visit: (_, member) => member })).toEqual(value);
    expect(findMemberType(TYPE, 'constructor')).toBeUndefined();
    expect(findMemberType(jsonWithLists(), 'constructor')).toBeUndefined();
  });

  it('finds the types inside of a type', () => {
    expect(listSelfAndNestedTypes(TYPE).map(({ type }) => type)).toEqual([
      'object',
      'list',
      'text',
      'map',
      'reference',
      'boolean',
      'json',
      'reference',
    ]);
  });
});
