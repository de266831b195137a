import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ApiError, InvariantError, NetworkError, TimeoutError } from '../../src/model/errors.ts';
import { API_KEY, catchError, createFakeService, createJsonResponse } from './fake-service.ts';

/** Returns the rejection of a POST with this response. */
async function catchPostError(answer: Response | Error, apiKey = API_KEY): Promise<Error> {
  const { client } = createFakeService({ 'POST /edges/tcp': [answer] }, { apiKey });
  const error = await catchError(client.send('POST', '/edges/tcp', {}));
  if (!(error instanceof Error)) throw new Error('Not an error');
  return error;
}

function createResponse(body: unknown, status = 400, headers: Record<string, string> = {}): Response {
  return Response.json(body, { status, headers });
}

describe('an API error', () => {
  it('contains everything that the service says', async () => {
    const body = {
      error_code: 'hostport_taken',
      status_code: 409,
      msg: 'another edge serves this hostport',
      details: { operation_id: 'op_1', hostport: '1.tcp.example.net:20001' },
    };
    const error = await catchPostError(createResponse(body, 409));
    expect(error).toBeInstanceOf(ApiError);
    expect(error.message).toBe(
      'POST /edges/tcp: 409 hostport_taken: another edge serves this hostport (operation_id: op_1; hostport: 1.tcp.example.net:20001)',
    );
    expect(error).toHaveProperty('response', {
      status: 409,
      code: 'hostport_taken',
      method: 'POST',
      path: '/edges/tcp',
      operationId: 'op_1',
      details: { operation_id: 'op_1', hostport: '1.tcp.example.net:20001' },
    });
  });

  it.each(['operation-id', 'Service-Operation-Id', 'x-request-id', 'acme-trace-id', 'X-Correlation-ID'])(
    'reads the operation id from the response header %s',
    async (name) => {
      const error = await catchPostError(createResponse({ msg: 'no' }, 400, { [name]: 'op_2' }));
      expect(error.message).toBe('POST /edges/tcp: 400: no (operation_id: op_2)');
      expect(error).toHaveProperty('response.operationId', 'op_2');
    },
  );

  it("prefers the service's own operation id to that of a proxy", async () => {
    const headers = { 'a-request-id': 'proxy', 'service-operation-id': 'op_3' };
    expect(await catchPostError(createResponse({}, 400, headers))).toHaveProperty('response.operationId', 'op_3');
    const details = { operation_id: 'op_4' };
    expect(await catchPostError(createResponse({ details }, 400, headers))).toHaveProperty(
      'response.operationId',
      'op_4',
    );
  });

  it('works without a code, a message, details and an operation id', async () => {
    const error = await catchPostError(new Response('', { status: 500, statusText: 'Internal Server Error' }));
    expect(error.message).toBe('POST /edges/tcp: 500: Internal Server Error');
    expect(error).toHaveProperty('response.code', undefined);
    expect(error).toHaveProperty('response.details', {});
    expect((await catchPostError(new Response('', { status: 500 }))).message).toBe(
      'POST /edges/tcp: 500: no explanation',
    );
  });

  it('keeps details that are not strings as JSON, and ignores what has another form', async () => {
    const error = await catchPostError(createResponse({ error_code: 7, msg: {}, details: { count: 3, ids: ['a'] } }));
    expect(error).toHaveProperty('response.details', { count: '3', ids: '["a"]' });
    expect(error).toHaveProperty('response.code', undefined);
    expect(await catchPostError(createResponse({ msg: 'no', details: 'none' }))).toHaveProperty('response.details', {});
    expect((await catchPostError(createResponse(['odd']))).message).toBe(
      'POST /edges/tcp: 400: no explanation (7 bytes)',
    );
  });

  it('shows the start of a body that is not JSON, on one line and escaped', async () => {
    const html = `<html>\r\n<h1>502 Bad Gateway</h1>\u0007\u001b]0;title\u202e${'-'.repeat(500)}`;
    const { message } = await catchPostError(new Response(html, { status: 502 }));
    expect(message).toMatch(
      /^POST \/edges\/tcp: 502: <html> <h1>502 Bad Gateway<\/h1>\\u0007\\u001b\]0;title\\u202e-+…$/,
    );
    expect(message.length).toBeLessThan(250);
  });

  it('cannot forge lines of a terminal in its message', async () => {
    const { message } = await catchPostError(createResponse({ msg: 'no\n\u001b[32mApply complete\u001b[0m' }));
    expect(message).toBe('POST /edges/tcp: 400: no \\u001b[32mApply complete\\u001b[0m');
  });

  it.each([
    [401, true],
    [403, true],
    [404, false],
  ])('is about authentication with status %d: %s', async (status, expected) => {
    expect(await catchPostError(createResponse({}, status))).toHaveProperty('isAuthentication', expected);
  });
});

