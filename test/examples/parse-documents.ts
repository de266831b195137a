import { parseAllDocuments } from 'yaml';
import { isJsonObject, type JsonObject } from '../../src/model/json.ts';

/** The documents of a text of YAML. */
export function parseDocuments(text: string): readonly JsonObject[] {
  return parseAllDocuments(text).map((document) => {
    const value: unknown = document.toJS();
    if (!isJsonObject(value)) throw new TypeError(`Not a mapping: ${String(document)}`);
    return value;
  });
}
