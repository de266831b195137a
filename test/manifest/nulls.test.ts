import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { MANIFEST_KINDS } from '../../src/kinds/tables/registry.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';
import { createManifestJsonSchema } from '../../src/schemas/manifest.ts';
import { validate } from './explain.ts';

/** Tests null in place of every value of every kind, one at a time. */

const FIXTURE = readFileSync(new URL('fixtures/everything.yaml', import.meta.url), 'utf8');
const DOCUMENTS = parseAllDocuments(FIXTURE)
  .map((document): unknown => document.toJS())
  .filter(isJsonObject)
  .flatMap((document) => (isJsonArray(document['items']) ? document['items'].filter(isJsonObject) : [document]));

type Path = readonly (string | number)[];

interface Place {
  readonly path: Path;
  /** Whether the value is a member of a list or a map, where nothing can be left out. */
  readonly isMember: boolean;
}

/** Fields with members and no fields. Inside of the last two, any JSON is valid. */
const MAPS = new Set(['backends', 'critical_options', 'extensions', 'add', 'metadata', 'config']);
const FREE = new Set(['metadata', 'config']);

function listPlaces(value: Json, path: Path = []): readonly Place[] {
  if (typeof value !== 'object' || value === null || FREE.has(String(path.at(-1)))) return [];
  const isMember = isJsonArray(value) || MAPS.has(String(path.at(-1)));
  return Object.entries(value).flatMap(([key, inner]) => {
    const at = [...path, isJsonArray(value) ? Number(key) : key];
    return [{ path: at, isMember }, ...listPlaces(inner, at)];
  });
}

/** Replaces the value at a path with null, or removes it. */
function replaceWithNull(value: Json, [step, ...rest]: Path, to: null | undefined): Json | undefined {
  if (step === undefined) return to;
  const changed = (member: Json) => replaceWithNull(member, rest, to);
  if (isJsonArray(value))
    return value
      .map((member, index) => (index === step ? changed(member) : member))
      .filter((member) => member !== undefined);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).flatMap(([key, member]): [string, Json][] => {
    const kept = key === step ? changed(member) : member;
    return kept === undefined ? [] : [[key, kept]];
  });
  return Object.fromEntries(entries);
}

/** The files of a document with a changed spec, and all other documents. */
function toFiles(document: JsonObject, path: Path, to: null | undefined) {
  const changed = replaceWithNull(document, ['spec', ...path], to) ?? null;
  const all = DOCUMENTS.map((other) => (other === document ? changed : other));
  return { document: changed, text: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: all }) };
}

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
const isManifest = ajv.compile(createManifestJsonSchema());

const CASES = MANIFEST_KINDS.flatMap(({ name }) => {
  const document = DOCUMENTS.find(({ kind }) => kind === name) ?? {};
  return listPlaces(document['spec'] ?? null).map((place) => ({
    ...place,
    document,
    title: [name, ...place.path].join('.'),
  }));
});

describe('null in a manifest', () => {
  it('is tested at every field of every kind', () => {
    const fields = MANIFEST_KINDS.flatMap((kind) => kind.specFields.map(([name]) => `${kind.name}.${name}`));
    expect(CASES.map(({ title }) => title)).toEqual(expect.arrayContaining(fields));
  });

  it.each(CASES)('counts as left out at $title, if the field may be left out', ({ document, path, isMember }) => {
    const without = validate(toFiles(document, path, undefined).text);
    const withNull = toFiles(document, path, null);
    const found = validate(withNull.text);
    if (without.state !== undefined && !isMember) {
      expect(found.diagnostics).toEqual([]);
      const toSpecs = ({ state }: typeof found) =>
        [...(state?.resources.values() ?? [])].map(({ address, spec, written }) => ({ address, spec, written }));
      expect(toSpecs(found)).toEqual(toSpecs(without));
      expect(isManifest(withNull.document)).toBe(true);
    } else {
      expect(found.diagnostics.map(({ code }) => code)).toEqual(['bad-value']);
      expect(found.diagnostics[0]?.message).toMatch(/ must be .*, but is empty$/);
      expect(found.diagnostics[0]?.remedy).toBe(isMember ? 'Give it a value, or remove the line.' : 'Give it a value.');
      expect(isManifest(withNull.document)).toBe(false);
    }
  });

  it.each([
    ['TCPEdge', true],
    ['Stack', true],
    ['IPRestriction', false],
    ['External', false],
  ])('counts as left out in place of the whole spec of a %s: %s', (kind, isValid) => {
    const text = `{ apiVersion: edgewise/v1, kind: ${kind}, metadata: { name: a, labels: null, annotations: }, spec: null }`;
    const { diagnostics } = validate(text);
    expect(diagnostics.map(({ code }) => code)).toEqual(isValid ? [] : ['bad-field']);
  });
});
