import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Field, FieldType } from '../../src/kinds/field.ts';
import { MANIFEST_KINDS } from '../../src/kinds/tables/registry.ts';
import { NO_ENVIRONMENT } from '../../src/manifest/environment.ts';
import { validateManifests } from '../../src/manifest/validate.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';
import { createManifestJsonSchema } from '../../src/schemas/manifest.ts';
import { inlineDefs } from '../../src/schemas/text.ts';
import { EXAMPLES } from './life.ts';
import { parseDocuments } from './parse-documents.ts';

/** `adopt` names an existing resource, so it is in a comment. Here it counts. */
const ADOPT_IN_COMMENT = /# (adopt: \w+).*/;

/** Its policies are in another example. */
const POLICIES_IN_COMMENT = /# (policies: \[.*?\]) .*/;

/** Its runs do not set this key. */
const KEY_IN_COMMENT = /# (key_env: \w+) .*/;

const IN_COMMENTS = [ADOPT_IN_COMMENT, POLICIES_IN_COMMENT, KEY_IN_COMMENT];

const SOURCES = globSync('*.yaml', { cwd: join(EXAMPLES, 'everything') }).map((file) => {
  const text = readFileSync(join(EXAMPLES, 'everything', file), 'utf8');
  return {
    file,
    text: IN_COMMENTS.reduce((shown, comment) => shown.replace(comment, '$1'), text),
  };
});

const DOCUMENTS = SOURCES.flatMap(({ text }) => parseDocuments(text)).flatMap(unfold);

describe('examples/everything', () => {
  it.each(MANIFEST_KINDS.map((kind) => [kind.name, kind] as const))('sets every field of %s', (name, kind) => {
    const stated = listSetPaths(name, 'spec');
    const fields = Object.fromEntries(kind.specFields);
    expect(listFieldPaths(fields).filter((path) => !stated.has(path))).toEqual([]);
  });

  it('sets every lifecycle setting', () => {
    const settings = MANIFEST_KINDS.map(({ name }) => inlineDefs(createManifestJsonSchema(name))).map((schema) =>
      getProperty(schema, 'lifecycle'),
    );
    const stated = DOCUMENTS.map((document) => document['lifecycle'] ?? {});
    expect(stated).toContainEqual(expect.objectContaining({ adopt: expect.any(String) }));
    expect(settings.flatMap((schema) => diffUnsetFields(schema, stated))).toEqual([]);
  });

  it('sets every setting of a Stack', () => {
    const settings = getProperty(inlineDefs(createManifestJsonSchema('Stack')), 'spec');
    expect(diffUnsetFields(settings, [{}])).toContain('guard');
    expect(
      diffUnsetFields(
        settings,
        DOCUMENTS.filter(({ kind }) => kind === 'Stack').map(({ spec }) => spec ?? {}),
      ),
    ).toEqual([]);
  });

  it('is valid with the adoption from its comment', () => {
    const sources = SOURCES.map(({ file, text }) => ({ file, bytes: Buffer.from(text) }));
    const { state, diagnostics } = validateManifests(sources, { env: NO_ENVIRONMENT });
    expect(diagnostics).toEqual([]);
    expect(state?.resources.get('TCPEdge/postgres')?.lifecycle.adopt).toMatch(/^edgtcp_/);
  });
});

function unfold(document: JsonObject): readonly JsonObject[] {
  return document['kind'] === 'List' && isJsonArray(document['items'])
    ? document['items'].filter(isJsonObject)
    : [document];
}

/** Lists the paths that the documents of a kind set in one of their parts. Positions in lists do not count. */
function listSetPaths(kind: string, part: string): ReadonlySet<string> {
  const documents = DOCUMENTS.filter((document) => document['kind'] === kind);
  return new Set(documents.flatMap((document) => listValuePaths(document[part] ?? {}, '')));
}

function listValuePaths(value: Json, prefix: string): readonly string[] {
  if (isJsonArray(value)) return value.flatMap((member) => listValuePaths(member, prefix));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => [
    `${prefix}${key}`,
    ...listValuePaths(member, `${prefix}${key}.`),
  ]);
}

function listFieldPaths(fields: Readonly<Record<string, Field>>): readonly string[] {
  return Object.entries(fields).flatMap(([name, { type }]) => [
    name,
    ...listInnerPaths(type).map((path) => `${name}.${path}`),
  ]);
}

function listInnerPaths(type: FieldType): readonly string[] {
  if (type.type === 'object') return listFieldPaths(type.fields);
  if (type.type === 'json') return Object.keys(type.lists);
  return type.type === 'list' ? listInnerPaths(type.of) : [];
}

function getProperty(schema: JsonObject, name: string): JsonObject {
  const property = isJsonObject(schema['properties']) ? schema['properties'][name] : undefined;
  return isJsonObject(property) ? property : {};
}

/** Lists the paths of a schema's properties that none of these values sets. One value sets only one alternative, so others count too. */
function diffUnsetFields(schema: JsonObject, values: readonly Json[]): readonly string[] {
  const objects = values.filter(isJsonObject);
  const { properties = {}, additionalProperties: member, anyOf } = schema;
  const alternatives = isJsonArray(anyOf) ? anyOf.filter(isJsonObject) : [];
  const named = Object.keys(isJsonObject(properties) ? properties : {});
  return [
    ...alternatives.flatMap((alternative) => diffUnsetFields(alternative, DOCUMENTS.flatMap(listObjects))),
    ...(isJsonObject(member)
      ? diffUnsetFields(
          member,
          objects.flatMap((object) => Object.values(object)),
        )
      : []),
    ...named.flatMap((name) => {
      const stated = objects.flatMap((object) => object[name] ?? []);
      if (stated.length === 0) return [name];
      return diffUnsetFields(getProperty(schema, name), stated).map((path) => `${name}.${path}`);
    }),
  ];
}

/** Lists a value and all values inside of it. */
function listObjects(value: Json): readonly Json[] {
  const members = isJsonArray(value) || isJsonObject(value) ? Object.values(value) : [];
  return [value, ...members.flatMap(listObjects)];
}
