import { readFile } from 'node:fs/promises';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import * as library from '../../src/index.ts';
import {
  ApiError,
  type FormatName,
  InvalidManifests,
  loadReportRenderer,
  NetworkError,
  NotApprovedError,
  openStack,
  type Plan,
  parsePlan,
  renderPlanJson,
  type Stack,
  StackError,
  TimeoutError,
} from '../../src/index.ts';
import { createServer } from '../../src/server/index.ts';

const STACK = 'apiVersion: edgewise/v1\nkind: Stack\nmetadata: { name: shop }\n';
const EDGE =
  'apiVersion: edgewise/v1\nkind: TCPEdge\nmetadata: { name: web }\nspec: { hostports: [ "1.tcp.example.net:20001" ] }\n';

type Fault = (request: Request) => Promise<Response>;

interface Opened {
  readonly stack: Stack;
  /** A plan as a file contains it, so that applying or comparing it makes a new plan. */
  readonly saved: Plan;
  /** Answers each later request in place of the service. */
  readonly break: (fault: Fault) => void;
}

async function open(): Promise<Opened> {
  const server = createServer();
  let fault: Fault | undefined;
  const stack = await openStack({
    manifests: [{ file: 'edgewise.yaml', text: `${STACK}---\n${EDGE}` }],
    apiKey: 'dev',
    baseUrl: 'https://api.test',
    transport: (request) => (fault === undefined ? server.handle(request) : fault(request)),
    env: {},
  });
  const saved = parsePlan(renderPlanJson(await stack.plan()));
  return {
    stack,
    saved,
    break: (given) => {
      fault = given;
    },
  };
}

type Call = (opened: Opened, options: { readonly signal?: AbortSignal }) => Promise<unknown>;

const METHODS: readonly (readonly [string, Call])[] = [
  ['plan', ({ stack }, options) => stack.plan(options)],
  ['compare', ({ stack, saved }, options) => stack.compare(saved, options)],
  ['apply', ({ stack, saved }, options) => stack.apply(saved, options)],
  ['drift', ({ stack }, options) => stack.drift(options)],
  ['get', ({ stack }, options) => stack.get(options)],
  ['export', ({ stack }, options) => stack.export({ names: [], ...options })],
];

const catchError = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe.each(METHODS)('%s of a stack', (_, call) => {
  it.each([401, 403])('rejects with an ApiError if the key is refused with %s', async (status) => {
    const opened = await open();
    opened.break(async () => Response.json({ msg: 'no', status_code: status }, { status }));
    const error = await catchError(call(opened, {}));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ isAuthentication: true });
  });

  it('rejects with a NetworkError if the certificate of the service is not trusted', async () => {
    const opened = await open();
    opened.break(async () => {
      throw Object.assign(new Error('self-signed certificate'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    });
    const error = await catchError(call(opened, {}));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).not.toBeInstanceOf(TimeoutError);
  });

  it('rejects with the reason of the signal if it is aborted', async () => {
    const opened = await open();
    const reason = new Error('the caller has had enough');
    const controller = new AbortController();
    opened.break(async (request) => {
      controller.abort(reason);
      return new Promise((_resolve, reject) => request.signal.addEventListener('abort', () => reject(reason)));
    });
    expect(await catchError(call(opened, { signal: controller.signal }))).toBe(reason);
  });
});

describe('a stack', () => {
  it.each<readonly [string, (opened: Opened) => Promise<unknown>, new (...args: never[]) => Error]>([
    [
      'a plan with an unknown target to apply',
      async ({ stack }) => stack.apply(await stack.plan({ targets: ['Nope/x'] })),
      InvalidManifests,
    ],
    [
      'a plan with a rotation of no resource to apply',
      async ({ stack }) => stack.apply(await stack.plan({ rotate: ['Credential/x'] })),
      InvalidManifests,
    ],
    ['a kind to export that does not exist', ({ stack }) => stack.export({ names: ['Nope'] }), StackError],
    [
      'a plan of another stack to compare',
      ({ stack, saved }) => stack.compare({ ...saved, stack: 'other' }),
      StackError,
    ],
    ['a plan of another stack to apply', ({ stack, saved }) => stack.apply({ ...saved, stack: 'other' }), StackError],
    ['a plan that is not as approved', ({ stack, saved }) => stack.apply({ ...saved, changes: [] }), NotApprovedError],
  ])('rejects %s with the documented type', async (_, call, Type) => {
    expect(await catchError(call(await open()))).toBeInstanceOf(Type);
  });
});

