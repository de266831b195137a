import { isJsonArray, isJsonObject, type Json, type JsonObject, MAX_DEPTH, toCanonicalJson } from './json.ts';
import {
  type ConcealedValue,
  isConcealed,
  isSecretValue,
  mapConcealedMembers,
  type SecretValue,
} from './secret-value.ts';

/**
 * Finds and redacts the secrets of a run (API keys, and tokens of GitHub and GitLab) by their values, in any text. A
 * run must not print, save, send or pass on a secret, except in the request header that authenticates with it.
 */

/** For a run without secrets: finds and redacts nothing. */
export const NO_OP_SECRET_REDACTOR: SecretRedactor = {
  add: () => undefined,
  addVariable: () => undefined,
  redact: (text) => text,
  find: () => undefined,
  seal: (template) => ({ $secret: template }),
  publish: (text) => text,
  hide: (value) => value,
  hideLive: (value) => value,
  showLive: () => undefined,
  reveal: (body) => body,
};

/** The name of a secret in messages. */
type SecretName = 'the API key' | 'a token of the forge';

/** The secrets of a run, to find them in texts, and to keep other values out of everything but requests. */
export interface SecretRedactor extends ValueConcealer {
  /** Registers a value as a secret. Values of fewer than 12 characters are ignored. */
  readonly add: (name: SecretName, value: string) => void;
  /**
   * Registers the value of a variable that manifests name as `${secret:NAME}`. It is redacted, and not found: requests
   * may contain it. A value of fewer than 12 characters is redacted only as a separate word, one of fewer than 4 not.
   */
  readonly addVariable: (variable: string, value: string) => void;
  /** Returns the text with each secret replaced by `standIn`. Default: `[key]` or `[token]`. */
  readonly redact: (text: string, standIn?: string) => string;
  /** Returns a secret in the text, and its first position. `undefined` if the text contains no secret. */
  readonly find: (text: string) => SecretMatch | undefined;
}

/** Turns values that no output may show into concealed values, and back. `secret-value.ts` describes them. */
export interface ValueConcealer {
  /** Conceals a text with placeholders. `value`: the text with the values of its variables; `undefined` if not known. */
  readonly seal: (template: string, value: string | undefined) => SecretValue;
  /**
   * Registers a text that manifests have in clear, and returns it. `hideLive` then shows a live value that equals it. A
   * text that is a secret elsewhere in the manifests is concealed.
   */
  readonly publish: (text: string) => Json;
  /** Conceals a secret that a manifest has in clear. */
  readonly hide: (value: Json) => Json;
  /** Conceals a live value. Returns the value itself if it is published, or after `showLive`. */
  readonly hideLive: (value: Json) => Json;
  /** Shows live values from now on (`--show-secrets`), but no value of a `${secret:NAME}`. */
  readonly showLive: () => void;
  /**
   * Returns the body of a request with its real values, and publishes the texts that it has in clear. Throws
   * `UnknownSecretError` if a variable has no value; callers check that before the first write.
   */
  readonly reveal: (body: JsonObject) => JsonObject;
}

/** A request needs the value of a variable that is not set, or not offered. */
export class UnknownSecretError extends Error {
  override readonly name = 'UnknownSecretError';
}

/** A secret in a text. `index` is its position in UTF-16 units. */
export interface SecretMatch {
  readonly name: SecretName;
  readonly index: number;
}

/** Minimum length of a secret. A shorter value, such as `dev`, would also match in ordinary words. */
const MIN_LENGTH = 12;

/** Minimum length of a value that is redacted as a separate word. */
const MIN_WORD_LENGTH = 4;

const STAND_INS: Readonly<Record<SecretName, string>> = { 'the API key': '[key]', 'a token of the forge': '[token]' };

interface KnownSecret {
  readonly standIn: string;
  readonly matcher: RegExp;
  /** Absent: the secret is redacted, and not found. */
  readonly name?: SecretName;
}

