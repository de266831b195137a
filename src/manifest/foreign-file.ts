import { isUtf8 } from 'node:buffer';
import { toBuffer } from '../files/read-input.ts';
import { findJsonExcess, isJsonArray, isJsonObject, type Json, type JsonObject, parseJson } from '../model/json.ts';

/** The fields of a document: what has none of them is no manifest that somebody got wrong, but something else. */
const FIELDS = ['apiVersion', 'kind', 'metadata', 'spec', 'lifecycle', 'lint'] as const;

/** Such a field wherever it stands, in any case. */
const ANY_FIELD = new RegExp(`(?:^|[\\s{,"'])(?:${FIELDS.join('|')})["']?\\s*:`, 'im');

/** A field of anything. Without one it may be a manifest that was cut off. */
const OTHER_FIELD = /^[\s{-]*["']?[\w@$./-]+["']?\s*:(?:\s|$)/m;

/**
 * Whether a file in a folder is no manifest: edgewise wrote it itself, such as a saved plan beside the manifests, or it
 * belongs to another tool, such as package.json. Anything that may be a manifest with a mistake counts as one.
 */
export function isForeignFile(name: string, bytes: Uint8Array): boolean {
  if (!isUtf8(bytes)) return false;
  const text = toBuffer(bytes).toString('utf8');
  const json = name.endsWith('.json') && findJsonExcess(text) === undefined ? parseJson(text) : undefined;
  if (json !== undefined) return isForeignJson(json);
  return !ANY_FIELD.test(text) && OTHER_FIELD.test(text);
}

function isForeignJson(json: Json): boolean {
  if (isJsonArray(json)) return json.length > 0 && json.every((member) => isJsonObject(member) && !hasField(member));
  return isJsonObject(json) && !hasField(json);
}

function hasField(json: JsonObject): boolean {
  return FIELDS.some((name) => Object.hasOwn(json, name));
}
