import { isJsonArray, isJsonObject, type Json } from './json.ts';
import type { FieldPath } from './state.ts';

/** The texts without a NUL, as a regular expression. Half a character needs none: what is exchanged in UTF-8 cannot hold it. */
export const STORABLE_PATTERN = '^[^\\x00]*$';

/** Why services cannot store a text unchanged; follows the name of its place in a message. `undefined`: they can. */
export function findTextFault(text: string): string | undefined {
  if (text.includes('\0')) return 'contains a NUL character';
  return text.isWellFormed() ? undefined : 'contains half of a surrogate pair, which is no character';
}

/** A text inside of a value that cannot be stored, and why. */
export interface TextFault {
  readonly path: FieldPath;
  readonly isKey: boolean;
  readonly message: string;
}

/** Every text and key inside of a value that cannot be stored. The value is nested no deeper than what is read. */
export function listTextFaults(value: Json, path: FieldPath = []): readonly TextFault[] {
  if (typeof value === 'string') return toFaults(value, path, false);
  if (isJsonArray(value)) return value.flatMap((member, index) => listTextFaults(member, [...path, index]));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    const at = [...path, key];
    return [...toFaults(key, at, true), ...listTextFaults(member, at)];
  });
}

function toFaults(text: string, path: FieldPath, isKey: boolean): readonly TextFault[] {
  const message = findTextFault(text);
  return message === undefined ? [] : [{ path, isKey, message }];
}
