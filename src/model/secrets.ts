import { isJsonArray, isJsonObject, type Json, type JsonObject, MAX_DEPTH } from './json.ts';

/**
 * The secrets of a run by their values: API keys and tokens of forges. Whatever the way on which one comes into a text, the text is known to hold it. Nothing
 * that a run prints, saves, sends or hands on holds one, but for the header of a request that is made with it.
 */

/** Those of a run that knows none. */
export const NO_SECRETS: Secrets = { add: () => undefined, redact: (text) => text, find: () => undefined };

/** What a secret is. */
type SecretName = 'the API key' | 'a token of the forge';

/** The secrets of a run. */
export interface Secrets {
  /** From now on the value counts as secret, if it is long enough to be one. */
  readonly add: (name: SecretName, value: string) => void;
  /** The text with each secret replaced by its name, or by `standIn`. */
  readonly redact: (text: string, standIn?: string) => string;
  /** A secret in a text, and where it first is; `undefined`: there is none. */
  readonly find: (text: string) => FoundSecret | undefined;
}

/** The position of a secret in a text. */
export interface FoundSecret {
  readonly name: SecretName;
  readonly index: number;
}

/** A shorter value, such as `dev`, is a part of ordinary words. */
const LEAST_LENGTH = 12;

const STAND_INS: Readonly<Record<SecretName, string>> = { 'the API key': '[key]', 'a token of the forge': '[token]' };

interface Known {
  readonly name: SecretName;
  readonly matcher: RegExp;
}

/** The secrets of a run, as far as they are known; more may be added. */
export function createSecrets(): Secrets {
  const known = new Map<string, Known>();
  return {
    add: (name, given) => {
      const value = given.trim();
      if (value.length < LEAST_LENGTH) return;
      for (const part of listParts(value))
        if (!known.has(part)) known.set(part, { name, matcher: new RegExp(toPattern(part), 'g') });
    },
    redact: (text, standIn) =>
      [...known.values()].reduce((left, { name, matcher }) => left.replace(matcher, standIn ?? STAND_INS[name]), text),
    find: (text) => {
      for (const { name, matcher } of known.values()) {
        const index = text.search(matcher);
        if (index >= 0) return { name, index };
      }
      return undefined;
    },
  };
}

/** Creates a function that redacts one key. A key shorter than any secret is redacted only where it is a word of its own. */
export function createRedactor(given: string): (text: string) => string {
  const key = given.trim();
  if (key.length >= LEAST_LENGTH) {
    const secrets = createSecrets();
    secrets.add('the API key', key);
    return secrets.redact;
  }
  const matcher = new RegExp(`(?<![A-Za-z0-9])${toPattern(key)}(?![A-Za-z0-9])`, 'g');
  return (text) => text.replace(matcher, STAND_INS['the API key']);
}

/** An expression for a longer text takes long to make, and one for 8,000 characters cannot be made. */
const MOST_LENGTH = 1024;

/** Parts of about one length, which are looked for one by one. */
function listParts(value: string): readonly string[] {
  const count = Math.ceil(value.length / MOST_LENGTH);
  const length = Math.ceil(value.length / count);
  return Array.from({ length: count }, (_, index) => value.slice(index * length, (index + 1) * length));
}

/** The environment for programs that edgewise starts: without the variables that hold a secret. */
export function withoutSecrets<T extends string | undefined>(
  env: Readonly<Record<string, T>>,
  { find }: Pick<Secrets, 'find'>,
): Readonly<Record<string, T>> {
  return Object.fromEntries(
    Object.entries(env).filter(([, value]) => value === undefined || find(value) === undefined),
  );
}

/** What a value looks like as it is, and escaped for a URL, JSON, HTML or Markdown, or in base64. */
function toPattern(value: string): string {
  const characters = Array.from(value, toCharacterPattern).join(INSIDE);
  return `(?:${[characters, ...listBase64(value)].join('|')})`;
}

/** What an escape for Markdown or HTML puts between two characters. */
const INSIDE = '(?:\\\\|&#8203;|<wbr>)*';

const ENTITIES: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' };

function toCharacterPattern(character: string): string {
  if (/^[A-Za-z0-9]$/.test(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  const digits = Array.from(hex, (digit) => `[${digit}${digit.toUpperCase()}]`).join('');
  const entity = ENTITIES[character];
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

/** What base64 shows of a value with others in front of it and behind, whatever those are; short ones would match by chance. */
function listBase64(value: string): readonly string[] {
  if (value.length < LEAST_LENGTH) return [];
  const bytes = Buffer.from(value, 'utf8');
  const forms = [0, 1, 2].map((offset) => {
    const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
    return padded.toString('base64').slice(Math.ceil((offset * 8) / 6), Math.floor((padded.length * 8) / 6));
  });
  return forms.map((form) => form.replaceAll('+', '(?:\\+|-|%2[bB])').replaceAll('/', '(?:\\/|_|%2[fF])'));
}

type Search = Pick<Secrets, 'find' | 'redact'>;

/**
 * A JSON value with each secret redacted, in keys as in texts; the value itself if it has none. Values nested deeper than any reader allows are left alone:
 * they are rejected.
 */
export function redactJson(value: Json, secrets: Search, depth = 2 * MAX_DEPTH): Json {
  if (typeof value === 'string') return secrets.find(value) === undefined ? value : secrets.redact(value);
  if (depth === 0) return value;
  if (isJsonArray(value)) {
    const members = value.map((member) => redactJson(member, secrets, depth - 1));
    return members.every((member, at) => member === value[at]) ? value : members;
  }
  return isJsonObject(value) ? strikeObject(value, secrets, depth - 1) : value;
}

function strikeObject(value: JsonObject, secrets: Search, depth: number): JsonObject {
  const before = Object.entries(value);
  const after = before.map(([key, member]) => [secrets.redact(key), redactJson(member, secrets, depth)] as const);
  const isSame = after.every(([key, member], at) => key === before[at]?.[0] && member === before[at]?.[1]);
  return isSame ? value : Object.fromEntries(after);
}
