import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { ApiError, NetworkError, openStack, type Stack, StackError } from '../../src/index.ts';

const MANIFEST = 'apiVersion: edgewise/v1\nkind: Stack\nmetadata: { name: shop }\n';

const METHODS: readonly (readonly [string, (stack: Stack) => Promise<unknown>])[] = [
  ['plan', (stack) => stack.plan()],
  ['drift', (stack) => stack.drift()],
  ['get', (stack) => stack.get()],
  ['export', (stack) => stack.export({ kinds: [] })],
];

const open = (transport: (request: Request) => Promise<Response>) =>
  openStack({
    manifests: [{ file: 'edgewise.yaml', text: MANIFEST }],
    apiKey: 'wrong',
    baseUrl: 'https://api.test',
    transport,
    env: {},
  });

describe.each(METHODS)('%s of a stack', (_, call) => {
  it.each([401, 403])('rejects with the documented ApiError if the key is refused with %s', async (status) => {
    const stack = await open(async () => Response.json({ msg: 'no', status_code: status }, { status }));
    const error = await call(stack).catch((one: unknown) => one);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ isAuthentication: true });
  });
});

it('a stack rejects with the documented NetworkError if the answer is no JSON', async () => {
  const stack = await open(async () => new Response('<html>', { headers: { 'content-type': 'text/html' } }));
  await expect(stack.plan()).rejects.toBeInstanceOf(NetworkError);
});

it('the page of the library documents each error type that is exported', async () => {
  const page = await readFile('docs/reference/library.md', 'utf8');
  const exported = Object.entries(await import('../../src/index.ts')).filter(
    ([, value]) => typeof value === 'function' && value.prototype instanceof Error,
  );
  expect(exported.length).toBeGreaterThan(4);
  expect(
    exported.map(([name]) => name).filter((name) => !page.includes(`| \`${name}\``) && !page.includes(`, \`${name}\``)),
  ).toEqual([]);
});

it('openStack rejects with the documented StackError for an invalid setting', async () => {
  const opened = openStack({
    manifests: [{ file: 'edgewise.yaml', text: MANIFEST }],
    baseUrl: 'ftp://api.test',
    apiKey: 'k',
    env: {},
  });
  await expect(opened.then((stack) => stack.plan())).rejects.toBeInstanceOf(StackError);
});
