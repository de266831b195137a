import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { IS_SYSTEM_REQUIRED, requireOrSkip } from '../needs.ts';

/** A version that was published. */
interface Published {
  readonly name: string;
  readonly version: string;
  readonly tags: readonly string[];
  readonly tarball: Buffer;
  /** The repository of the provenance. */
  readonly source: string;
}

export interface Registry {
  readonly url: string;
  readonly published: readonly Published[];
  /** The environment of a GitHub job that may publish here, in the repository with this name. */
  toJobEnvironment(repository: string): Readonly<Record<string, string>>;
}

/** What npm sends to publish. */
interface Upload {
  readonly name: string;
  readonly 'dist-tags': Readonly<Record<string, string>>;
  readonly _attachments: Readonly<Record<string, { readonly data: string }>>;
}

/** A statement about what a package was built from: https://slsa.dev/spec/v1.0/provenance */
interface Provenance {
  readonly subject: readonly { readonly digest: { readonly sha512: string } }[];
  readonly predicate: {
    readonly buildDefinition: { readonly externalParameters: { readonly workflow: { readonly repository: string } } };
  };
}

/** The oldest npm that publishes with a token of the job. */
const TRUSTED_PUBLISHING = '11.5.1';

const REQUEST_TOKEN = 'token-of-the-runner';
const ID_TOKEN = 'id.token.of-the-job';
const PUBLISH_TOKEN = 'token-for-one-publish';

/**
 * Starts a registry for one test, which is also the issuer of the tokens of jobs. It publishes only for a job with such a token, and checks a provenance
 * as npm's registry does, except for its signature. It sends requests for other packages to the configured registry.
 */
export async function startRegistry(): Promise<Registry> {
  const version = execFileSync('npm', ['--version'], { encoding: 'utf8' });
  const isTrusted = version.localeCompare(TRUSTED_PUBLISHING, 'en', { numeric: true }) >= 0;
  requireOrSkip(`npm ${TRUSTED_PUBLISHING} or newer`, isTrusted || IS_SYSTEM_REQUIRED);
  const published: Published[] = [];
  const upstream = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim().replace(/\/$/, '');
  const server = createServer(async (request, response) => {
    const body = await text(request);
    if (request.method === 'PUT') return sendJson(response, ...publish(request, JSON.parse(body), published));
    const { pathname } = new URL(request.url ?? '', 'http://registry');
    if (pathname === '/id-token')
      return sendJson(response, ...(isFor(request, REQUEST_TOKEN) ? toOk({ value: ID_TOKEN }) : FORBIDDEN));
    if (pathname.startsWith('/-/npm/v1/oidc/token/exchange/package/'))
      return sendJson(response, ...(isFor(request, ID_TOKEN) ? toOk({ token: PUBLISH_TOKEN }) : FORBIDDEN));
    if (/^\/edgewise[\w-]*$/.test(pathname)) return sendJson(response, 404, { error: 'Not found' });
    return response.writeHead(302, { location: `${upstream}${request.url}` }).end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => new Promise<void>((done) => server.close(() => done())));
  // A server that listens on a port has an address of this type.
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  return { url, published, toJobEnvironment: (repository) => toJobEnvironment(url, repository) };
}

function toJobEnvironment(url: string, repository: string): Readonly<Record<string, string>> {
  return {
    npm_config_registry: `${url}/`,
    npm_config_update_notifier: 'false',
    npm_config_prefer_offline: 'true',
    NODE_OPTIONS: `--import=${resolve('test/pipelines/unsigned-provenance.mjs')}`,
    GITHUB_ACTIONS: 'true',
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_REPOSITORY: repository,
    ACTIONS_ID_TOKEN_REQUEST_URL: `${url}/id-token`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: REQUEST_TOKEN,
  };
}

type Answer = readonly [status: number, body: object];

const FORBIDDEN: Answer = [403, { error: 'Forbidden' }];

function toOk(body: object): Answer {
  return [200, body];
}

function isFor(request: IncomingMessage, token: string): boolean {
  return request.headers.authorization === `Bearer ${token}`;
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Publishes an upload, or refuses it. The words of the refusals are those of npm's registry. */
function publish(request: IncomingMessage, upload: Upload, published: Published[]): Answer {
  if (!isFor(request, PUBLISH_TOKEN)) return FORBIDDEN;
  const find = (end: string) => Object.entries(upload._attachments).find(([file]) => file.endsWith(end))?.[1].data;
  const [packed, bundle] = [find('.tgz'), find('.sigstore')];
  if (packed === undefined || bundle === undefined) return [422, { error: 'No provenance' }];
  const tarball = Buffer.from(packed, 'base64');
  const manifest = JSON.parse(
    execFileSync('tar', ['-xzO', 'package/package.json'], { input: tarball, encoding: 'utf8' }),
  );
  const { subject, predicate }: Provenance = JSON.parse(
    Buffer.from(JSON.parse(bundle).dsseEnvelope.payload, 'base64').toString(),
  );
  const source = predicate.buildDefinition.externalParameters.workflow.repository;
  const stated: string = manifest.repository?.url ?? '';
  const mismatch = `package.json: "repository.url" is "${stated}", expected to match "${source}" from provenance`;
  if (subject[0]?.digest.sha512 !== createHash('sha512').update(tarball).digest('hex'))
    return [422, { error: 'Error verifying sigstore provenance bundle: another tarball' }];
  if (stated.replace(/^git\+|\.git$/g, '') !== source)
    return [
      422,
      { error: `Error verifying sigstore provenance bundle: Failed to validate repository information: ${mismatch}` },
    ];
  const tags = Object.keys(upload['dist-tags']);
  published.push({ name: manifest.name, version: manifest.version, tags, tarball, source });
  return [201, { ok: true }];
}
