import { describe, expect, it } from 'vitest';
import { boolean, type Field, type FieldLifecycle, type FieldType, field } from '../../src/kinds/field.ts';
import { FORMATS } from '../../src/kinds/formats.ts';
import { defineKind, type Kind } from '../../src/kinds/kind.ts';
import { KINDS } from '../../src/kinds/tables/registry.ts';
import { listSelfAndNestedTypes } from '../../src/kinds/walk.ts';
import { INVENTED_KINDS } from './tables.ts';

type TypeWords = {
  readonly [Type in FieldType['type']]: Words<Omit<Extract<FieldType, { readonly type: Type }>, 'type'>>;
};
type Words<Said> = Readonly<Record<keyof Said, true>>;

/** The entries of each type. A missing one is a compiler error. */
const TYPES: TypeWords = {
  text: {
    maxBytes: true,
    format: true,
    orFile: true,
    cel: true,
    known: true,
    ignoresFinalSpace: true,
    mayBeSecret: true,
  },
  enum: { values: true },
  boolean: {},
  number: { integer: true, min: true, max: true },
  timestamp: {},
  reference: { prefixes: true, isRefInResponse: true },
  list: { of: true, unordered: true, minItems: true, orSingle: true, unrestricted: true },
  map: { keys: true, of: true, valueTypes: true, caseInsensitive: true, isShares: true, findMistakes: true },
  object: { fields: true, others: true, title: true, module: true, findMistakes: true, judgeAccess: true },
  json: { lists: true, isAny: true },
  metadata: { maxBytes: true },
};

const LIFECYCLES: Readonly<Record<FieldLifecycle, true>> = {
  mutable: true,
  immutable: true,
  computed: true,
  'one-time': true,
};
const CLEARS: Readonly<Record<NonNullable<Field['clear']>, true>> = { delete: true, null: true, disable: true };
const ROLES: Readonly<Record<Kind['role'], true>> = { owned: true, attached: true, submitted: true };

/** A field and a kind with only the required entries. */
const SILENT_FIELD = field(boolean, 'It says nothing.');
const SILENT_KIND = defineKind({
  name: 'Silent',
  role: 'attached',
  title: 'silent',
  description: 'It says nothing.',
  idPrefix: 'slnt',
  path: '/silent/{id}',
  fields: {},
});

const OWN_FIELDS = INVENTED_KINDS.flatMap(({ fields, lifecycle }) => [
  ...Object.values(fields),
  ...Object.values(lifecycle),
]);
const ALL_TYPES = OWN_FIELDS.flatMap(({ type }) => listSelfAndNestedTypes(type));
const ALL_FIELDS = [
  ...OWN_FIELDS,
  ...ALL_TYPES.flatMap((type) => (type.type === 'object' ? Object.values(type.fields) : [])),
];

describe('the tables of the invented kinds', () => {
  it('are in the registry, as if a line had been added to it', () => {
    expect(KINDS.slice(-INVENTED_KINDS.length)).toEqual(INVENTED_KINDS);
  });

  it.each(listWords(SILENT_KIND))('use %s of a kind', (word) => {
    expect(INVENTED_KINDS.filter((kind) => isSaid(word, kind, SILENT_KIND))).not.toEqual([]);
  });

  it.each(listWords(SILENT_FIELD).filter((word) => word !== 'type'))('use %s of a field', (word) => {
    expect(ALL_FIELDS.filter((one) => isSaid(word, one, SILENT_FIELD))).not.toEqual([]);
  });

  it.each(
    Object.entries(TYPES).flatMap(([type, words]) => ['type', ...Object.keys(words)].map((word) => [type, word])),
  )('have a %s that sets its %s', (type, word) => {
    const said = ALL_TYPES.filter((one) => one.type === type).flatMap((one) => Object.entries(one));
    const values = said.flatMap(([name, value]) => (name === word ? [value] : []));
    expect(values.filter((value) => value !== undefined && value !== false && value !== 0)).not.toEqual([]);
  });

  it('have every lifecycle, every way to clear, every role and every form of text', () => {
    const found = {
      lifecycles: new Set(ALL_FIELDS.map(({ lifecycle }) => lifecycle)),
      clears: new Set(ALL_FIELDS.flatMap(({ clear }) => clear ?? [])),
      roles: new Set(INVENTED_KINDS.map(({ role }) => role)),
      formats: new Set(ALL_TYPES.flatMap((type) => (type.type === 'text' ? (type.format ?? []) : []))),
    };
    expect(found).toEqual({
      lifecycles: new Set(Object.keys(LIFECYCLES)),
      clears: new Set(Object.keys(CLEARS)),
      roles: new Set(Object.keys(ROLES)),
      formats: new Set(Object.keys(FORMATS)),
    });
  });
});

function listWords(silent: object): readonly string[] {
  return Object.keys(silent);
}

/** Whether an entry has another value than the default. */
function isSaid(word: string, said: object, silent: object): boolean {
  const [value, unsaid] = [said, silent].map((one) => new Map(Object.entries(one)).get(word));
  return value !== unsaid && JSON.stringify(value) !== (JSON.stringify(unsaid) ?? 'undefined');
}