export function createSecretRegistry(): SecretRedactor {
  const known = new Map<string, KnownSecret>();
  const addParts = (value: string, secret: Omit<KnownSecret, 'matcher'>): void => {
    for (const part of listSecretParts(value))
      if (!known.has(part)) known.set(part, { ...secret, matcher: createSecretMatcher(part) });
  };
  return {
    ...createValueConcealer(),
    add: (name, given) => {
      const value = given.trim();
      if (value.length >= MIN_LENGTH) addParts(value, { name, standIn: STAND_INS[name] });
    },
    addVariable: (variable, value) => {
      if (value.length >= MIN_WORD_LENGTH) addParts(value, { standIn: `(secret ${variable})` });
    },
    redact: (text, given) =>
      [...known.values()].reduce((left, { standIn, matcher }) => left.replace(matcher, () => given ?? standIn), text),
    find: (text) => {
      for (const { name, matcher } of known.values()) {
        if (name === undefined) continue;
        const index = text.search(matcher);
        if (index >= 0) return { name, index };
      }
      return undefined;
    },
  };
}

/** Matches a secret, or a short secret as a separate word. */
function createSecretMatcher(part: string): RegExp {
  const pattern = createPattern(part);
  return new RegExp(part.length < MIN_LENGTH ? `(?<![A-Za-z0-9])${pattern}(?![A-Za-z0-9])` : pattern, 'g');
}

function createValueConcealer(): ValueConcealer {
  let showsLive = false;
  const numbers = new Map<string, number>();
  const values: Json[] = [];
  const [secret, published] = [new Set<Json>(), new Set<Json>()];
  const toNumber = (value: Json): number => {
    const text = toCanonicalJson(value);
    const number = numbers.get(text) ?? values.push(value);
    numbers.set(text, number);
    return number;
  };
  const conceal = (value: Json) => ({ $hidden: toNumber(value) });
  const hide = (value: Json) => {
    secret.add(value);
    return conceal(value);
  };
  return {
    seal: (template, value) => {
      if (value === undefined) return { $secret: template };
      return { $secret: template, ...hide(value) };
    },
    publish: (text) => {
      published.add(text);
      return secret.has(text) ? conceal(text) : text;
    },
    hide,
    showLive: () => {
      showsLive = true;
    },
    hideLive: (value) => ((showsLive || published.has(value)) && !secret.has(value) ? value : conceal(value)),
    reveal: (body) => {
      for (const text of listSecretTexts(body)) published.add(text);
      return mapConcealedMembers(body, (concealed) => revealValue(concealed, values));
    },
  };
}

