import { HttpResponse, http, type RequestHandler } from 'msw';
import { setupServer } from 'msw/node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseServerFaults, type Server, withFaults } from '../../src/server/index.ts';
import { createMswHandlers } from '../../src/server/msw.ts';
import { type Call, createCaller, getList, getText } from './caller.ts';
import { createTestServer } from './test-server.ts';

const ORIGIN = 'https://api.example.test';

/** The fetch of the platform, with the bundled server behind it. */
function intercept(baseUrl: string, ...others: RequestHandler[]): Call {
  return interceptFor(createTestServer().server, baseUrl, ...others);
}

function interceptFor(server: Server, baseUrl: string, ...others: RequestHandler[]): Call {
  const network = setupServer(...createMswHandlers(server, baseUrl), ...others);
  network.listen({ onUnhandledFrame: 'error' });
  onTestFinished(() => network.close());
  return createCaller({
    transport: fetch,
    baseUrl: baseUrl.replace(/\/$/, ''),
    key: 'admin',
    versionHeader: 'Service-Version',
  });
}

describe('msw handlers', () => {
  it.each([ORIGIN, `${ORIGIN}/`, `${ORIGIN}/v1/edges`, `${ORIGIN}/v1/`])(
    'respond to everything below %s',
    async (baseUrl) => {
      const call = intercept(baseUrl);
      const base = baseUrl.replace(/\/$/, '');
      const created = await call('POST', '/edges/tcp', { body: { hostports: ['a.example.com:1'] } });
      const id = getText(created.body['id']);
      expect([created.status, created.body['uri']]).toEqual([201, `${base}/edges/tcp/${id}`]);
      await call('POST', '/edges/tcp', { body: {} });
      const first = await call('GET', '/edges/tcp?limit=1');
      expect(first.body['uri']).toBe(`${base}/edges/tcp`);
      const second = await call('GET', getText(first.body['next_page_uri']));
      expect(getList(second.body['tcp_edges']).map((edge) => edge['id'])).toEqual([id]);
      expect((await call('PUT', `/edges/tcp/${id}/backend`, { body: { backend_id: 'bkdtg_1' } })).status).toBe(200);
      expect((await call('DELETE', `/edges/tcp/${id}`)).status).toBe(204);
      expect((await call('GET', `/edges/tcp/${id}`)).body).toMatchObject({ error_code: 'not_found' });
    },
  );

  it('leave the rest of the network to others', async () => {
    intercept(
      `${ORIGIN}/v1`,
      http.get(`${ORIGIN}/*`, () => HttpResponse.text('somebody else')),
    );
    for (const path of ['/edges/tcp', '/v1x/edges/tcp'])
      expect(await (await fetch(`${ORIGIN}${path}`)).text()).toBe('somebody else');
  });
});

describe('msw handlers of a server with faults', () => {
  it('make fetch fail if a connection is reset', async () => {
    const faults = parseServerFaults('{ rules: [{ on: GET /edges/tcp, nth: 1, fault: reset }] }');
    const call = interceptFor(withFaults(createTestServer().server, faults), ORIGIN);
    await expect(call('GET', '/edges/tcp')).rejects.toThrow(TypeError);
    expect((await call('GET', '/edges/tcp')).status).toBe(200);
  });
});

describe('a server below a base URL', () => {
  it('responds with 404 outside of it', async () => {
    const { server } = createTestServer();
    const transport = server.mountAt(`${ORIGIN}/v1`);
    const call = createCaller({ transport, baseUrl: ORIGIN, key: 'admin', versionHeader: 'Service-Version' });
    for (const path of ['/edges/tcp', '/v1x/edges/tcp', '/v1', '/v1/v1/edges/tcp'])
      expect((await call('GET', path)).status).toBe(404);
    expect((await call('GET', '/v1/edges/tcp')).status).toBe(200);
  });
});
