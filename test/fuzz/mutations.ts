import fc from 'fast-check';
import { isJsonArray, isJsonObject, type Json } from '../../src/model/json.ts';

/** Tokens with a meaning in one of the languages that are read: YAML, JSON, PEM, HTTP, CEL, expressions. */
const TOKENS = [
  ...['\n', '\r\n', '  ', '\t', '- ', '{', '}', '[', ']', ': ', ',', '"', "'", '|\n', '#', '?', '\\', '/', '../'],
  ...['---\n', '...\n', '*a', '&a ', '!x ', '!!binary ', '<<: ', '%YAML 1.1\n', '\ufeff', '\u0000', '\ud800', '\u202e'],
  ...['null', 'true', '-1', '1e999', '0x10', '.inf', '9007199254740993', '2026-02-30T25:00:00Z', '1000d'],
  ...[
    '$\u007benv:HOME}',
    '$\u007benv:',
    '$$\u007b',
    '__proto__',
    'constructor',
    'TCPEdge/postgres',
    '(a+)+$',
    '(?<a>',
    '-----END',
  ],
];

const added = fc.oneof(
  fc.constantFrom(...TOKENS),
  fc.string({ unit: 'binary', maxLength: 5 }),
  fc.constantFrom(...TOKENS).map((token) => token.repeat(400)),
);

/** Random texts, also with tokens. */
export const anyText: fc.Arbitrary<string> = fc.oneof(fc.string({ unit: 'binary', maxLength: 30 }), added);

interface Edit {
  readonly at: number;
  readonly removed: number;
  readonly added: string | Uint8Array;
}

const edit: fc.Arbitrary<Edit> = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  removed: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 0, max: 40 }) }, fc.integer({ min: 0, max: 4_000 })),
  added: fc.oneof({ weight: 4, arbitrary: added }, fc.uint8Array({ maxLength: 4 })),
});

/** A valid text with a few edits anywhere in its bytes, or truncated. */
export function mutatedText(valid: string): fc.Arbitrary<Buffer> {
  const bytes = Buffer.from(valid);
  const edited = fc.array(edit, { minLength: 1, maxLength: 4 }).map((edits) => edits.reduce(applyEdit, bytes));
  const cut = fc.integer({ min: 0, max: bytes.length }).map((length) => bytes.subarray(0, length));
  return fc.oneof({ weight: 9, arbitrary: edited }, cut);
}

function applyEdit(bytes: Buffer, { at, removed, added: text }: Edit): Buffer {
  const start = Math.floor(at * bytes.length);
  return Buffer.concat([bytes.subarray(0, start), Buffer.from(text), bytes.subarray(start + removed)]);
}

/** Random bytes. */
export const anyBytes: fc.Arbitrary<Buffer> = fc
  .oneof(fc.uint8Array({ maxLength: 300 }), fc.string({ unit: 'binary', maxLength: 100 }))
  .map((bytes) => Buffer.from(bytes));

const strange: fc.Arbitrary<Json> = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }).map(toJson),
  fc.constantFrom<Json>('', ' ', null, true, 0, -1, 1.5, 1e21, [], {}, '__proto__', 'a'.repeat(5_000), ...TOKENS),
);

/** Converts to this project's type of JSON values. */
function toJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json; // it was created from JSON
}

type Change = { readonly at: number } & (
  | { readonly does: 'replace'; readonly value: Json }
  | { readonly does: 'remove' }
  | { readonly does: 'add'; readonly key: string; readonly value: Json }
  | { readonly does: 'copy'; readonly from: number }
);

const place = fc.nat({ max: 1_000_000 });
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ at: place, does: fc.constant('replace' as const), value: strange }),
  fc.record({ at: place, does: fc.constant('remove' as const) }),
  fc.record({
    at: place,
    does: fc.constant('add' as const),
    key: fc.constantFrom('id', 'spec', 'metadata', '__proto__', 'toString', '', 'edgewise'),
    value: strange,
  }),
  fc.record({ at: place, does: fc.constant('copy' as const), from: place }),
);

/** A valid value in which a few places have another JSON value, which is seldom valid there. */
export function mutatedJson(valid: Json): fc.Arbitrary<string> {
  return fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) => {
    const box = { value: structuredClone(valid) };
    for (const each of changes) applyChange(box, each);
    return JSON.stringify(box.value);
  });
}

/** A place in a value: its parent and its key. */
interface Place {
  readonly holder: Record<string, Json | undefined>;
  readonly key: string;
}

function applyChange(box: { value: Json }, changed: Change): void {
  const places = listPlaces(box);
  const { holder, key } = places[changed.at % places.length] ?? { holder: {}, key: '' };
  const value = holder[key];
  if (changed.does === 'replace') holder[key] = changed.value;
  else if (changed.does === 'copy') holder[key] = structuredClone(getAt(places, changed.from));
  else if (changed.does === 'add' && isJsonObject(value)) {
    const own = { value: changed.value, enumerable: true, configurable: true, writable: true };
    Object.defineProperty(value, changed.key, own);
  } else if (changed.does === 'remove' && holder !== (box as unknown)) delete holder[key]; // the whole document stays
}

function getAt(places: readonly Place[], at: number): Json | undefined {
  const { holder, key } = places[at % places.length] ?? { holder: {}, key: '' };
  return holder[key];
}

function listPlaces(box: { value: Json }): readonly Place[] {
  const places: Place[] = [];
  const visit = (holder: Record<string, Json | undefined>): void => {
    for (const key of Object.keys(holder)) {
      places.push({ holder, key });
      const value = holder[key];
      if (value !== undefined && (isJsonObject(value) || isJsonArray(value)))
        visit(value as unknown as Record<string, Json | undefined>); // a list is changed by its indexes
    }
  };
  visit(box);
  return places;
}
