import { describe, expect, it } from 'vitest';
import {
  createKeyRedactor,
  createSecretRegistry,
  redactJson,
  withoutSecretVariables,
} from '../../src/model/secrets.ts';
import { selectFirst } from '../cases.ts';

const KEY = 'k3y_of/the+"pipe&line"<1>';
const TOKEN = 'ghs_0123456789abcdef';

function createRegistryWithSecrets() {
  const secrets = createSecretRegistry();
  secrets.add('the API key', KEY);
  secrets.add('a token of the forge', `${TOKEN}\n`);
  return secrets;
}

const HTML = KEY.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

describe('a secret', () => {
  it.each([
    ['as it is', KEY],
    ['URL-encoded', encodeURIComponent(KEY)],
    ['URL-encoded in lower case', encodeURIComponent(KEY).replace(/%../g, (code) => code.toLowerCase())],
    ['in JSON', JSON.stringify(KEY).slice(1, -1)],
    ['in JSON, with every sign as a code', Array.from(KEY, toJsonCode).join('')],
    ['in HTML', HTML],
    ['in HTML, with codes', KEY.replace(/\W/g, (sign) => `&#x${sign.charCodeAt(0).toString(16)};`)],
    ['in Markdown', KEY.replace(/[^A-Za-z0-9]/g, '\\$&')],
    ['in Markdown, behind invisible spaces', KEY.replace('k3y', 'k&#8203;3y')],
    ['in base64', Buffer.from(`x-${KEY}-y`).toString('base64')],
    ['in base64 behind a name', Buffer.from(`user:${KEY}`).toString('base64')],
    ['in base64 for URLs', Buffer.from(`${KEY}.`).toString('base64url')],
  ])('is removed %s', (_, text) => {
    const struck = createRegistryWithSecrets().redact(`before ${text} behind`);
    expect(struck).toContain('[key]');
    expect(struck).not.toContain('pipe');
    expect(struck).toMatch(/^before .*behind$/);
  });

  it('is named by its purpose, and found at its place', () => {
    const secrets = createRegistryWithSecrets();
    expect(secrets.redact(`${TOKEN} and ${KEY}${KEY}`)).toBe('[token] and [key][key]');
    expect(secrets.find(`the ${TOKEN}`)).toEqual({ name: 'a token of the forge', index: 4 });
    expect(secrets.find('the token')).toBeUndefined();
  });

  it('is left in place if it is short, except for the key in an error', () => {
    const secrets = createSecretRegistry();
    secrets.add('the API key', 'dev');
    secrets.add('the API key', 'elevenchars');
    secrets.add('the API key', '            ');
    expect(secrets.redact('dev elevenchars')).toBe('dev elevenchars');
    expect(createKeyRedactor('dev')('bad key dev, devel')).toBe('bad key [key], devel');
  });

  it('of a variable is redacted from four characters on', () => {
    const secrets = createSecretRegistry();
    secrets.addVariable('LONG', 'four');
    secrets.addVariable('SHORT', 'two');
    expect(secrets.redact('four and two')).toBe('(secret LONG) and two');
  });

  it.each(selectFirst([100, 300]))('is redacted at any length: %d lines', (length) => {
    const long = Array.from({ length }, (_, index) => `line ${index}\n`).join('');
    const secrets = createSecretRegistry();
    secrets.add('the API key', long);
    const left = secrets.redact(`before ${long}behind`);
    expect(left).toMatch(/^before (\[key\])+\n?behind$/);
    expect(secrets.find(`before ${long}`)?.index).toBe(7);
    expect(createKeyRedactor(long)(encodeURIComponent(long))).not.toContain('line');
  });

  it('that a response contained is removed as a word of its own', () => {
    const secrets = createSecretRegistry();
    secrets.addToken('2YqToken_of-a-credential');
    expect(secrets.redact('a 2YqToken_of-a-credential, and 2YqToken_of-a-credential2')).toBe(
      'a [token], and 2YqToken_of-a-credential2',
    );
  });

  it('is removed from keys and values of JSON, and JSON without one is returned unchanged', () => {
    const secrets = createRegistryWithSecrets();
    const clean = { a: [1, 'b', { c: null }] };
    expect(redactJson(clean, secrets.redact)).toBe(clean);
    expect(redactJson({ [KEY]: [{ a: `x${TOKEN}` }], b: 1 }, secrets.redact)).toEqual({
      '[key]': [{ a: 'x[token]' }],
      b: 1,
    });
  });

  it('is in no environment of a program, whatever its variable is called', () => {
    const env = { PATH: '/bin', API_KEY: KEY, HEADER: `Bearer ${TOKEN}`, NONE: undefined };
    expect(withoutSecretVariables(env, createRegistryWithSecrets())).toEqual({ PATH: '/bin', NONE: undefined });
  });
});

function toJsonCode(sign: string): string {
  return /[A-Za-z0-9]/.test(sign) ? sign : `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
