import { DURATION_PATTERN, DURATION_SYNTAX, parseDurationMs } from './duration.ts';
import { toAsciiHostName } from './host-names.ts';
import { findCoveredVersion, hasHostBits, isCidr, normalizeCidr } from './ip-addresses.ts';
import { checkRe2, matchesEveryText } from './re2.ts';
import { checkSshKey } from './ssh-key.ts';

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
  | 'no-value'
  | 'cidr'
  | 'source-addresses'
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
  /**
   * The pattern of texts in requests, if it is another one: a manifest may contain Unicode host names, and requests
   * contain their A-labels. Also the condition for sending a text as written instead of in normal form.
   */
  readonly requestPattern?: string;
  /** The maximum number of characters. */
  readonly maxLength?: number;
  /** The name of this format in JSON Schema, if it has one. */
  readonly format?: 'uri';
  readonly check: TextCheck;
  /** Checks a text in a manifest further, if it passes `check`. A live resource may contain a text that fails. */
  readonly checkInManifest?: TextCheck;
  /** Returns the same text for all texts that have the same meaning. */
  readonly normalize: (text: string) => string;
  /** Set if `*` in a text is a wildcard. */
  readonly hasWildcards?: true;
  /** Returns why texts that each admit some callers admit everyone: a clause. `undefined` if they do not. */
  readonly findOpening?: (texts: readonly string[]) => string | undefined;
}

const PORT_PATTERN = '([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])';
const LABEL_PART_PATTERN = '[A-Za-z0-9._/-]+';
const LABEL_PART = new RegExp(`^${LABEL_PART_PATTERN}$`);

interface HostPatterns {
  readonly domain: string;
  readonly hostport: string;
  /** What follows `bind:`. */
  readonly binding: string;
}

/** Returns the patterns of host names whose labels have these characters at their start, inside and at their end. */
function createHostPatterns(start: string, inside: string, end: string): HostPatterns {
  const label = `${start}(${inside}{0,61}${end})?`;
  const domain = `${label}(\\.${label})+`;
  const hostport = `${label}(\\.${label})*:${PORT_PATTERN}`;
  const pair = `(\\*|${LABEL_PART_PATTERN})=(\\*|${LABEL_PART_PATTERN})`;
  return { domain, hostport, binding: ['\\*', hostport, `(\\*\\.)?${domain}`, pair].join('|') };
}

