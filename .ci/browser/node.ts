/**
 * Replaces modules of Node in a page (`npm run try`). There is no disk, no program can be started, and no socket can be opened. Everything else
 * behaves as in Node. One file has all names that edgewise and its packages import.
 */

import { hmac } from '@noble/hashes/hmac.js';
import { type ScryptOpts, scryptAsync } from '@noble/hashes/scrypt.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { Buffer } from 'buffer/';
import path from 'path-browserify';
import { version } from '../../package.json' with { type: 'json' };

// node:buffer
export { Buffer } from 'buffer/';
export function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

// This Buffer reads `base64url` like any base64, and cannot write it.
const write = Buffer.prototype.toString;
Buffer.prototype.toString = function (encoding, ...range) {
  if (encoding !== 'base64url') return write.call(this, encoding, ...range);
  return write
    .call(this, 'base64', ...range)
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=+$/, '');
};
const read = Buffer.from;
Object.assign(Buffer, {
  from: (value: string, ...[encoding, ...rest]: readonly string[]) =>
    Reflect.apply(read, Buffer, [value, encoding === 'base64url' ? 'base64' : encoding, ...rest]),
});
// CommonJS packages look for Buffer there. Without this setting, zod compiles functions from text, which the page forbids.
Object.assign(globalThis, { Buffer, __zod_globalConfig: { jitless: true } });

// node:path
export const { basename, dirname, isAbsolute, join, normalize, parse, sep, delimiter } = path;
// The working folder is `/`: the package reads it from `process`, which a page does not have.
export const resolve = (...parts: readonly string[]) => path.resolve('/', ...parts);
export const relative = (from: string, to: string) => path.relative(resolve(from), resolve(to));
export const posix = { ...path, resolve, relative };
export const win32 = posix;

// node:crypto
type Encoding = 'hex' | 'base64' | 'base64url';
const toBytes = (data: string | Uint8Array): Uint8Array =>
  typeof data === 'string' ? Buffer.from(data, 'utf8') : data;
export function hash(_algorithm: 'sha256', data: string | Uint8Array, encoding: Encoding): string {
  return Buffer.from(sha256(toBytes(data))).toString(encoding);
}
export function createHmac(_algorithm: 'sha256', key: string | Uint8Array) {
  const running = hmac.create(sha256, toBytes(key));
  return {
    update(data: string | Uint8Array) {
      running.update(toBytes(data));
      return this;
    },
    digest: () => Buffer.from(running.digest()),
  };
}
type ScryptParameters = [password: string, salt: string, length: number, options: ScryptOpts];
export function scrypt(...parameters: [...ScryptParameters, done: (error: unknown, digest?: Buffer) => void]): void {
  const [password, salt, dkLen, { N, r, p }, done] = parameters;
  const derived = scryptAsync(toBytes(password), toBytes(salt), { N, r, p, dkLen });
  derived.then((digest) => done(null, Buffer.from(digest)), done);
}
export const randomInt = (limit: number) => Math.floor((randomBytes(4).readUInt32BE() / 2 ** 32) * limit);
export const randomBytes = (length: number) => Buffer.from(crypto.getRandomValues(new Uint8Array(length)));
// A page without encryption has no `crypto.randomUUID`.
export const randomUUID = () => randomBytes(16).toString('hex');
export class X509Certificate {}

// node:timers/promises
function waitFor(ms = 0, value?: unknown, { signal }: { readonly signal?: AbortSignal } = {}): Promise<unknown> {
  return new Promise((done, fail) => {
    const stop = () => fail(signal?.reason);
    if (signal?.aborted) return stop();
    signal?.addEventListener('abort', stop, { once: true });
    globalThis.setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      done(value);
    }, ms);
  });
}

export { waitFor as setTimeout };
export const setImmediate = () => waitFor();

// node:process, node:os, node:module, node:tls
export const env = {};
export const platform = () => 'linux';
export const hostname = () => 'page';
export const tmpdir = () => '/tmp';
export const createRequire = () => () => ({ version });
export const getCACertificates = () => [];
export const kill = throwUnsupported;
// biome-ignore lint/style/noDefaultExport: `node:process` has one
export default { env, cwd: () => '/', getuid: () => undefined, stdin: undefined };

// node:util, node:events, node:stream, node:net, node:url, node:zlib, node:http, assert
export const domainToUnicode = (name: string) => name;
export const inspect = (error: unknown): string =>
  error instanceof Error ? `${error.stack}\n${inspect(error.cause)}` : String(error);
export const styleText = (_style: unknown, text: string) => text;
export const stripVTControlCharacters = (text: string) => text;
export const promisify = (task: unknown) => task;
export function inherits(type: { prototype: object }, base: { prototype: object }): void {
  Object.setPrototypeOf(type.prototype, base.prototype);
}
export const format = (...words: readonly unknown[]) => words.join(' ');
export function isIP(text: string): number {
  if (/^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/.test(text)) return 4;
  return text.includes(':') && URL.canParse(`http://[${text}]/`) ? 6 : 0;
}
export class AssertionError extends Error {}
export const ok = (value: unknown): void => {
  if (!value) throw new AssertionError();
};
export const equal = (left: unknown, right: unknown): void => ok(left === right);
export const strictEqual = equal;
export const notStrictEqual = (left: unknown, right: unknown): void => ok(left !== right);
// Constructor functions, because they are called without `new`.
export function Writable(): void {}
export function Stream(): void {}
export const STATUS_CODES = {};
export const createServer = throwUnsupported;
export const once = throwUnsupported;
export const finished = throwUnsupported;
export const pipeline = throwUnsupported;
export const gunzip = throwUnsupported;
export const inflate = throwUnsupported;
export const brotliDecompress = throwUnsupported;

// node:fs, node:fs/promises, node:child_process, proper-lockfile, undici
export const constants = { O_RDWR: 2 };
export const existsSync = () => false;
export const accessSync = throwNotFound;
export const lstatSync = () => undefined;
export const statSync = missOrNothing;
export const readlinkSync = throwNotFound;
export const realpathSync = { native: throwNotFound };
export const openSync = throwNotFound;
export const closeSync = throwNotFound;
export const readSync = throwNotFound;
export const fstatSync = throwNotFound;
export const readFileSync = throwNotFound;
export const readdirSync = throwNotFound;
export const renameSync = throwUnsupported;
export const readFile = throwUnsupported;
export const writeFile = throwUnsupported;
export const access = throwUnsupported;
export const chmod = throwUnsupported;
export const chown = throwUnsupported;
export const link = throwUnsupported;
export const mkdir = throwUnsupported;
export const mkdtemp = throwUnsupported;
export const lstat = rejectNotFound;
export const stat = rejectNotFound;
export const readlink = rejectNotFound;
export const realpath = rejectNotFound;
export const open = rejectNotFound;
export const readdir = rejectNotFound;
export const rename = throwUnsupported;
export const rm = throwUnsupported;
export const rmdir = throwUnsupported;
export const unlink = throwUnsupported;
export const request = throwUnsupported;
export const spawn = throwUnsupported;
export const execFile = throwUnsupported;
export const lock = throwUnsupported;
export class Agent {}
export class EnvHttpProxyAgent {}

function throwNotFound(): never {
  throw Object.assign(new Error('There are no files in a page.'), { code: 'ENOENT' });
}

async function rejectNotFound(): Promise<never> {
  return throwNotFound();
}

function missOrNothing(_path: string, options?: { readonly throwIfNoEntry?: boolean }): undefined {
  return options?.throwIfNoEntry === false ? undefined : throwNotFound();
}

function throwUnsupported(): never {
  throw new Error('A page cannot do this.');
}
