import { describe, expect, it } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import { getKind } from '../../src/kinds/tables/registry.ts';
import { ApiError, InvariantError, NetworkError } from '../../src/model/errors.ts';
import { toSend } from '../../src/model/transport.ts';
import { API_KEY, BASE_URL, catchError, createFakeService, toPage } from './fake-service.ts';

const CREDENTIAL = getKind('Credential');

describe('requests', () => {
  it('have the key, the version under its configured name, and no content type without a body', async () => {
    const { client, requests } = createFakeService({ 'GET /x': [{}] }, { versionHeader: 'Acme-Version' });
    await client.get('/x');
    expect(Object.fromEntries(requests[0]?.headers ?? [])).toEqual({
      accept: 'application/json',
      authorization: `Bearer ${API_KEY}`,
      'user-agent': 'edgewise',
      'acme-version': '2',
    });
  });

  it('are not sent if their path or body contains the key, and the error names them without it', async () => {
    const { client, log } = createFakeService({});
    for (const [request, message] of [
      [
        client.send('POST', '/x', { description: API_KEY }),
        'POST /x was not sent, because it would contain the API key',
      ],
      [client.get(`/x/${API_KEY}`), 'GET /x/[key] was not sent, because it would contain the API key'],
    ] as const)
      expect(await catchError(request)).toMatchObject({ message });
    expect(log).toEqual([]);
  });

  it('have a body as JSON', async () => {
    const { client, requests } = createFakeService({ 'PATCH /x': [{}] });
    await client.send('PATCH', '/x', { description: 'é' });
    expect(requests[0]?.headers.get('content-type')).toBe('application/json');
    expect(await requests[0]?.json()).toEqual({ description: 'é' });
  });

  it.each([`${BASE_URL}/v2`, `${BASE_URL}/v2/`])('are below the path of the base URL %s', async (baseUrl) => {
    const { client, log } = createFakeService({ 'GET /v2/x': [{ a: 1 }] }, { baseUrl });
    expect(await client.get('/x')).toEqual({ a: 1 });
    expect(log).toEqual(['GET /v2/x']);
  });

  it('never follow a redirect, and report its target', async () => {
    const moved = new Response(null, { status: 308, headers: { location: 'https://other.test/x' } });
    const { client, requests } = createFakeService({ 'GET /x': [moved] });
    const error = await catchError(client.get('/x'));
    expect(requests[0]?.redirect).toBe('manual');
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toHaveProperty('message', 'GET /x: 308: the service redirects to https://other.test/x');
  });

  it('are counted, also those that fail', async () => {
    const { client } = createFakeService({ 'GET /x': [{}], 'POST /x': [new NetworkError('reset')] });
    await client.get('/x');
    await catchError(client.send('POST', '/x', {}));
    expect(client.requestCount()).toBe(2);
  });

  it('fail with a NetworkError, whatever a transport throws and when', async () => {
    const throwing = () => {
      throw new Error('odd');
    };
    for (const transport of [throwing, async () => throwing()]) {
      const { client } = createFakeService({}, { send: toSend(transport) });
      for (const request of [client.get('/x'), client.send('POST', '/x', {})])
        expect(await catchError(request)).toBeInstanceOf(NetworkError);
    }
  });

  it('refuse an invalid path, so that it cannot change the host', async () => {
    const { client } = createFakeService({});
    expect(await catchError(client.get('@evil.test/x'))).toBeInstanceOf(InvariantError);
  });
});

describe('send', () => {
  it('returns the object of the response', async () => {
    const { client } = createFakeService({ 'POST /credentials': [Response.json({ id: 'cr_1' }, { status: 201 })] });
    expect(await client.send('POST', '/credentials', {})).toEqual({ id: 'cr_1' });
  });

  it.each([
    ['PATCH', '/x/1'],
    ['POST', '/x'],
  ] as const)(
    'lets a later write rely on the state that its response shows, without a read: %s',
    async (method, path) => {
      const shown = { id: '1', description: 'new' };
      const { client, log } = createFakeService({
        [`${method} ${path}`]: [shown],
        'DELETE /x/1': [new Response(null, { status: 204 })],
      });
      await client.send(method, path, { description: 'new' });
      const seen: unknown[] = [];
      const prepare = async (state: unknown) => void seen.push(state);
      await client.send('DELETE', '/x/1', undefined, { reliesOn: { path: '/x/1', isModule: false, prepare } });
      expect(seen).toEqual([shown]);
      expect(log).toEqual([`${method} ${path}`, 'DELETE /x/1']);
    },
  );

  it('shows no state of a resource that was read before, if a POST is answered with its id', async () => {
    const listed = { id: 'cr_1', created_at: '2026-01-31T12:00:00Z', description: 'listed' };
    const { client, log } = createFakeService({
      'GET /credentials?limit=100': [toPage('credentials', [listed])],
      'POST /credentials': [{ ...listed, description: 'of a cache' }],
      'DELETE /credentials/cr_1': [new Response(null, { status: 204 })],
    });
    await client.list(CREDENTIAL);
    await client.send('POST', '/credentials', {});
    const seen: unknown[] = [];
    const prepare = async (state: unknown) => void seen.push(state);
    const reliesOn = { path: '/credentials/cr_1', isModule: false, prepare };
    await client.send('DELETE', '/credentials/cr_1', undefined, { reliesOn });
    expect(seen).toEqual([listed]);
    expect(log).toHaveLength(3);
  });

  it('returns null for an empty response', async () => {
    const { client } = createFakeService({
      'DELETE /a': [new Response(null, { status: 204 })],
      'PUT /b': [new Response('', { status: 200 })],
    });
    expect(await client.send('DELETE', '/a')).toBeNull();
    expect(await client.send('PUT', '/b', {})).toBeNull();
  });

  it('ignores the body of a successful DELETE', async () => {
    const { client } = createFakeService({ 'DELETE /a': [new Response('deleted', { status: 200 })] });
    expect(await client.send('DELETE', '/a')).toBeNull();
  });

  it('refuses a response that is no object, because it does not tell what was written', async () => {
    const { client } = createFakeService({ 'POST /x': [[1]] });
    const error = await catchError(client.send('POST', '/x', {}));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toHaveProperty('message', 'POST /x: the response is not a JSON object');
  });
});

