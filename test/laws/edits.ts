import { isJsonArray, isJsonObject, type Json } from '../../src/model/json.ts';

/** Edits of JSON documents: each changes, adds or removes one value. */

/** An edited document, and a description of the edit. */
export interface Edit {
  readonly what: string;
  readonly document: Json;
}

/** Lists every edit of a document: another value for each leaf, and one member more or less for each object and list. */
export function listEdits(document: Json): readonly Edit[] {
  return editInside(document, '$');
}

function editInside(value: Json, path: string): readonly Edit[] {
  if (isJsonArray(value))
    return [...editMembers([...value.entries()], path, (entries) => toList(entries)), ...addMember(value, path)];
  if (isJsonObject(value))
    return [
      ...editMembers(Object.entries(value), path, (entries) => Object.fromEntries(entries)),
      ...addMember(value, path),
    ];
  return listOthers(value).map((document) => ({ what: `${path} = ${JSON.stringify(document)}`, document }));
}

function editMembers<Key extends string | number>(
  entries: readonly (readonly [Key, Json])[],
  path: string,
  build: (entries: readonly (readonly [Key, Json])[]) => Json,
): readonly Edit[] {
  return entries.flatMap(([key, member], index) => {
    const without = build(entries.filter((_, at) => at !== index));
    const inner = editInside(member, `${path}.${key}`).map(({ what, document }) => ({
      what,
      document: build(entries.map((entry, at) => (at === index ? [key, document] : entry))),
    }));
    return [...inner, { what: `${path} without ${key}`, document: without }];
  });
}

function toList(entries: readonly (readonly [number, Json])[]): Json {
  return entries.map(([, member]) => member);
}

/** Adds a member: a copy of the last one of a list, or a new key. */
function addMember(value: Json, path: string): readonly Edit[] {
  if (isJsonArray(value))
    return [...new Set([value.at(-1) ?? 'added', 'added'])].map((more) => ({
      what: `${path} with ${JSON.stringify(more)?.slice(0, 40)}`,
      document: [...value, more],
    }));
  return isJsonObject(value) ? [{ what: `${path} with added`, document: { ...value, added: 'x' } }] : [];
}

function listOthers(leaf: Json): readonly Json[] {
  if (typeof leaf === 'boolean') return [!leaf];
  if (typeof leaf === 'number') return [leaf + 1];
  return typeof leaf === 'string' ? [`${leaf}x`, ''].filter((other) => other !== leaf) : ['x'];
}
