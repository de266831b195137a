import { describe, expect, it } from 'vitest';
import { createServer, parseApiKey, type RequestLogEntry } from '../../src/server/server.ts';
import { createHeaders, createRequest } from '../by-hand.ts';
import { getObject, getText } from './caller.ts';
import { createTestServer, MEMBER } from './test-server.ts';

const SECRET = 'sk-very-secret-0123456789';

describe('authentication', () => {
  it.each([
    ['no header', undefined],
    ['an unknown key', `Bearer ${SECRET}`],
    ['another scheme', 'Basic YWRtaW46YWRtaW4='],
    ['no key behind the scheme', 'Bearer'],
    ['two keys', 'Bearer admin member'],
  ])('responds with 401 to %s, on every path', async (_, authorization) => {
    const { call } = createTestServer();
    for (const path of ['/edges/tcp', '/edges/tcp/edgtcp_x', '/nothing/here']) {
      const { status, headers, body } = await call('GET', path, { headers: { authorization } });
      expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
      expect(body).toMatchObject({ error_code: 'unauthenticated', status_code: 401 });
    }
  });

  it('accepts the scheme in any case', async () => {
    const { call } = createTestServer();
    expect((await call('GET', '/edges/tcp', { headers: { authorization: 'bearer  admin' } })).status).toBe(200);
  });

  it('is checked before everything else', async () => {
    const { call } = createTestServer();
    const headers = { authorization: undefined, 'service-version': undefined, 'content-type': 'text/plain' };
    expect((await call('POST', '/edges/tcp', { body: '{', headers })).status).toBe(401);
  });

  it('has one admin key by default', async () => {
    const { handle } = createServer();
    const response = await handle(createRequest('POST', '/credentials', { owner_id: 'usr_other' }));
    expect(response.status).toBe(201);
  });
});

describe('the version', () => {
  it.each([undefined, '', '1', '2.0', '22'])('is refused if its header is %j', async (version) => {
    const { call } = createTestServer();
    const { status, body } = await call('GET', '/edges/tcp', { headers: { 'Service-Version': version } });
    expect(status).toBe(400);
    expect(body).toMatchObject({ error_code: 'bad_version', msg: expect.stringContaining('`Service-Version: 2`') });
  });

  it('is in the header that the options name', async () => {
    const { call } = createTestServer({ versionHeader: 'Acme-Version' });
    expect((await call('GET', '/edges/tcp')).status).toBe(200);
    const headers = { 'Acme-Version': undefined, 'Service-Version': '2' };
    const { body } = await call('GET', '/edges/tcp', { headers });
    expect(body['msg']).toBe('The request needs the header `Acme-Version: 2`');
  });
});

describe('routes', () => {
  it.each([
    ['PUT', '/edges/tcp', 'GET, POST'],
    ['DELETE', '/abuse_reports/abrp_x', 'GET'],
    ['PATCH', '/abuse_reports/abrp_x', 'GET'],
    ['GET', '/abuse_reports', 'POST'],
    ['POST', '/edges/tcp/edgtcp_x', 'GET, PATCH, DELETE'],
    ['POST', '/edges/tcp/edgtcp_x/backend', 'GET, PUT, DELETE'],
    ['OPTIONS', '/credentials', 'GET, POST'],
  ])('respond with 405 to %s %s, with the allowed methods', async (method, path, allowed) => {
    const { call } = createTestServer();
    const { status, headers, body } = await call(method, path);
    expect([status, headers.get('allow'), body['error_code']]).toEqual([405, allowed, 'method_not_allowed']);
  });

  it.each(['/', '/edges', '/edges/tcp/', '/edges/tcp/edgtcp_x/policy', '/nothing', '/edges/https', '/Edges/tcp'])(
    'respond with 404 to the unknown path %s',
    async (path) => {
      const { call } = createTestServer();
      const { status, body } = await call('GET', path);
      expect([status, body['error_code']]).toEqual([404, 'not_found']);
    },
  );

  it.each(['edghts_', 'edgtcp_x', 'x'])('respond with 404 to modules of %s, which is no HTTPS edge', async (id) => {
    const { call } = createTestServer();
    expect((await call('GET', `/edges/https/${id}/mutual_tls`)).status).toBe(404);
    expect((await call('DELETE', `/edges/https/${id}/routes/edghtsrt_x/circuit_breaker`)).status).toBe(404);
    expect((await call('PUT', `/edges/https/edghts_x/routes/${id}/circuit_breaker`, { body: {} })).status).toBe(404);
  });
});

describe('the operation id', () => {
  it('has a header with a lower-case name, as a client of plain values expects', async () => {
    const { server } = createTestServer();
    const headers = createHeaders('admin');
    for (const [path, status] of [
      ['edges/tcp', 200],
      ['nowhere', 404],
    ] as const) {
      const response = await server.send({ method: 'GET', url: `https://api.test/${path}`, headers, body: null });
      expect(response.status).toBe(status);
      expect(response.headers['operation-id']).toMatch(/^op_/);
    }
  });

  it('is in a header of every response, and in the details of every error', async () => {
    const { call } = createTestServer();
    const good = await call('GET', '/edges/tcp');
    const bad = await call('GET', '/edges/tcp/edgtcp_x');
    expect(good.headers.get('operation-id')).toMatch(/^op_[0-9A-Za-z]{27}$/);
    expect(bad.headers.get('operation-id')).not.toBe(good.headers.get('operation-id'));
    expect(getObject(bad.body['details'])['operation_id']).toBe(bad.headers.get('operation-id'));
  });
});

