import { ConcealedValue, isConcealed, type SecretValue } from './concealed-value.ts';
import {
  findMember,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  mapMembers,
  mapObjectMembers,
  toCanonicalJson,
} from './json.ts';

/** What is done with concealed values: their templates, their text for people and files, and comparisons. */

export function isSecretValue(value: Json | undefined): value is SecretValue {
  return isConcealed(value) && value.template !== undefined;
}

/** Matches an escape (`$${secret:`), or a placeholder. */
const PLACEHOLDER = /\$(\$\{secret:)|\$\{secret:([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** Returns a text with each placeholder replaced, and escapes resolved. */
function replacePlaceholders(template: string, replace: (name: string) => string): string {
  return template.replace(PLACEHOLDER, (whole, escaped: string | undefined, name: string | undefined) => {
    if (escaped !== undefined) return escaped;
    return name === undefined ? whole : replace(name);
  });
}

/** The names of the variables in a template, each once. Empty for a text without placeholders. */
export function listSecretNames(template: string): readonly string[] {
  const names = new Set<string>();
  for (const [, , name] of template.matchAll(PLACEHOLDER)) if (name !== undefined) names.add(name);
  return [...names];
}

/** Resolves the escapes in a text without placeholders. */
export function unescapePlaceholders(text: string): string {
  return replacePlaceholders(text, (name) => `\${secret:${name}}`);
}

/** Fills in a template. `undefined` if a variable has no value. */
export function fillTemplate(template: string, findValue: (name: string) => string | undefined): string | undefined {
  const values = new Map(listSecretNames(template).map((name) => [name, findValue(name)]));
  if ([...values.values()].includes(undefined)) return undefined;
  return replacePlaceholders(template, (name) => values.get(name) ?? '');
}

/**
 * Formats a concealed value for people: `Bearer (secret NAME)`, `(hidden 3)`, or `(hidden)` if it has no number. Text
 * around a placeholder that could pose as something else, such as a hidden value or an arrow, is quoted.
 */
export function formatConcealed({ template, number = 0 }: ConcealedValue): string {
  if (template === undefined) return number === 0 ? '(hidden)' : `(hidden ${number})`;
  const texts = splitTemplate(template);
  const isPlain = texts.every((text) => PLAIN_TEXT.test(text));
  const names = Array.from(template.matchAll(PLACEHOLDER)).flatMap(([, , name]) => name ?? []);
  return texts
    .map((text, at) => `${isPlain || text === '' ? text : JSON.stringify(text)}${formatName(names[at])}`)
    .join('');
}

function formatName(name: string | undefined): string {
  return name === undefined ? '' : `(secret ${name})`;
}

const PLAIN_TEXT = /^[\w .:/=+-]*$/;

/** The texts before, between and after the placeholders, with escapes resolved. */
function splitTemplate(template: string): readonly string[] {
  const texts = [''];
  let end = 0;
  for (const match of template.matchAll(PLACEHOLDER)) {
    const [whole, escaped, name] = match;
    const text = `${texts.pop()}${template.slice(end, match.index)}`;
    texts.push(...(name === undefined ? [`${text}${escaped}`] : [text, '']));
    end = match.index + whole.length;
  }
  return [...texts.slice(0, -1), `${texts.at(-1)}${template.slice(end)}`];
}

/** JSON for people. What is concealed in it is in parentheses and not quoted, so that no text looks the same. */
export function formatJson(value: Json): string {
  return toCanonicalJson(value, (concealed) => {
    const { template } = concealed;
    const isWhole =
      template === undefined || listSecretNames(template).some((name) => template === `\${secret:${name}}`);
    return isWhole ? formatConcealed(concealed) : `(${JSON.stringify(formatConcealed(concealed))})`;
  });
}

/** Replaces each concealed value inside JSON. Returns the same value if it contains none. */
export function mapConcealed(value: Json, replace: (concealed: ConcealedValue) => Json): Json {
  return isConcealed(value) ? replace(value) : mapMembers(value, (member) => mapConcealed(member, replace));
}

export function mapConcealedMembers(value: JsonObject, replace: (concealed: ConcealedValue) => Json): JsonObject {
  return mapObjectMembers(value, (member) => mapConcealed(member, replace));
}

export function containsConcealed(value: Json | undefined): boolean {
  return listConcealed(value ?? null).length > 0;
}

export function listConcealed(value: Json): readonly ConcealedValue[] {
  const found: ConcealedValue[] = [];
  mapConcealed(value, (concealed) => {
    found.push(concealed);
    return concealed;
  });
  return found;
}

/** Removes the numbers, which differ from run to run, for digests and for comparisons with a saved plan. */
export function withoutHiddenNumbers(value: Json): Json {
  return mapConcealed(value, removeNumber);
}

function removeNumber({ template }: ConcealedValue): Json {
  return template === undefined ? ConcealedValue.hidden(0) : ConcealedValue.secret(template);
}

/** Renumbers the concealed values of one output. */
export type HiddenNumbers = (value: Json) => Json;

/** Numbers the hidden values of one output by their first appearance, from 1. */
export function createHiddenNumbers(): HiddenNumbers {
  const numbers = new Map<number, number>();
  const renumber = ({ template, number: given = 0 }: ConcealedValue): Json => {
    if (template !== undefined) return ConcealedValue.secret(template);
    const number = numbers.get(given) ?? numbers.size + 1;
    numbers.set(given, number);
    return ConcealedValue.hidden(number);
  };
  return (value) => mapConcealed(value, renumber);
}

/**
 * Returns the live value with the desired secret in the place of each value that equals it. A secret without a known
 * value cannot be compared, so it counts as equal to any live value.
 */
export function alignSecrets(live: Json, desired: Json | undefined): Json {
  if (isSecretValue(desired)) return isSameSecret(live, desired) ? desired : live;
  if (isJsonArray(live) && isJsonArray(desired) && live.length === desired.length)
    return mapMembers(live, (member, at) => alignSecrets(member, desired[Number(at)]));
  return isJsonObject(live) && isJsonObject(desired) ? alignMembers(live, desired) : live;
}

export function alignMembers(live: JsonObject, desired: JsonObject): JsonObject {
  return mapObjectMembers(live, (member, key) => alignSecrets(member, findMember(desired, String(key))));
}

function isSameSecret(live: Json, { number }: SecretValue): boolean {
  if (number === undefined) return live !== null && live !== '';
  return isConcealed(live) && live.number === number;
}

/**
 * Files that are read again spell a concealed value as `{"$secret":"Bearer ${secret:NAME}"}` or `{"$hidden":3}`. Each
 * key of a user that begins with `$` has one more `$` there, so that nothing of a user is read as a concealed value.
 */
export function toFileJson(value: Json): Json {
  if (isConcealed(value)) return { ...value.toJSON() };
  return mapMembers(value, toFileJson, (key) => (key.startsWith('$') ? `$${key}` : key));
}

/** Returns what a file says. Throws the error for a key with one `$` that is not that of a concealed value. */
export function fromFileJson(value: Json, createError: (key: string) => Error): Json {
  const names = isJsonObject(value) ? Object.keys(value) : [];
  const reserved = names.find((name) => name.startsWith('$') && !name.startsWith('$$'));
  if (reserved === undefined)
    return mapMembers(
      value,
      (member) => fromFileJson(member, createError),
      (key) => (key.startsWith('$') ? key.slice(1) : key),
    );
  const { $secret, $hidden } = isJsonObject(value) && names.length === 1 ? value : {};
  if (typeof $secret === 'string') return ConcealedValue.secret($secret);
  if (typeof $hidden === 'number') return ConcealedValue.hidden($hidden);
  throw createError(reserved);
}
