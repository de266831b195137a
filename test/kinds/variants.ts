import { isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';
import type { FieldPath } from '../../src/model/state.ts';

/** Returns the document with one of its parts replaced, for each part; without a replacement, left out. Its apiVersion and kind stay. */
export function listVariants(document: JsonObject, replacement: Json | undefined): readonly JsonObject[] {
  return listPaths(document)
    .filter(([first]) => first !== 'apiVersion' && first !== 'kind')
    .map((path) => replace(document, path, replacement))
    .filter(isJsonObject);
}

function listPaths(value: Json): readonly FieldPath[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [[key], ...listPaths(member).map((path) => [key, ...path])]);
}

function replace(value: Json, [step, ...rest]: FieldPath, replacement: Json | undefined): Json | undefined {
  if (step === undefined) return replacement;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).flatMap(([key, member]): [string, Json][] => {
    const kept = key === step ? replace(member, rest, replacement) : member;
    return kept === undefined ? [] : [[key, kept]];
  });
  return Array.isArray(value) ? entries.map(([, member]) => member) : Object.fromEntries(entries);
}
