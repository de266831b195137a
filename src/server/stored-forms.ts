import { domainToUnicode } from 'node:url';
import type { Field, FieldType, MapType, TextType } from '../kinds/field.ts';
import { FORMATS } from '../kinds/formats.ts';
import { mapDirectMembers } from '../kinds/walk.ts';
import type { HttpRequest } from '../model/http.ts';
import {
  computeUtf8ByteLength,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  parseJson,
} from '../model/json.ts';
import type { StoredForm } from '../model/server-faults.ts';
import { findRequestedOperation } from './response-fields.ts';

/** The forms in which services store values: the fault `normalise`. */

export type StoredForms = ReadonlySet<StoredForm>;

/** Returns the value of a field as a service stores it. Objects are unchanged: their fields have forms of their own. */
export function toStoredForm(field: Field, value: Json, forms: StoredForms): Json {
  const isShifted = field.earlierByMs > 0 && forms.has('backdated') && typeof value === 'string';
  const shifted = isShifted ? formatSeconds(Date.parse(value) - Math.min(BACKDATED_BY_MS, field.earlierByMs)) : value;
  const isText = field.mayBeSpelledOtherwise && typeof shifted === 'string';
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
  const stored = mapDirectMembers(type, value, {
    visit: (inner, member) => toStoredValue(inner, member, forms),
    visitKey: ({ caseInsensitive }: MapType, key) =>
      caseInsensitive && forms.has('lower_case') ? key.toLowerCase() : key,
  });
  const isSet = type.type === 'list' && type.unordered;
  return isSet && forms.has('sorted') && isJsonArray(stored) ? stored.toSorted().toReversed() : stored;
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

/** Descriptions and metadata. */
function toStoredText({ type }: FieldType, value: string, forms: StoredForms): string {
  if (type === 'metadata') {
    const parsed = parseJson(value);
    return isJsonObject(parsed) ? JSON.stringify(toStoredMember(parsed, forms)) : value;
  }
  const spaced = toStoredSpace(value, forms);
  const cut = forms.has('cut') ? cutAfterBytes(spaced, MAX_KEPT_BYTES) : spaced;
  return toEscaped(forms.has('lower_case') ? cut.toLowerCase() : cut, forms);
}

/** As few bytes of a description as services keep. */
const MAX_KEPT_BYTES = 32;

/** The longest start of a text with at most that many bytes. */
function cutAfterBytes(text: string, maxBytes: number): string {
  let kept = '';
  for (const character of text) {
    if (computeUtf8ByteLength(kept + character) > maxBytes) return kept;
    kept += character;
  }
  return kept;
}

function toStoredSpace(text: string, forms: StoredForms): string {
  const trimmed = forms.has('trimmed') ? text.trim() : text;
  const collapsed = forms.has('collapsed') ? trimmed.replace(/\s+/g, ' ') : trimmed;
  return forms.has('nfc') ? collapsed.normalize('NFC') : collapsed;
}

function toEscaped(text: string, forms: StoredForms): string {
  if (!forms.has('escaped')) return text;
  return text.replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
}

/** A value in metadata. Its mark has no numbers and no nulls. */
function toStoredMember(value: Json, forms: StoredForms): Json {
  if (typeof value === 'string') return toEscaped(toStoredSpace(value, forms), forms);
  if (typeof value === 'number') return forms.has('numbers_as_text') ? String(value) : value;
  if (isJsonArray(value)) return value.map((member) => toStoredMember(member, forms));
  if (!isJsonObject(value)) return value;
  const isKept = ([, member]: [string, Json]): boolean => member !== null || !forms.has('nulls_dropped');
  const members = Object.entries(value).filter(isKept);
  const ordered = forms.has('sorted') ? members.sort(([left], [right]) => (left < right ? 1 : -1)) : members;
  return Object.fromEntries(ordered.map(([name, member]) => [name, toStoredMember(member, forms)]));
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