describe('the API key', () => {
  const cases: readonly (readonly [string, Response | Error])[] = [
    ['in a message', createResponse({ msg: `unknown key ${API_KEY}` }, 401)],
    ['in a code', createResponse({ error_code: `bad:${API_KEY}` }, 401)],
    ['in details', createResponse({ details: { [`k_${API_KEY}`]: `Bearer ${API_KEY}`, list: [API_KEY] } }, 403)],
    ['in JSON escapes', new Response(`{"msg":"\\u0061${API_KEY.slice(1)}"}`, { status: 401 })],
    ['in a header', createResponse({}, 401, { 'x-request-id': API_KEY })],
    ['in a redirect', new Response(null, { status: 302, headers: { location: `https://x.test/?key=${API_KEY}` } })],
    ['in HTML', new Response(`<p>${API_KEY}</p>`, { status: 502 })],
    ['at the place where a body is cut', new Response(`${'x'.repeat(190)}${API_KEY}`, { status: 502 })],
    ['in a body that should be JSON', new Response(`${API_KEY}`, { status: 200 })],
    ['in the error of a transport', new NetworkError(`sent ${API_KEY}`, { cause: new Error(`Bearer ${API_KEY}`) })],
    ['in the cause of a timeout', new TimeoutError('late', { cause: new Error(API_KEY) })],
    ['in something that an error carries', Object.assign(new Error('odd'), { request: { headers: [API_KEY] } })],
    ['in a bug', new InvariantError(API_KEY)],
  ];

  it.each(cases)('is removed %s', async (_, failure) => {
    const error = await catchPostError(failure);
    const shown = inspect(error, { depth: 20, showHidden: true }) + JSON.stringify(error);
    expect(shown).not.toContain(API_KEY);
    expect(shown).not.toContain(API_KEY.slice(0, 10));
  });

  it('leaves the type of an error and its message', async () => {
    const reset = await catchPostError(new NetworkError(`a ${API_KEY} b`, { cause: new TypeError(API_KEY) }));
    expect(reset).toBeInstanceOf(NetworkError);
    expect(reset.message).toBe('a [key] b');
    expect(reset).toHaveProperty('cause.message', '[key]');
    expect(await catchPostError(new TimeoutError(API_KEY))).toBeInstanceOf(TimeoutError);
    expect(await catchPostError(new InvariantError(API_KEY))).toBeInstanceOf(InvariantError);
  });

  it('is removed in its URL-encoded form too', async () => {
    const error = await catchPostError(
      createResponse({ msg: '/x?key=a%2Fb%2Bc%3D%3Dd0123456789' }),
      'a/b+c==d0123456789',
    );
    expect(error.message).toBe('POST /edges/tcp: 400: /x?key=[key]');
  });

  it('is removed only as a whole word if it is short', async () => {
    const error = await catchPostError(createResponse({ msg: 'developers: key dev, "dev" or Bearer dev.' }), 'dev');
    expect(error.message).toBe('POST /edges/tcp: 400: developers: key [key], "[key]" or Bearer [key].');
  });
});

describe('an unreadable response to a write', () => {
  it('is not shown, because it may contain a token', async () => {
    const error = await catchPostError(createJsonResponse('{"id":"cr_1","token":"2abcSecret', 201));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error.message).toBe('POST /edges/tcp: the response is not JSON (32 bytes)');
    expect(inspect(error, { depth: 20 })).not.toContain('2abcSecret');
  });
});
