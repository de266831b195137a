import { describe, expect, it } from 'vitest';
import { OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import { type Call, getList, getObject, getText } from './caller.ts';
import { BASE_URL, createTestServer } from './test-server.ts';

/** Creates credentials, oldest first, and returns their ids. */
async function createMany(call: Call, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1)
    ids.push(getText((await call('POST', '/credentials', { body: { description: String(index) } })).body['id']));
  return ids;
}

function toIds(body: Record<string, unknown> | object): string[] {
  const { credentials } = { credentials: [], ...body };
  return getList(credentials).map(({ id }) => getText(id));
}

describe('a list', () => {
  it.each(OWNED_KINDS.map(({ path, listKey }) => [path, listKey]))(
    '%s is an empty array without resources',
    async (path, listKey) => {
      const { call } = createTestServer();
      const { body } = await call('GET', path);
      expect(body).toEqual({ [String(listKey)]: [], uri: `${BASE_URL}${path}`, next_page_uri: null });
    },
  );

  it('has 100 resources on a page, and links to the next with absolute URLs', async () => {
    const { call } = createTestServer();
    const ids = (await createMany(call, 250)).reverse();
    const first = await call('GET', '/credentials');
    expect(toIds(first.body)).toEqual(ids.slice(0, 100));
    expect(first.body['next_page_uri']).toBe(`${BASE_URL}/credentials?before_id=${ids[99]}&limit=100`);
    const second = await call('GET', getText(first.body['next_page_uri']));
    expect(toIds(second.body)).toEqual(ids.slice(100, 200));
    const third = await call('GET', getText(second.body['next_page_uri']));
    expect(toIds(third.body)).toEqual(ids.slice(200));
    expect(third.body['next_page_uri']).toBeNull();
  });

  it('keeps the limit from page to page, and ends with a full page if that fits', async () => {
    const { call } = createTestServer();
    const ids = (await createMany(call, 4)).reverse();
    const first = await call('GET', '/credentials?limit=2');
    expect(toIds(first.body)).toEqual(ids.slice(0, 2));
    expect(first.body['next_page_uri']).toBe(`${BASE_URL}/credentials?before_id=${ids[1]}&limit=2`);
    const second = await call('GET', getText(first.body['next_page_uri']));
    expect([toIds(second.body), second.body['next_page_uri']]).toEqual([ids.slice(2), null]);
  });

  it('builds its URLs from the host of the request', async () => {
    const { call } = createTestServer();
    await createMany(call, 2);
    const { body } = await call('GET', 'http://127.0.0.1:8080/credentials?limit=1');
    expect(getText(body['uri'])).toBe('http://127.0.0.1:8080/credentials');
    expect(getText(body['next_page_uri'])).toMatch(/^http:\/\/127\.0\.0\.1:8080\/credentials\?/);
    expect(getText(getList(body['credentials'])[0]?.['uri'])).toMatch(/^http:\/\/127\.0\.0\.1:8080\/credentials\/cr_/);
  });

  it('shows each older resource once while others create and delete', async () => {
    const { call } = createTestServer();
    const ids = (await createMany(call, 6)).reverse();
    const first = await call('GET', '/credentials?limit=3');
    await createMany(call, 2);
    await call('DELETE', `/credentials/${ids[2]}`);
    await call('DELETE', `/credentials/${ids[3]}`);
    const second = await call('GET', getText(first.body['next_page_uri']));
    expect(toIds(second.body)).toEqual(ids.slice(4));
  });

  it('continues after thousands of deletes, also of the end of its page', async () => {
    const resources = { Credential: Array.from({ length: 3000 }, (_, index) => ({ id: `cr_${1001 + index}` })) };
    const { call } = createTestServer({ seed: { resources } });
    const first = await call('GET', '/credentials');
    expect(toIds(first.body).slice(0, 2)).toEqual(['cr_4000', 'cr_3999']);
    for (let index = 4000; index > 2000; index -= 1) await call('DELETE', `/credentials/cr_${index}`);
    const second = await call('GET', getText(first.body['next_page_uri']));
    expect([second.status, toIds(second.body)[0]]).toEqual([200, 'cr_2000']);
  });

  it.each([
    ['limit=0', 'limit must be from 1 to 100'],
    ['limit=101', 'limit must be from 1 to 100'],
    ['limit=-1', 'limit must be from 1 to 100'],
    ['limit=1e1', 'limit must be from 1 to 100'],
    ['limit=', 'limit must be from 1 to 100'],
    ['limit=1?x', 'limit must be from 1 to 100'],
    ['limit=5&limit=6', 'limit is given more than once'],
    ['before_id=', 'before_id must be an id cr_…'],
    ['before_id=edgtcp_1', 'before_id must be an id cr_…'],
    ['page=2', 'page is not a query parameter of this operation'],
  ])('refuses the query %s', async (query, message) => {
    const { call } = createTestServer();
    const { status, body } = await call('GET', `/credentials?${query}`);
    expect([status, body['error_code'], body['msg']]).toEqual([400, 'bad_query', message]);
  });

  it('continues from an unknown well-formed id by the order of ids', async () => {
    const resources = ['cr_1', 'cr_3', 'cr_5', 'cr_7'].map((id) => ({ id }));
    const { call } = createTestServer({ seed: { resources: { Credential: resources } } });
    const listBefore = async (id: string) => {
      const { status, body } = await call('GET', `/credentials?limit=2&before_id=${id}`);
      return [status, ...toIds(body)];
    };
    const all = toIds((await call('GET', '/credentials')).body);
    expect(all).toEqual(['cr_7', 'cr_5', 'cr_3', 'cr_1']);
    expect(await listBefore('cr_6')).toEqual([200, 'cr_5', 'cr_3']);
    expect(await listBefore('cr_9')).toEqual([200, 'cr_7', 'cr_5']);
    expect(await listBefore('cr_0')).toEqual([200]);
  });

  it('continues from a deleted resource, also after a restart', async () => {
    const first = createTestServer();
    const ids: string[] = [];
    for (let count = 0; count < 4; count += 1)
      ids.unshift(String((await first.call('POST', '/edges/tcp', { body: {} })).body['id']));
    await first.call('DELETE', `/edges/tcp/${ids[1]}`);
    const { call } = createTestServer({ seed: first.server.snapshot() });
    const { status, body } = await call('GET', `/edges/tcp?before_id=${ids[1]}`);
    expect([status, ...getList(body['tcp_edges']).map((edge) => getObject(edge)['id'])]).toEqual([200, ids[2], ids[3]]);
  });

  it('is the only operation with a query', async () => {
    const { call } = createTestServer();
    expect((await call('POST', '/edges/tcp?limit=5', { body: {} })).status).toBe(400);
  });
});
