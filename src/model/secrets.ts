import { ConcealedValue, isConcealed, type SecretValue } from './concealed-value.ts';
import { InvariantError } from './errors.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, MAX_DEPTH, toCanonicalJson } from './json.ts';
import { createSecretMatcher, MIN_SECRET_LENGTH, type SecretMatcher } from './secret-matcher.ts';
import { mapConcealedMembers } from './secret-value.ts';

/**
 * Finds and redacts the secrets of a run (API keys, and tokens of GitHub and GitLab) by their values, in any text. A
 * run must not print, save, send or pass on a secret, except in the request header that authenticates with it.
 */

/** For a run without secrets: finds and redacts nothing. */
export const NO_OP_SECRET_REDACTOR: SecretRedactor = {
  add: () => undefined,
  addVariable: () => undefined,
  addToken: () => undefined,
  redact: (text) => text,
  find: () => undefined,
  seal: (template) => ConcealedValue.secret(template),
  publish: (text) => text,
  hide: (value) => value,
  hideLive: (value) => value,
  showLive: () => undefined,
  reveal: (body) => body,
  redactConcealed: (text) => text,
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
  /**
   * Registers the token of a new credential. It is redacted where it is a word of a text, and not found: its sink gets it.
   * The cost does not depend on the number of tokens.
   */
  readonly addToken: (token: string) => void;
  /** Returns the text with each secret replaced by `standIn`. Default: `[key]` or `[token]`. */
  readonly redact: (text: string, standIn?: string) => string;
  /** Returns a secret in the text, and its first position. `undefined` if the text contains no secret. */
  readonly find: (text: string) => SecretMatch | undefined;
}

/** Turns values that no output may show into concealed values, and back. */
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
   * `InvariantError` if a variable has no value; callers check that before the first write.
   */
  readonly reveal: (body: JsonObject) => JsonObject;
  /**
   * Returns a message of the service with each concealed text of at least 4 characters hidden: it may quote what was sent,
   * or what is live. For such messages only: an author could hide other texts by writing one as a secret, too.
   */
  readonly redactConcealed: (text: string) => string;
}

/** A secret in a text. `index` is its position in UTF-16 units. */
export interface SecretMatch {
  readonly name: SecretName;
  readonly index: number;
}

/** Minimum length of a value that is redacted as a separate word. */
const MIN_WORD_LENGTH = 4;

const STAND_INS: Readonly<Record<SecretName, string>> = { 'the API key': '[key]', 'a token of the forge': '[token]' };

/** Matches what may be the token of a credential. */
const TOKEN = /[\w-]{12,}/g;

interface KnownSecret {
  readonly standIn: string;
  readonly matcher: SecretMatcher;
  /** Absent: the secret is redacted, and not found. */
  readonly name?: SecretName;
}

export function createSecretRegistry(): SecretRedactor {
  const known = new Map<string, KnownSecret>();
  const tokens = new Set<string>();
  const addSecret = (value: string, secret: Omit<KnownSecret, 'matcher'>): void => {
    if (!known.has(value)) known.set(value, { ...secret, matcher: createSecretMatcher(value) });
  };
  return {
    ...createValueConcealer(),
    add: (name, given) => {
      const value = given.trim();
      if (value.length >= MIN_SECRET_LENGTH) addSecret(value, { name, standIn: STAND_INS[name] });
    },
    addVariable: (variable, value) => {
      if (value.length >= MIN_WORD_LENGTH) addSecret(value, { standIn: `(secret ${variable})` });
    },
    addToken: (token) => {
      tokens.add(token);
    },
    redact: (text, given) => {
      const left = tokens.size === 0 ? text : text.replace(TOKEN, (word) => (tokens.has(word) ? '[token]' : word));
      return [...known.values()].reduce((rest, { standIn, matcher }) => matcher.replace(rest, given ?? standIn), left);
    },
    find: (text) => {
      for (const { name, matcher } of known.values()) {
        const index = name === undefined ? undefined : matcher.search(text);
        if (name !== undefined && index !== undefined) return { name, index };
      }
      return undefined;
    },
  };
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
  const conceal = (value: Json) => ConcealedValue.hidden(toNumber(value), { isNumeric: typeof value === 'number' });
  const hide = (value: Json) => {
    secret.add(value);
    return conceal(value);
  };
  return {
    seal: (template, value) => {
      return ConcealedValue.secret(template, value === undefined ? undefined : hide(value).number);
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
    redactConcealed: (text) =>
      values
        .filter((value) => typeof value === 'string' && value.length >= MIN_WORD_LENGTH && text.includes(value))
        .reduce<string>((left, value) => createSecretMatcher(String(value)).replace(left, '(hidden)'), text),
  };
}

/** Lists the texts in JSON, without those of concealed values. */
function listSecretTexts(value: Json): readonly string[] {
  if (typeof value === 'string') return [value];
  if (isConcealed(value) || typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(listSecretTexts);
}

function revealValue({ template = 'a hidden field', number }: ConcealedValue, values: readonly Json[]): Json {
  const value = number === undefined ? undefined : values[number - 1];
  if (value !== undefined) return value;
  throw new InvariantError(`The value of ${template} is not known`);
}

/** Returns a function that redacts one key. A key of fewer than 12 characters is redacted only as a separate word. */
export function createKeyRedactor(given: string): (text: string) => string {
  const matcher = createSecretMatcher(given.trim());
  return (text) => matcher.replace(text, STAND_INS['the API key']);
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

/** Returns a function that redacts what `find` finds, and leaves values of `${secret:NAME}`, which are compared. */
export function createFoundRedactor({
  find,
  redact,
}: Pick<SecretRedactor, 'find' | 'redact'>): (text: string) => string {
  return (text) => (find(text) === undefined ? text : redact(text));
}

/**
 * Redacts the strings and keys in JSON. Returns the same object if nothing is redacted. Values nested deeper than
 * `depth` are not searched, because every reader rejects them.
 */
export function redactJson(value: Json, redact: (text: string) => string, depth = 2 * MAX_DEPTH): Json {
  if (typeof value === 'string') return redact(value);
  if (depth === 0) return value;
  if (isJsonArray(value)) {
    const members = value.map((member) => redactJson(member, redact, depth - 1));
    return members.every((member, at) => member === value[at]) ? value : members;
  }
  return isJsonObject(value) ? redactObject(value, redact, depth - 1) : value;
}

function redactObject(value: JsonObject, redact: (text: string) => string, depth: number): JsonObject {
  const before = Object.entries(value);
  const after = before.map(([key, member]) => [redact(key), redactJson(member, redact, depth)] as const);
  const isSame = after.every(([key, member], at) => key === before[at]?.[0] && member === before[at]?.[1]);
  return isSame ? value : Object.fromEntries(after);
}