describe('the rate limit', () => {
  const rateLimit = { requests: 3, windowMs: 60_000 };

  it('responds with 429 above it, with the time to wait', async () => {
    const { call, wait } = createTestServer({ rateLimit });
    for (let request = 0; request < 3; request += 1) {
      expect((await call('GET', '/edges/tcp')).status).toBe(200);
      wait(10);
    }
    const { status, headers, body } = await call('GET', '/edges/tcp');
    expect([status, headers.get('retry-after'), body['error_code']]).toEqual([429, '30', 'rate_limited']);
    wait(30);
    expect((await call('GET', '/edges/tcp')).status).toBe(200);
    expect((await call('GET', '/edges/tcp')).headers.get('retry-after')).toBe('10');
  });

  it('counts the requests of all keys together, and no refused ones', async () => {
    const { call, callAs } = createTestServer({ rateLimit });
    await callAs('nobody')('GET', '/edges/tcp');
    await call('GET', '/edges/tcp');
    await callAs('member')('GET', '/nothing/here');
    await callAs('reporter')('GET', '/edges/tcp');
    expect((await call('POST', '/edges/tcp', { body: {} })).status).toBe(429);
  });

  it('is absent by default', async () => {
    const { call } = createTestServer();
    for (let request = 0; request < 300; request += 1) await call('GET', '/edges/tcp');
    expect((await call('GET', '/edges/tcp')).status).toBe(200);
  });
});

describe('the log', () => {
  it('has each request with its result', async () => {
    const entries: RequestLogEntry[] = [];
    const { call } = createTestServer({ onRequest: (entry) => entries.push(entry) });
    const created = await call('POST', '/edges/tcp', { body: {} });
    await call('GET', '/edges/tcp?limit=1');
    await call('GET', '/edges/tcp?limit=x');
    expect(entries.map(({ method, path, status }) => `${method} ${path} ${status}`)).toEqual([
      'POST /edges/tcp 201',
      'GET /edges/tcp?limit=1 200',
      'GET /edges/tcp?limit=x 400',
    ]);
    expect(entries[0]?.operationId).toBe(created.headers.get('operation-id'));
    expect(entries[0]?.durationMs).toBeGreaterThanOrEqual(0);
    expect(entries[0]).not.toHaveProperty('error');
  });

  it('contains no key and no token, and neither does any response', async () => {
    const entries: RequestLogEntry[] = [];
    const apiKeys = [parseApiKey(`${SECRET}:admin`)];
    const { callAs } = createTestServer({ apiKeys, onRequest: (entry) => entries.push(entry) });
    const call = callAs(SECRET);
    const { body } = await call('POST', '/credentials', { body: {} });
    const wrong = await callAs(`${SECRET}x`)('GET', '/credentials');
    const refused = await call('PUT', '/credentials');
    const told = JSON.stringify([entries, wrong.body, refused.body]);
    expect(told).not.toContain(SECRET);
    expect(told).not.toContain(getText(body['token']));
  });

  it('has a bug, whose response is 500 without its details', async () => {
    const entries: RequestLogEntry[] = [];
    let isStopped = true;
    const now = (): Date => {
      if (!isStopped) return new Date(0);
      isStopped = false;
      throw new Error('the clock has stopped');
    };
    const { call } = createTestServer({ now, onRequest: (entry) => entries.push(entry) });
    const { status, body } = await call('POST', '/edges/tcp', { body: {} });
    expect([status, body['error_code'], body['msg']]).toEqual([500, 'internal_error', 'This is a bug in the server']);
    expect(entries[0]?.error?.message).toBe('the clock has stopped');
  });
});

describe('API keys', () => {
  it('are a key and its rights, in any order', () => {
    const plain = { key: 'k', isAdmin: false, mayReportAbuse: false };
    const owner = parseApiKey('k').userId;
    expect(parseApiKey('k')).toEqual({ ...plain, userId: expect.stringMatching(/^usr_[0-9A-Za-z]{27}$/) });
    expect(parseApiKey('k:abuse')).toEqual({ ...plain, userId: owner, mayReportAbuse: true });
    expect(parseApiKey('k:admin')).toEqual({ key: 'k', userId: owner, isAdmin: true, mayReportAbuse: true });
    expect(parseApiKey(`k:abuse:${MEMBER}`)).toEqual({ ...plain, userId: MEMBER, mayReportAbuse: true });
    expect(parseApiKey('k:bot_1:admin')).toMatchObject({ userId: 'bot_1', isAdmin: true });
  });

  it.each([
    ['', 'must not be empty'],
    [':admin', 'must not be empty'],
    ['my key', 'white space'],
    ['kéy', 'outside ASCII'],
    [`${SECRET}:usr_`, 'part 2 of this one is invalid'],
    [`${SECRET}:admin:root`, 'part 3 of this one is invalid'],
    [`${SECRET}:usr_a:usr_b`, 'several'],
  ])('are refused as %j, without repeating it', (text, message) => {
    expect(() => parseApiKey(text)).toThrow(RangeError);
    expect(() => parseApiKey(text)).toThrow(message);
    expect(() => parseApiKey(text)).not.toThrow(SECRET);
  });

  it('are refused if two are equal', () => {
    const apiKeys = [parseApiKey('same'), parseApiKey('same:admin')];
    expect(() => createServer({ apiKeys })).toThrow('Two API keys are the same');
  });
});

describe('server options', () => {
  it.each([
    { requests: 0, windowMs: 1000 },
    { requests: 1.5, windowMs: 1000 },
    { requests: 1, windowMs: 0 },
    { requests: 1, windowMs: Number.NaN },
  ])('refuse the rate limit %j', (rateLimit) => {
    expect(() => createServer({ rateLimit })).toThrow(RangeError);
  });
});
