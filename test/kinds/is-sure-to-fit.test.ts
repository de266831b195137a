import { globSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { Kind } from '../../src/kinds/kind.ts';
import { findKind } from '../../src/kinds/tables/registry.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';
import { toRequestSchema, toResponseSchema } from '../../src/schemas/field.ts';
import { isSureRequest, isSureResponse } from '../../src/schemas/is-sure-to-fit.ts';
import { toTries } from '../tries.ts';
import { changeAt } from './change-at.ts';

/** A kind, and the JSON of one: what manifests state, with texts where the interface has them. */
interface Sample {
  readonly kind: Kind;
  readonly json: JsonObject;
}

const SAMPLES: readonly Sample[] = globSync('examples/{everything,quickstart}/*.yaml')
  .sort()
  .flatMap((file) => parseAllDocuments(readFileSync(file, 'utf8')).map((document): unknown => document.toJS()))
  .filter(isJsonObject)
  .flatMap(({ kind: name, spec }) => {
    const kind = findKind(String(name));
    return kind === undefined || !isJsonObject(spec) ? [] : [{ kind, json: toWire(spec) }];
  });

/** Metadata is a text in the interface, and what is referred to has an id. */
function toWire({ metadata, ...spec }: JsonObject): JsonObject {
  const text = JSON.stringify({ ...spec, ...(metadata !== undefined && { metadata: JSON.stringify(metadata) }) });
  const ids = text.replace(/"(\w+)\/[\w.-]+"/g, (address, name: string) => {
    const kind = findKind(name);
    return kind?.role === 'owned' ? `"${kind.idPrefix}_2k9XLPDYGXNLtxcTVgVsKTFzfRt"` : address;
  });
  return JSON.parse(ids);
}

const json = fc.json({ maxDepth: 1 }).map((text): Json => JSON.parse(text));
const value = fc.oneof(
  json,
  fc.constantFrom<Json>('ipp_1', 'ipp_2k9XLN4QSRa2CXSGdTMwZDWQXjk', 'a:1', '', ' ', -1, 0.5, 1, null, true, [], {}, [
    null,
  ]),
  fc.constantFrom<Json>(
    { id: 'ipp_1', uri: 'x' },
    { id: 1 },
    { id: null },
    { __proto__: 1 },
    '2026-01-31T12:00:00Z',
    '2026-02-31T12:00:00Z',
  ),
);

describe.each([
  ['a response', isSureResponse, (kind: Kind) => toResponseSchema(kind, 'response')],
  [
    'a creation',
    (kind: Kind, body: JsonObject) => isSureRequest(kind, 'create', body),
    (kind: Kind) => toRequestSchema(kind, 'create'),
  ],
  [
    'a change',
    (kind: Kind, body: JsonObject) => isSureRequest(kind, 'update', body),
    (kind: Kind) => toRequestSchema(kind, 'update'),
  ],
])('the quick answer for %s', (_, isSure, toSchema) => {
  it('is yes for what fits', () => {
    const fitting = SAMPLES.map(({ kind, json }) => ({ kind, json: toFitting(toSchema(kind), json) })).filter(
      ({ kind, json }) => toSchema(kind).safeParse(json).success,
    );
    expect(fitting.length).toBeGreaterThan(SAMPLES.length / 2);
    expect(fitting.filter(({ kind, json }) => !isSure(kind, json)).map(({ json }) => json)).toEqual([]);
  });

  it('is never yes for what does not fit', () => {
    const run = (sample: Sample, nth: number, replacement: Json | undefined): void => {
      const changed = changeAt(sample.json, nth, replacement);
      const schema = toSchema(sample.kind);
      for (const json of [changed, toFitting(schema, changed)])
        if (isSure(sample.kind, json)) expect(schema.safeParse(json).error?.issues).toBeUndefined();
    };
    const replacement = fc.option(value, { nil: undefined });
    fc.assert(fc.property(fc.constantFrom(...SAMPLES), fc.nat(), replacement, run), { numRuns: toTries(3000) });
  });
});

/** Without the members that the schema refuses. */
function toFitting(schema: ReturnType<typeof toRequestSchema>, json: JsonObject): JsonObject {
  const wrong = new Set<PropertyKey>();
  for (const issue of schema.safeParse(json).error?.issues ?? [])
    for (const key of issue.code === 'unrecognized_keys' && issue.path.length === 0
      ? issue.keys
      : issue.path.slice(0, 1))
      wrong.add(key);
  return Object.fromEntries(Object.entries(json).filter(([name]) => !wrong.has(name)));
}
