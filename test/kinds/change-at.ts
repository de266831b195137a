import { assertDefined } from '../../src/model/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';
import type { FieldPath } from '../../src/model/state.ts';

/** The value with its nth part, counted around, replaced; without a replacement, left out. Its apiVersion and kind stay. */
export function changeAt(value: JsonObject, nth: number, replacement: Json | undefined): JsonObject {
  const paths = listPaths(value).filter(([first]) => first !== 'apiVersion' && first !== 'kind');
  const path = assertDefined(paths[nth % paths.length], 'path');
  const changed = replace(value, path, replacement);
  return isJsonObject(changed) ? changed : {};
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
