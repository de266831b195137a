import { X509Certificate } from 'node:crypto';
import { resolve } from 'node:path';
import { readInput } from '../files/read-input.ts';
import { StackError } from './stack-error.ts';
import type { Surroundings, TransportSettings } from './surroundings.ts';

/**
 * The proxies that the environment names, in the spelling of curl: lower case counts first. Plain HTTP takes the lower-case name only, since
 * a server that runs programs for requests sets HTTP_PROXY from a header of theirs.
 */
export function findProxy(env: Surroundings['env']): TransportSettings['proxy'] {
  const all = env['all_proxy'] ?? env['ALL_PROXY'];
  const named = {
    http: checkProxy('http_proxy', env['http_proxy'] ?? all),
    https: checkProxy('HTTPS_PROXY', env['https_proxy'] ?? env['HTTPS_PROXY'] ?? all),
    except: env['no_proxy'] ?? env['NO_PROXY'],
  };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined && value !== ''));
}

/** What is wrong with a proxy is said without its value: it may hold a password. */
function checkProxy(name: string, text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  const url = URL.parse(/^\w+:\/\//.test(text) ? text : `http://${text}`);
  if (url !== null && ['http:', 'https:'].includes(url.protocol)) return url.href;
  throw new StackError(`${name} is not the URL of an HTTP proxy.`, {
    reason: 'invalid',
    remedy: 'Such as http://proxy.example.net:3128.',
  });
}

/** Ten times the size of a system's own file of authorities. */
const MAX_AUTHORITIES_BYTES = 4 * 1024 * 1024;

/** Certificates of authorities from a file, in PEM. */
export async function readAuthorities(file: string, { cwd }: Pick<Surroundings, 'cwd'>): Promise<string> {
  try {
    const text = readInput(resolve(cwd, file), { maxBytes: MAX_AUTHORITIES_BYTES }).toString('utf8');
    const certificates = Array.from(text.matchAll(CERTIFICATE), ([certificate]) => new X509Certificate(certificate));
    const begun = text.split(CERTIFICATE_START).length - 1;
    if (begun === 0) throw new Error('there is no certificate in it');
    if (certificates.length < begun) throw new Error('a certificate in it has no end');
    return text;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StackError(`The certificates in ${file} cannot be read: ${why}`, {
      reason: 'invalid',
      remedy: 'It must hold certificates in PEM, each from BEGIN CERTIFICATE to END CERTIFICATE.',
      cause: error,
    });
  }
}

const CERTIFICATE_START = '-----BEGIN CERTIFICATE-----';
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;