const ASCII_HOSTS = createHostPatterns('[A-Za-z0-9_]', '[A-Za-z0-9_-]', '[A-Za-z0-9]');
/** The same with every character that is not ASCII. */
const UNICODE_HOSTS = createHostPatterns(
  '[^\\x00-/:-@\\x5b-\\x5e\\x60{-\\x7f]',
  '[^\\x00-,./:-@\\x5b-\\x5e\\x60{-\\x7f]',
  '[^\\x00-/:-@\\x5b-\\x60{-\\x7f]',
);
const DOMAIN = new RegExp(`^${ASCII_HOSTS.domain}$`);
const HOSTPORT = new RegExp(`^${ASCII_HOSTS.hostport}$`);
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
    pattern: `^${UNICODE_HOSTS.hostport}$`,
    requestPattern: `^${ASCII_HOSTS.hostport}$`,
    check: (text) => (isHostport(text) ? undefined : 'is not `host:port` with a port from 1 to 65535'),
    normalize: normalizeHostPort,
  },
  domain: {
    title: 'domain',
    expected: 'a domain name of at least two labels',
    example: 'ingress.example.com',
    pattern: `^${UNICODE_HOSTS.domain}$`,
    requestPattern: `^${ASCII_HOSTS.domain}$`,
    maxLength: MAX_DOMAIN_LENGTH,
    check: (text) => (isDomain(text) ? undefined : 'is not a domain name of at least two labels'),
    normalize: normalizeHostPort,
  },
  'acl-rule': {
    title: 'ACL rule',
    expected: '`*`, or `bind:` with a domain (`*.` may lead), `host:port`, `key=value` (`*` for either side) or `*`',
    example: 'bind:*.example.com',
    pattern: `^(\\*|bind:(${UNICODE_HOSTS.binding}))$`,
    requestPattern: `^(\\*|bind:(${ASCII_HOSTS.binding}))$`,
    check: checkAclRule,
    normalize: normalizeAclRule,
    hasWildcards: true,
    findOpening: (texts) => (texts.includes('bind:*') ? '`bind:*` permits every binding' : undefined),
  },
  're2-pattern': {
    title: 'regular expression',
    expected: 'a regular expression in RE2 syntax',
    example: '(Pingdom|curl)/(\\d+)\\.',
    check: checkPattern,
    normalize: (text) => text,
    findOpening: findPatternOfEveryText,
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
    checkInManifest: checkSshKey,
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
  'no-value': {
    title: 'empty text',
    expected: '`""`, because it takes no value',
    example: '',
    check: () => undefined,
    checkInManifest: (text) =>
      text === '' ? undefined : 'takes no value, so write `""`: OpenSSH refuses a certificate with one as corrupt',
    normalize: (text) => text,
  },
  cidr: {
    title: 'CIDR block',
    expected: 'an IP address or a CIDR block',
    example: '203.0.113.0/24',
    check: (text) => (isCidr(text) ? undefined : 'is neither an IP address nor a CIDR block'),
    normalize: normalizeCidr,
    findOpening: findCoveredFamily,
  },
  'source-addresses': {
    title: 'list of source addresses',
    expected: 'IP addresses and CIDR blocks, separated by commas',
    example: '203.0.113.0/24,2001:db8::/32',
    check: checkSourceAddresses,
    normalize: (text) => text.split(',').map(normalizeCidr).join(','),
    findOpening: (texts) => findCoveredFamily(texts.flatMap((text) => text.split(','))),
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

/**
 * Returns the text to send for a text of a manifest: as written, or with A-labels in place of Unicode host names.
 */
export function toRequestText(format: TextFormat, text: string): string {
  const { requestPattern, normalize } = FORMATS[format];
  return requestPattern === undefined || isAscii(text) ? text : normalize(text);
}

export function isAscii(text: string): boolean {
  return !/[\u0080-\uffff]/.test(text);
}

/** Normalizes a host name with or without a port. */
function normalizeHostPort(text: string): string {
  const [, name = text, port = ''] = /^(.*?)(:\d*)?$/s.exec(text) ?? [];
  return `${toAsciiHostName(name) ?? name.toLowerCase()}${port}`;
}

/** Lower-cases the host name of a rule. The keys and values of labels are case-sensitive. */
function normalizeAclRule(text: string): string {
  const [, start, name] = /^(bind:(?:\*\.)?)([^=]+)$/.exec(text) ?? [];
  return start === undefined || name === undefined ? text : `${start}${normalizeHostPort(name)}`;
}

function isDomain(text: string): boolean {
  const name = normalizeHostPort(text);
  return name.length <= MAX_DOMAIN_LENGTH && DOMAIN.test(name);
}

function isHostport(text: string): boolean {
  return HOSTPORT.test(normalizeHostPort(text));
}

function checkAclRule(text: string): string | undefined {
  if (text === '*') return undefined;
  if (!text.startsWith('bind:')) return 'is neither `*` nor a `bind:` rule';
  const target = text.slice('bind:'.length);
  if (target === '*' || isHostport(target) || isDomain(target.replace(/^\*\./, ''))) return undefined;
  const [key = '', value = '', ...more] = target.split('=');
  const isPart = (part: string) => part === '*' || LABEL_PART.test(part);
  if (target.includes('=') && more.length === 0 && isPart(key) && isPart(value)) return undefined;
  return 'binds neither a domain, a `host:port`, a `key=value` nor `*`';
}

/** `sshd` refuses a certificate with an address that it cannot parse, or that has host bits. */
function checkSourceAddresses(text: string): string | undefined {
  for (const part of text.split(',')) {
    if (!isCidr(part)) return `contains \`${part}\`, which is neither an IP address nor a CIDR block`;
    if (hasHostBits(part))
      return `contains \`${part}\`, whose address is not the first one of its block: write \`${normalizeCidr(part)}\``;
  }
  return undefined;
}

function findCoveredFamily(texts: readonly string[]): string | undefined {
  const version = findCoveredVersion(texts);
  return version === undefined ? undefined : `${texts.join(', ')} covers every IPv${version} address`;
}

function findPatternOfEveryText(texts: readonly string[]): string | undefined {
  const pattern = texts.find(matchesEveryText);
  return pattern === undefined
    ? undefined
    : `${pattern === '' ? 'an empty pattern' : `\`${pattern}\``} matches every text`;
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
