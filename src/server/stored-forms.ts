import { domainToUnicode } from 'node:url';
import type { Field, FieldType, MapType, TextType } from '../kinds/field.ts';
import { FORMATS } from '../kinds/formats.ts';
import { mapDirectMembers } from '../kinds/walk.ts';
import type { HttpRequest } from '../model/http.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, parseJson } from '../model/json.ts';
import type { StoredForm } from '../model/server-faults.ts';
import { findRequestedOperation } from './response-fields.ts';

/** The forms in which services store values: the fault `normalise`. */

export type StoredForms = ReadonlySet<StoredForm>;

/** Returns the value of a field as a service stores it. Objects are unchanged: their fields have forms of their own. */
export function toStoredForm(field: Field, value: Json, forms: StoredForms): Json {
  const isShifted = field.earlierByMs > 0 && forms.has('backdated') && typeof value === 'string';
  const shifted = isShifted ? formatSeconds(Date.parse(value) - Math.min(BACKDATED_BY_MS, field.earlierByMs)) : value;
  const isText = field.mayBeStoredOtherwise && typeof shifted === 'string';
  return toStoredValue(field.type, isText ? toStoredText(field.type, shifted, forms) : shifted, forms);
}

const BACKDATED_BY_MS = 30_000;

function formatSeconds(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}

function toStoredValue(type: FieldType, value: Json, forms: StoredForms): Json {
  if (type.type === 'text' && typeof value === 'string') return toStoredName(type, value, forms);
  if (type.type === 'number' && typeof value === 'number')
    return forms.has('float32') && !type.integer ? Math.fround(value) : value;
  if (type.type === 'timestamp' && typeof value === 'string')
    return forms.has('times') ? value.replace(/Z$/, '.000+00:00') : value;
  if (type.type === 'object') return value;
  return mapDirectMembers(type, value, {
    visit: (inner, member) => toStoredValue(inner, member, forms),
    visitKey: ({ caseInsensitive }: MapType, key) =>
      caseInsensitive && forms.has('lower_case') ? key.toLowerCase() : key,
  });
}

/** Host names and addresses. */
function toStoredName({ format }: TextType, value: string, forms: StoredForms): string {
  const isName = format === 'domain' || format === 'hostport' || format === 'acl-rule';
  const isBlock = format === 'cidr' || format === 'source-addresses';
  if (isName && (forms.has('unicode') || forms.has('a_labels'))) {
    const ascii = FORMATS[format].normalize(value);
    return forms.has('unicode') ? ascii.replace(/[\w-]+(?:\.[\w-]+)+/, (name) => domainToUnicode(name) || name) : ascii;
  }
  return isBlock && forms.has('cidr') ? FORMATS[format].normalize(value) : value;
}

/** Descriptions, and texts in metadata. */
function toStoredText({ type }: FieldType, value: string, forms: StoredForms): string {
  const isTrimmed = forms.has('trimmed');
  if (type === 'metadata') {
    const parsed = isTrimmed ? parseJson(value) : undefined;
    return isJsonObject(parsed) ? JSON.stringify(trimTexts(parsed)) : value;
  }
  const trimmed = isTrimmed ? value.trim() : value;
  return forms.has('lower_case') ? trimmed.toLowerCase() : trimmed;
}

function trimTexts(value: Json): Json {
  if (typeof value === 'string') return value.trim();
  if (isJsonArray(value)) return value.map(trimTexts);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, trimTexts(member)]));
}

/** A number that a service chooses. */
const CHOSEN = 10;

/** Returns the body of a request with a number for each part of a module that the body leaves to the service. */
export function fillServiceChoices(body: JsonObject, request: Pick<HttpRequest, 'method' | 'url'>): JsonObject {
  const { module } = findRequestedOperation(request) ?? {};
  if (module?.field.type.type !== 'object' || 'module' in body) return body;
  const chosen = Object.entries(module.field.type.fields).flatMap(
    ([name, { serviceDefault, type }]): [string, Json][] => {
      const isLeft = serviceDefault && type.type === 'number' && (body[name] ?? null) === null;
      return isLeft ? [[name, Math.min(type.max, Math.max(type.min, CHOSEN))]] : [];
    },
  );
  return { ...body, ...Object.fromEntries(chosen) };
}