describe('openStack', () => {
  const manifests = [{ file: 'edgewise.yaml', text: STACK }];
  it.each<readonly [string, Parameters<typeof openStack>[0], new (...args: never[]) => Error]>([
    ['an invalid URL', { manifests, baseUrl: 'ftp://api.test', apiKey: 'k' }, StackError],
    ['a missing URL', { manifests, apiKey: 'k' }, StackError],
    ['an invalid setting', { manifests, baseUrl: 'https://api.test', rateLimit: 'often' }, StackError],
    ['a path that does not exist', { paths: ['does/not/exist'] }, InvalidManifests],
    ['an invalid manifest', { manifests: [{ file: 'a.yaml', text: 'kind: Nope' }] }, InvalidManifests],
    ['a policy that does not exist', { manifests, policies: ['none.yaml'] }, InvalidManifests],
    ['a certificate file that does not exist', { manifests, baseUrl: 'https://api.test', caFile: 'none' }, StackError],
  ])('rejects %s with the documented type', async (_, options, Type) => {
    const opened = openStack({ env: {}, apiKey: 'k', ...options });
    expect(await catchError(opened.then((stack) => stack.plan()))).toBeInstanceOf(Type);
  });

  it('rejects a missing key with a StackError whose reason is authentication', async () => {
    const opened = openStack({ manifests, baseUrl: 'https://api.test', env: {} });
    const error = await catchError(opened.then((stack) => stack.plan()));
    expect(error).toBeInstanceOf(StackError);
    expect(error).toMatchObject({ reason: 'authentication' });
  });
});

describe('the library', () => {
  it('rejects a report format that does not exist with a RangeError', async () => {
    // A caller without types may pass any text.
    await expect(loadReportRenderer('nope' as FormatName)).rejects.toBeInstanceOf(RangeError);
  });

  it('refuses a text that is no plan with a StackError', () => {
    expect(() => parsePlan('{}')).toThrow(StackError);
  });
});

describe('the page of the library', () => {
  it('documents each error type that is exported', async () => {
    const page = await readFile('docs/reference/library.md', 'utf8');
    const exported = Object.entries(library).filter(
      ([, value]) => typeof value === 'function' && value.prototype instanceof Error,
    );
    expect(exported.length).toBeGreaterThan(4);
    expect(
      exported
        .map(([name]) => name)
        .filter((name) => !page.includes(`| \`${name}\``) && !page.includes(`, \`${name}\``)),
    ).toEqual([]);
  });
});

it.each(['compare', 'apply'] as const)('%s rejects with the documented StackError what is no plan', async (method) => {
  const { stack } = await open();
  for (const value of [{}, { format: 1 }])
    await expect(stack[method](value as Plan)).rejects.toMatchObject({ name: 'StackError', reason: 'invalid' });
});

it('no error of the library quotes the key that it was given, of manifests or of a service', async () => {
  const apiKey = 'ak_2ZkVh0aBcDeFgHiJkLmNoPq';
  const transport = async (): Promise<Response> =>
    Response.json({ error_code: 'ERR_1', status_code: 400, msg: `bad key ${apiKey}`, details: {} }, { status: 400 });
  const tryWith = async (edge: string): Promise<unknown> => {
    const manifests = [{ file: 'edgewise.yaml', text: `${STACK}---\n${edge}` }];
    const given = { manifests, apiKey, baseUrl: 'https://api.test', transport, env: {} };
    return openStack(given)
      .then(async (stack) => stack.plan())
      .catch((error: unknown) => error);
  };
  const answered = await tryWith(EDGE);
  expect(String(answered)).toContain('bad key');
  const invalid = await tryWith(EDGE.replace('web', apiKey));
  expect(invalid).toBeInstanceOf(InvalidManifests);
  for (const error of [answered, invalid]) expect(inspect(error)).not.toContain(apiKey);
});
