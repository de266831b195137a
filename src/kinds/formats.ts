import { DURATION_PATTERN, DURATION_SYNTAX, parseDurationMs } from './duration.ts';
import { checkRe2 } from './re2.ts';

export type TextFormat =
  | 'hostport'
  | 'domain'
  | 'acl-rule'
  | 're2-pattern'
  | 'header-name'
  | 'header-value'
  | 'ssh-public-key'
  | 'http-url'
  | 'principal'
  | 'critical-option'
  | 'certificate-extension'
  | 'duration';

/** Returns why a text is invalid. The reason follows the path in a message. `undefined` if the text is valid. */
export type TextCheck = (text: string) => string | undefined;

/** A text format: how to check a text, and which texts are equal. */
export interface FormatRule {
  /** Name of the format, as in "is not a valid …". */
  readonly title: string;
  /** Description of the format, for messages and schemas. */
  readonly expected: string;
  readonly example: string;
  /**
   * A regular expression for JSON Schema that every valid text matches. It uses only syntax that JSON Schema validators
   * in other languages support, so no `\u0000`. Absent if no expression would be precise enough.
   */
  readonly pattern?: string;
  /** The maximum number of characters. */
  readonly maxLength?: number;
  /** The name of this format in JSON Schema, if it has one. */
  readonly format?: 'uri';
  readonly check: TextCheck;
  /** Loads a deep check for texts that pass `check`. It is separate because its package is slow to load. */
  readonly loadDeepCheck?: () => Promise<TextCheck>;
  /** Returns the same text for all texts that have the same meaning. */
  readonly normalize: (text: string) => string;
  /** Set if `*` in a text is a wildcard. */
  readonly hasWildcards?: true;
}

const LABEL = '[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?';
const DOMAIN_PATTERN = `${LABEL}(\\.${LABEL})+`;
const HOST_PATTERN = `${LABEL}(\\.${LABEL})*`;
const PORT_PATTERN = '([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])';
const HOSTPORT_PATTERN = `${HOST_PATTERN}:${PORT_PATTERN}`;
const LABEL_PART_PATTERN = '[A-Za-z0-9._/-]+';
const DOMAIN = new RegExp(`^${DOMAIN_PATTERN}$`);
const HOSTPORT = new RegExp(`^${HOSTPORT_PATTERN}$`);
const LABEL_PART = new RegExp(`^${LABEL_PART_PATTERN}$`);
const BINDING_PATTERN = [
  '\\*',
  HOSTPORT_PATTERN,
  `(\\*\\.)?${DOMAIN_PATTERN}`,
  `(\\*|${LABEL_PART_PATTERN})=(\\*|${LABEL_PART_PATTERN})`,
].join('|');
/** Characters, without a final dot. RFC 1035 allows 255 bytes; the length of the first label and the final zero take two. */
const MAX_DOMAIN_LENGTH = 253;
/** Excludes the byte order mark explicitly, because not every engine counts it as white space. */
const PRINCIPAL_PATTERN = '^[^\\s,\ufeff\\x00-\\x1f\\x7f-\\x9f]+$';
const PRINCIPAL = new RegExp(PRINCIPAL_PATTERN);
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Source: section 2.5 of the API documentation. */
const CRITICAL_OPTIONS = ['force-command', 'source-address'];
const KEY_TYPES: Readonly<Record<string, string>> = {
  'ssh-ed25519': 'ed25519',
  'ssh-rsa': 'rsa',
  'ecdsa-sha2-nistp256': 'ecdsa',
  'ecdsa-sha2-nistp384': 'ecdsa',
  'ecdsa-sha2-nistp521': 'ecdsa',
};
/** Matches one line: type, key and an optional comment. */
const SSH_LINE = `(${Object.keys(KEY_TYPES).join('|')})[ \\t]+AAAA[A-Za-z0-9+/]+={0,3}([ \\t][^\\r\\n\\x00]*)?`;
/** Allows white space around the line, such as the line break at the end of a file. */
const SSH_PUBLIC_KEY_PATTERN = `^\\s*${SSH_LINE}\\s*$`;
/**
 * Matches trimmed text. A `\s*` at the end, as above, would match the same white space as the comment of the key, and
 * backtracking would be slow.
 */
const SSH_PUBLIC_KEY = new RegExp(`^${SSH_LINE}$`);