/** Lists the texts in JSON, without those of concealed values. */
function listSecretTexts(value: Json): readonly string[] {
  if (typeof value === 'string') return [value];
  if (isConcealed(value) || typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(listSecretTexts);
}

function revealValue(concealed: ConcealedValue, values: readonly Json[]): Json {
  const value = concealed.$hidden === undefined ? undefined : values[concealed.$hidden - 1];
  if (value !== undefined) return value;
  throw new UnknownSecretError(
    `The value of ${isSecretValue(concealed) ? concealed.$secret : 'a hidden field'} is not known`,
  );
}

/** Returns a function that redacts one key. A key of fewer than 12 characters is redacted only as a separate word. */
export function createKeyRedactor(given: string): (text: string) => string {
  const key = given.trim();
  if (key.length >= MIN_LENGTH) {
    const secrets = createSecretRegistry();
    secrets.add('the API key', key);
    return secrets.redact;
  }
  const matcher = createSecretMatcher(key);
  return (text) => text.replace(matcher, STAND_INS['the API key']);
}

/**
 * Maximum number of characters of a secret in one regular expression. Longer expressions compile slowly or not at all.
 */
const MAX_PATTERN_LENGTH = 1024;

/** Splits a value into parts of about equal length, each short enough for one regular expression. */
function listSecretParts(value: string): readonly string[] {
  const count = Math.ceil(value.length / MAX_PATTERN_LENGTH);
  const length = Math.ceil(value.length / count);
  return Array.from({ length: count }, (_, index) => value.slice(index * length, (index + 1) * length));
}

/** Returns the environment variables whose values contain no secret, for programs that edgewise starts. */
export function withoutSecretVariables<T extends string | undefined>(
  env: Readonly<Record<string, T>>,
  { find }: Pick<SecretRedactor, 'find'>,
): Readonly<Record<string, T>> {
  return Object.fromEntries(
    Object.entries(env).filter(([, value]) => value === undefined || find(value) === undefined),
  );
}

/** A pattern that matches the value as it is, escaped for a URL, JSON, HTML or Markdown, or in base64. */
function createPattern(value: string): string {
  const characters = Array.from(value, createCharacterPattern).join(ESCAPE_INSERTIONS);
  return `(?:${[characters, ...listBase64(value)].join('|')})`;
}

/** Matches what Markdown and HTML escapes insert between two characters. */
const ESCAPE_INSERTIONS = '(?:\\\\|&#8203;|<wbr>)*';

const HTML_ENTITIES: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' };

function createCharacterPattern(character: string): string {
  if (/^[A-Za-z0-9]$/.test(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  const digits = Array.from(hex, (digit) => `[${digit}${digit.toUpperCase()}]`).join('');
  const entity = HTML_ENTITIES[character];
  const forms = [
    character.replace(/[^\p{L}\p{N}]/gu, '\\$&'),
    ...encodeUrl(character),
    `\\\\u0*${digits}`,
    `&#0*${code};`,
    `&#[xX]0*${digits};`,
    ...(entity === undefined ? [] : [`&${entity};`]),
  ];
  return `(?:${[...new Set(forms)].join('|')})`;
}

function encodeUrl(character: string): readonly string[] {
  const bytes = Buffer.from(character, 'utf8');
  const upper = Array.from(bytes, (byte) => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`).join('');
  return [upper, upper.toLowerCase()];
}

/**
 * Returns patterns for the value in base64: one for each offset (modulo 3) at which the value can start. They omit
 * characters that also depend on neighbouring bytes. Empty for short values, which would match by chance.
 */
function listBase64(value: string): readonly string[] {
  if (value.length < MIN_LENGTH) return [];
  const bytes = Buffer.from(value, 'utf8');
  const forms = [0, 1, 2].map((offset) => {
    const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
    return padded.toString('base64').slice(Math.ceil((offset * 8) / 6), Math.floor((padded.length * 8) / 6));
  });
  return forms.map((form) => form.replaceAll('+', '(?:\\+|-|%2[bB])').replaceAll('/', '(?:\\/|_|%2[fF])'));
}

type SecretSearch = Pick<SecretRedactor, 'find' | 'redact'>;

/**
 * Redacts each secret in strings and keys. Returns the same object if it contains no secret. Values nested deeper than
 * `depth` are not searched, because every reader rejects them.
 */
export function redactJson(value: Json, secrets: SecretSearch, depth = 2 * MAX_DEPTH): Json {
  if (typeof value === 'string') return secrets.find(value) === undefined ? value : secrets.redact(value);
  if (depth === 0) return value;
  if (isJsonArray(value)) {
    const members = value.map((member) => redactJson(member, secrets, depth - 1));
    return members.every((member, at) => member === value[at]) ? value : members;
  }
  return isJsonObject(value) ? redactObject(value, secrets, depth - 1) : value;
}

function redactObject(value: JsonObject, secrets: SecretSearch, depth: number): JsonObject {
  const before = Object.entries(value);
  const after = before.map(([key, member]) => [secrets.redact(key), redactJson(member, secrets, depth)] as const);
  const isSame = after.every(([key, member], at) => key === before[at]?.[0] && member === before[at]?.[1]);
  return isSame ? value : Object.fromEntries(after);
}
