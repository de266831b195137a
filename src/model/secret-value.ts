import { isJsonArray, isJsonObject, type Json, type JsonObject } from './json.ts';

/**
 * Values that no output shows. In every spec, plan and request above the client, one of two objects stands in the place
 * of the text:
 *
 * - `{ "$secret": "Bearer ${secret:NAME}" }`: a manifest names environment variables, and the text is made of their
 *   values. `$hidden` is absent if a variable has no value, or is not offered.
 * - `{ "$hidden": 3 }`: a live value, or a value that a manifest has in clear in a place that is named like a secret.
 *   Within a run, equal values have equal numbers.
 *
 * Only the client turns values into such objects and back, so nothing else can print, save or digest a value.
 */
export type ConcealedValue = SecretValue | HiddenValue;

export type SecretValue = JsonObject & { readonly $secret: string; readonly $hidden?: number };
export type HiddenValue = JsonObject & { readonly $hidden: number };

/** The keys of concealed values. A manifest cannot have them. */
export const CONCEALED_KEYS: readonly string[] = ['$secret', '$hidden'];

export function isSecretValue(value: Json | undefined): value is SecretValue {
  return isJsonObject(value) && typeof value['$secret'] === 'string';
}

export function isConcealed(value: Json | undefined): value is ConcealedValue {
  return isSecretValue(value) || (isJsonObject(value) && typeof value['$hidden'] === 'number');
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

/** Formats a concealed value for people: `Bearer (secret NAME)`, `(hidden 3)`, or `(hidden)` if it has no number. */
export function formatConcealed(value: ConcealedValue): string {
  if (!isSecretValue(value)) return value.$hidden === 0 ? '(hidden)' : `(hidden ${value.$hidden})`;
  return replacePlaceholders(value.$secret, (name) => `(secret ${name})`);
}

/** Replaces each concealed value inside JSON. Returns the same value if it contains none. */
export function mapConcealed(value: Json, replace: (concealed: ConcealedValue) => Json): Json {
  if (isConcealed(value)) return replace(value);
  if (isJsonArray(value)) {
    const members = value.map((member) => mapConcealed(member, replace));
    return members.every((member, at) => member === value[at]) ? value : members;
  }
  return isJsonObject(value) ? mapConcealedMembers(value, replace) : value;
}

export function mapConcealedMembers(value: JsonObject, replace: (concealed: ConcealedValue) => Json): JsonObject {
  const before = Object.entries(value);
  const after = before.map(([key, member]) => [key, mapConcealed(member, replace)] as const);
  return after.every(([, member], at) => member === before[at]?.[1]) ? value : Object.fromEntries(after);
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

export function withoutHiddenNumbersInObject(value: JsonObject): JsonObject {
  return mapConcealedMembers(value, removeNumber);
}

function removeNumber(concealed: ConcealedValue): Json {
  return isSecretValue(concealed) ? { $secret: concealed.$secret } : { $hidden: 0 };
}

/** Renumbers the concealed values of one output. */
export interface HiddenNumbers {
  readonly inJson: (value: Json) => Json;
  readonly inObject: (value: JsonObject) => JsonObject;
}

/** Numbers the hidden values of one output by their first appearance, from 1. */
export function createHiddenNumbers(): HiddenNumbers {
  const numbers = new Map<number, number>();
  const renumber = (concealed: ConcealedValue): Json => {
    if (isSecretValue(concealed)) return { $secret: concealed.$secret };
    const number = numbers.get(concealed.$hidden) ?? numbers.size + 1;
    numbers.set(concealed.$hidden, number);
    return { $hidden: number };
  };
  return {
    inJson: (value) => mapConcealed(value, renumber),
    inObject: (value) => mapConcealedMembers(value, renumber),
  };
}

/**
 * Returns the live value with the desired secret in the place of each value that equals it. A secret without a known
 * value cannot be compared, so it counts as equal to any live value.
 */
export function alignSecrets(live: Json, desired: Json | undefined): Json {
  if (isSecretValue(desired)) return isSameSecret(live, desired) ? desired : live;
  if (isConcealed(live)) return live;
  if (isJsonArray(live) && isJsonArray(desired) && live.length === desired.length) {
    const members = live.map((member, at) => alignSecrets(member, desired[at]));
    return members.every((member, at) => member === live[at]) ? live : members;
  }
  return isJsonObject(live) && isJsonObject(desired) ? alignMembers(live, desired) : live;
}

export function alignMembers(live: JsonObject, desired: JsonObject): JsonObject {
  const before = Object.entries(live);
  const after = before.map(([key, member]) => {
    return [key, Object.hasOwn(desired, key) ? alignSecrets(member, desired[key]) : member] as const;
  });
  return after.every(([, member], at) => member === before[at]?.[1]) ? live : Object.fromEntries(after);
}

function isSameSecret(live: Json, { $hidden }: SecretValue): boolean {
  if ($hidden === undefined) return live !== null && live !== '';
  return isConcealed(live) && live.$hidden === $hidden;
}