export const FORMATS: Readonly<Record<TextFormat, FormatRule>> = {
  hostport: {
    title: 'hostport',
    expected: '`host:port` with a port from 1 to 65535',
    example: '1.tcp.example.net:20001',
    pattern: `^${HOSTPORT_PATTERN}$`,
    check: (text) => (HOSTPORT.test(text) ? undefined : 'is not `host:port` with a port from 1 to 65535'),
    normalize: (text) => text.toLowerCase(),
  },
  domain: {
    title: 'domain',
    expected: 'a domain name of at least two labels',
    example: 'ingress.example.com',
    pattern: `^${DOMAIN_PATTERN}$`,
    maxLength: MAX_DOMAIN_LENGTH,
    check: (text) => (isDomain(text) ? undefined : 'is not a domain name of at least two labels'),
    normalize: (text) => text.toLowerCase(),
  },
  'acl-rule': {
    title: 'ACL rule',
    expected: '`*`, or `bind:` with a domain (`*.` may lead), `host:port`, `key=value` (`*` for either side) or `*`',
    example: 'bind:*.example.com',
    pattern: `^(\\*|bind:(${BINDING_PATTERN}))$`,
    check: checkAclRule,
    normalize: (text) => text,
    hasWildcards: true,
  },
  're2-pattern': {
    title: 'regular expression',
    expected: 'a regular expression in RE2 syntax',
    example: '(Pingdom|curl)/(\\d+)\\.',
    check: checkPattern,
    normalize: (text) => text,
  },
  'header-name': {
    title: 'header name',
    expected: 'an HTTP header name',
    example: 'x-environment',
    pattern: HEADER_NAME.source,
    check: (text) => (HEADER_NAME.test(text) ? undefined : 'is not an HTTP header name'),
    normalize: (text) => text.toLowerCase(),
  },
  'header-value': {
    title: 'header value',
    expected: 'text without line breaks or NUL',
    example: 'production',
    pattern: '^[^\\r\\n\\x00]*$',
    check: (text) => (hasForbiddenHeaderByte(text) ? 'contains a line break or a NUL' : undefined),
    normalize: (text) => text,
  },
  'ssh-public-key': {
    title: 'SSH public key',
    expected: 'an RSA, ECDSA or Ed25519 public key in OpenSSH authorized-keys format',
    example: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L alice@example.com',
    pattern: SSH_PUBLIC_KEY_PATTERN,
    check: checkSshPublicKey,
    loadDeepCheck: async () => (await import('./ssh-key.ts')).checkSshKey,
    normalize: (text) => text.trim().split(/\s+/).slice(0, 2).join(' '),
  },
  'http-url': {
    title: 'URL',
    expected: 'an absolute http or https URL',
    example: 'https://phishing.example.com/login',
    pattern: '^[Hh][Tt][Tt][Pp][Ss]?:',
    format: 'uri',
    check: (text) => (isHttpUrl(text) ? undefined : 'is not an absolute http or https URL'),
    normalize: (text) => text,
  },
  principal: {
    title: 'principal',
    expected: 'a user name without spaces or commas',
    example: 'deploy',
    pattern: PRINCIPAL_PATTERN,
    check: checkPrincipal,
    normalize: (text) => text,
  },
  'critical-option': {
    title: 'critical option',
    expected: '`force-command` or `source-address`',
    example: 'source-address',
    pattern: `^(${CRITICAL_OPTIONS.join('|')})$`,
    check: (text) =>
      CRITICAL_OPTIONS.includes(text)
        ? undefined
        : 'is not a critical option: only `force-command` and `source-address` are',
    normalize: (text) => text,
  },
  'certificate-extension': {
    title: 'extension',
    expected: 'the name of an extension',
    example: 'permit-pty',
    pattern: '^[^\\x00]+$',
    check: (text) => (text === '' ? 'is empty' : undefined),
    normalize: (text) => text,
  },
  duration: {
    title: 'duration',
    expected: DURATION_SYNTAX,
    example: '90d',
    pattern: DURATION_PATTERN,
    check: (text) => (parseDurationMs(text) === undefined ? `is not ${DURATION_SYNTAX}` : undefined),
    normalize: (text) => text,
  },
};

/** Returns the API's type of an OpenSSH public key: `rsa`, `ecdsa` or `ed25519`. `undefined` for other types. */
export function findApiTypeOfSshKey(publicKey: string): string | undefined {
  return KEY_TYPES[publicKey.trim().split(/\s+/)[0] ?? ''];
}

/** Returns the comment of an OpenSSH public key, which is for people and not part of the key. */
export function parseKeyComment(publicKey: string): string {
  return publicKey.trim().split(/\s+/).slice(2).join(' ');
}

function isDomain(text: string): boolean {
  return text.length <= MAX_DOMAIN_LENGTH && DOMAIN.test(text);
}

function checkAclRule(text: string): string | undefined {
  if (text === '*') return undefined;
  if (!text.startsWith('bind:')) return 'is neither `*` nor a `bind:` rule';
  const target = text.slice('bind:'.length);
  if (target === '*' || HOSTPORT.test(target) || isDomain(target.replace(/^\*\./, ''))) return undefined;
  const [key = '', value = '', ...more] = target.split('=');
  const isPart = (part: string) => part === '*' || LABEL_PART.test(part);
  if (target.includes('=') && more.length === 0 && isPart(key) && isPart(value)) return undefined;
  return 'binds neither a domain, a `host:port`, a `key=value` nor `*`';
}

function checkPattern(text: string): string | undefined {
  const finding = checkRe2(text);
  return finding === undefined ? undefined : `is not valid RE2 syntax: ${finding}`;
}

function hasForbiddenHeaderByte(text: string): boolean {
  return text.includes('\r') || text.includes('\n') || text.includes('\0');
}

function checkSshPublicKey(text: string): string | undefined {
  const [name = '', blob = ''] = text.trim().split(/\s+/);
  if (text.trim().includes('\n')) return 'has more than one line';
  if (KEY_TYPES[name] === undefined) return `has the key type \`${name}\` instead of RSA, ECDSA or Ed25519`;
  const bytes = Buffer.from(blob, 'base64');
  const length = bytes.length >= 4 ? bytes.readUInt32BE(0) : 0;
  if (bytes.toString('latin1', 4, 4 + length) !== name) return `does not contain the ${name} key that it announces`;
  return SSH_PUBLIC_KEY.test(text.trim()) ? undefined : 'is not a type, a key in base64 and a comment on one line';
}

function checkPrincipal(text: string): string | undefined {
  if (PRINCIPAL.test(text)) return undefined;
  return /^[^\s,]+$/.test(text) ? 'contains a control character' : 'is not a user name without spaces or commas';
}

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') && url.hostname !== '';
}