describe('readModule', () => {
  it.each([
    ['a 404', undefined],
    ['null', Response.json(null)],
    ['an empty object', {}],
    ['an object of nulls', { enabled: null, add: null }],
    ['no body', new Response(null, { status: 204 })],
  ])('returns null for a module that is not set: %s', async (_, answer) => {
    const { client } = createFakeService({ 'GET /m': [answer] });
    expect(await client.readModule('/m')).toBeNull();
  });

  it('returns a module that is set, also if it is disabled', async () => {
    const { client } = createFakeService({ 'GET /m': [{ enabled: false, add: null }] });
    expect(await client.readModule('/m')).toEqual({ enabled: false, add: null });
  });

  it('rejects for any other failure', async () => {
    const { client } = createFakeService({ 'GET /m': [Response.json({}, { status: 403 })], 'GET /n': [[]] });
    expect(await catchError(client.readModule('/m'))).toHaveProperty('response.status', 403);
    expect(await catchError(client.readModule('/n'))).toBeInstanceOf(NetworkError);
  });
});

describe('a client', () => {
  it.each([
    ['api.example.test', '"api.example.test" is not an absolute URL: write it like https://api.example.com'],
    ['', '"" is not an absolute URL'],
    ['api.example.test/\u001b[2J', '"api.example.test/\\u001b[2J" is not an absolute URL'],
    ['me:secret@api.example.test', '"…@api.example.test" is neither an https nor an http URL'],
    ['//me:secret@api.example.test', '"//…@api.example.test" is not an absolute URL'],
    ['ftp://api.example.test', '"ftp://api.example.test" is neither an https nor an http URL: write it like https://'],
    [
      'https://me:secret@api.example.test',
      '"https://…@api.example.test" contains a user name or a password: remove them',
    ],
    ['https://:secret@api.example.test', '"https://…@api.example.test" contains a user name or a password'],
    ['https://api.example.test/?a=secret', '"https://api.example.test/?…" has a query or a fragment: remove it'],
    ['https://api.example.test/#secret', '"https://api.example.test/#…" has a query or a fragment'],
  ])('refuses the base URL %j and quotes it, without what may be a secret', (baseUrl, message) => {
    const create = () => createFakeService({}, { baseUrl });
    expect(create).toThrow(TypeError);
    expect(create).toThrow(`The base URL ${message}`);
    expect(create).not.toThrow('secret');
  });

  it.each(['', 'line\nbreak', 'with space', 'schlüssel'])('refuses the key %j without quoting it', (apiKey) => {
    const create = () => createFakeService({}, { apiKey });
    expect(create).toThrow(/^The API key (is empty|contains white space or characters outside ASCII)$/);
  });

  it.each(['', 'with space', 'colon:'])('refuses %j as the name of the version header', (versionHeader) => {
    expect(() => createFakeService({}, { versionHeader })).toThrow(`\`${versionHeader}\` is not a valid header name`);
  });

  it('runs no more requests at once than its concurrency, with tasks of others', async () => {
    let running = 0;
    let most = 0;
    const transport = async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise(setImmediate);
      running -= 1;
      return Response.json(toPage('credentials', []));
    };
    const client = createClient({
      send: toSend(transport),
      baseUrl: BASE_URL,
      apiKey: API_KEY,
      versionHeader: 'V',
      pageSize: 1,
      concurrency: 2,
    });
    const lists = Array.from({ length: 5 }, () => client.list(CREDENTIAL));
    const modules = Array.from({ length: 5 }, () => client.readModule('/m'));
    const tasks = Array.from({ length: 5 }, () => client.limit(() => client.get('/x')));
    await Promise.all([...lists, ...modules, ...tasks]);
    expect(most).toBe(2);
  });
});
