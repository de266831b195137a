import { X509Certificate } from 'node:crypto';
import { resolve } from 'node:path';
import { type Client, type ClientOptions, createClient } from '../client/client.ts';
import { describeFileError, readInput } from '../files/read-input.ts';
import { getErrorMessage } from '../model/errors.ts';
import { isLoopbackHost } from '../model/http.ts';
import { parseRateLimit } from '../model/stack.ts';
import { type Transport, toSend } from '../model/transport.ts';
import { StackError } from '../model/user-errors.ts';
import { isEmbedded, parseEmbeddedDataFile } from '../settings/base-url.ts';
import type { ServiceSettings } from '../settings/table.ts';
import { openEmbeddedServer } from './embedded.ts';
import type { Host, ServiceConnection, TransportSettings } from './host.ts';
import { readApiKey } from './settings.ts';

/** Values from the caller that take precedence over the settings and the environment. */
export interface ConnectionOverrides {
  readonly transport?: Transport | undefined;
  readonly apiKey?: string | undefined;
}

/**
 * Opens a connection to the service, or starts the bundled server for an `embedded:` URL. Throws `StackError` if there
 * is no API key, or a setting of the connection is invalid.
 */
export async function openServiceConnection(
  settings: ServiceSettings,
  host: Host,
  given: ConnectionOverrides = {},
): Promise<ServiceConnection> {
  const { baseUrl, versionHeader } = settings;
  if (given.transport === undefined && isEmbedded(baseUrl))
    return openEmbeddedServer({ file: parseEmbeddedDataFile(baseUrl), host, versionHeader });
  const apiKey = given.apiKey ?? readApiKey(host, settings);
  host.secrets?.add('the API key', apiKey);
  if (given.transport !== undefined)
    return { send: toSend(given.transport), apiKey, baseUrl, warning: undefined, close: async () => undefined };
  const proxy = readProxy(host.env);
  const { send, close } = await host.openTransport({
    settings,
    authorities: await findAuthorities(settings, host),
    proxy,
  });
  const warning = findClearTextWarning(baseUrl, proxy);
  return { send, apiKey, baseUrl, warning, close };
}

export function createServiceClient(
  settings: ServiceSettings,
  { send, apiKey, baseUrl }: Pick<ServiceConnection, 'send' | 'apiKey' | 'baseUrl'>,
  more: Pick<
    ClientOptions,
    'now' | 'date' | 'sleep' | 'random' | 'secrets' | 'onRetry' | 'onWait' | 'onRequest' | 'onRead'
  >,
): Client {
  const rateLimit = parseRateLimit(settings.rateLimit);
  try {
    return createClient({
      ...settings,
      ...{ send, apiKey, baseUrl },
      ...{ rateLimit, requestTimeoutMs: settings.timeout },
      ...more,
    });
  } catch (error) {
    if (error instanceof TypeError) throw new StackError(`${error.message}.`, { reason: 'invalid', cause: error });
    throw error;
  }
}

/** Reads the certificates of `caFile`, unless the connection is unencrypted. */
async function findAuthorities({ baseUrl, caFile }: ServiceSettings, host: Host): Promise<string | undefined> {
  return caFile === undefined || baseUrl.startsWith('http:') ? undefined : readAuthorities(caFile, host);
}

/**
 * Returns the proxies from the environment. As in curl, variables in lower case take precedence. HTTP_PROXY in upper
 * case is ignored, because CGI servers set it from a request header.
 */
function readProxy(env: Host['env']): TransportSettings['proxy'] {
  const all = env['all_proxy'] ?? env['ALL_PROXY'];
  const named = {
    http: checkProxy('http_proxy', env['http_proxy'] ?? all),
    https: checkProxy('HTTPS_PROXY', env['https_proxy'] ?? env['HTTPS_PROXY'] ?? all),
    except: env['no_proxy'] ?? env['NO_PROXY'],
  };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined && value !== ''));
}

/** Throws for an invalid proxy URL. The message omits the URL, which may contain a password. */
function checkProxy(name: string, text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  const url = URL.parse(/^\w+:\/\//.test(text) ? text : `http://${text}`);
  if (url !== null && ['http:', 'https:'].includes(url.protocol)) return url.href;
  throw new StackError(`${name} is not the URL of an HTTP proxy.`, {
    reason: 'invalid',
    remedy: 'Use a URL such as http://proxy.example.net:3128.',
  });
}

/** About ten times the size of a system's certificate bundle. */
const MAX_AUTHORITIES_BYTES = 4 * 1024 * 1024;

/** Reads a PEM file of certificate authorities. Throws `StackError` if a certificate cannot be parsed. */
async function readAuthorities(file: string, host: Pick<Host, 'cwd'>): Promise<string> {
  const text = readAuthoritiesText(file, host);
  try {
    const certificates = Array.from(text.matchAll(CERTIFICATE), ([certificate]) => new X509Certificate(certificate));
    const begun = text.match(CERTIFICATE_START)?.length ?? 0;
    if (begun === 0) throw new Error('there is no certificate in it');
    if (certificates.length < begun) throw new Error('a certificate in it has no END line');
    // Without the trust settings of OpenSSL, which a TRUSTED CERTIFICATE has: the file itself says what is trusted.
    return certificates.map(String).join('');
  } catch (error) {
    throw createAuthoritiesError(`the certificates in ${file} cannot be read: ${getErrorMessage(error)}`, error);
  }
}

function readAuthoritiesText(file: string, { cwd }: Pick<Host, 'cwd'>): string {
  try {
    return readInput(resolve(cwd, file), { maxBytes: MAX_AUTHORITIES_BYTES }).toString('utf8');
  } catch (error) {
    throw createAuthoritiesError(`${file} ${describeFileError(error)}.`, error);
  }
}

function createAuthoritiesError(why: string, cause: unknown): StackError {
  return new StackError(`--ca-file: ${why}`, {
    reason: 'invalid',
    remedy:
      'The file that --ca-file, EDGEWISE_CA_FILE, spec.api.ca_file or NODE_EXTRA_CA_CERTS names must hold certificates in PEM, each from BEGIN CERTIFICATE or BEGIN TRUSTED CERTIFICATE to its END line.',
    cause,
  });
}

const CERTIFICATE_START = /-----BEGIN (?:TRUSTED )?CERTIFICATE-----/g;
const CERTIFICATE = /-----BEGIN (TRUSTED )?CERTIFICATE-----[^-]*-----END \1?CERTIFICATE-----/g;

/** Returns a warning if the API key would reach another machine unencrypted, otherwise `undefined`. */
function findClearTextWarning(baseUrl: string, proxy: TransportSettings['proxy']): string | undefined {
  const url = URL.parse(baseUrl);
  if (url?.protocol !== 'http:') return undefined;
  if (!isHere(url))
    return `Warning: requests to ${url.origin} are not encrypted, and each carries the API key. Use an https: URL.`;
  const via = proxy.http === undefined ? null : URL.parse(proxy.http);
  if (via === null || isHere(via) || isExcepted(url, proxy.except)) return undefined;
  return `Warning: requests to ${url.origin} go through the proxy ${via.host} unencrypted, and each carries the API key. Exempt the host with NO_PROXY=${url.hostname}.`;
}

/** Whether a URL points to this machine. `0.0.0.0` and `[::]` also point to it. */
function isHere({ hostname }: URL): boolean {
  return isLoopbackHost(hostname) || hostname === '0.0.0.0' || hostname === '[::]';
}

/** Whether `except`, the value of NO_PROXY, excludes a URL from the proxy. */
function isExcepted(url: URL, except = ''): boolean {
  const name = normalizeHostOfUrl(url.hostname);
  const port = url.port === '' ? '80' : url.port;
  return except
    .split(/[,\s]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      const [, host = entry, onlyPort = port] = /^(\[.+\]|[^:]+)(?::(\d+))?$/.exec(entry) ?? [];
      if (onlyPort !== port) return false;
      const suffix = normalizeHostOfUrl(host.replace(/^\*?\./, ''));
      return host === '*' || (!host.startsWith('*') && name === suffix) || name.endsWith(`.${suffix}`);
    });
}

function normalizeHostOfUrl(hostname: string): string {
  return hostname.replace(/^\[|\]$|\.$/g, '').toLowerCase();
}
