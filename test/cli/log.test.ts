import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { NetworkError } from '../../src/model/errors.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../src/model/json.ts';
import { parseApiKey } from '../../src/server/index.ts';
import { createWorkspace, STACK, toCredential, toEdge } from './workspace.ts';

const KEY = 'a-key-that-is-long-enough';
const MANIFESTS = { 'stack.yaml': `${STACK}${toEdge('a', 20001)}${toCredential('agent')}` };

/** The log lines of a run. */
function readLog(stderr: string): readonly JsonObject[] {
  return stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => parseJson(line))
    .filter(isJsonObject);
}

async function apply(level: string) {
  const { edgewise, recorder, folder } = await createWorkspace(MANIFESTS, {
    apiKeys: [parseApiKey(`${KEY}:admin`)],
  });
  const env = { EDGEWISE_API_KEY: KEY, EDGEWISE_LOG_LEVEL: level };
  const result = await edgewise('apply --yes --token-directory tokens', { env, terminal: 120 });
  expect(result.exitCode, result.stderr).toBe(0);
  const token = (await readFile(join(folder, 'tokens/agent.token'), 'utf8')).trim();
  return { ...result, sent: recorder.take(), log: readLog(result.stderr), token };
}

it('writes a line before and after each request at debug: method, path, attempt; then status, milliseconds and operation', async () => {
  const { sent, log } = await apply('debug');
  const requests = log.filter(({ msg }) => msg === 'request is answered');
  const toRoute = ({ method, path }: { method?: unknown; path?: unknown }) => `${method} ${path}`;
  const toKey = ({ status, ...request }: { method?: unknown; path?: unknown; status?: unknown }) =>
    `${toRoute(request)} ${status}`;
  expect(requests.map(toKey).sort()).toEqual(sent.map(toKey).sort());
  expect(new Set(sent.map(({ method }) => method))).toEqual(new Set(['GET', 'POST', 'PATCH']));
  const announced = log.filter(({ msg }) => msg === 'request is sent');
  expect(announced.map(toRoute).sort()).toEqual(sent.map(toRoute).sort());
  for (const request of announced)
    expect(Object.keys(request).sort()).toEqual(['attempt', 'level', 'method', 'msg', 'path', 'time']);
  for (const request of requests)
    expect(request).toMatchObject({
      level: 20,
      ms: expect.any(Number),
      attempt: 1,
      operationId: expect.stringMatching(/^op_/),
    });
});

it('writes the line of a request before it is sent', async () => {
  const { edgewise, server } = await createWorkspace(MANIFESTS);
  let written = '';
  const open: string[] = [];
  const transport = async (request: Request): Promise<Response> => {
    const { pathname, search } = new URL(request.url);
    const route = { method: request.method, path: pathname + search };
    const lines = readLog(written).filter(({ method, path }) => method === route.method && path === route.path);
    const count = (msg: string) => lines.filter((line) => line['msg'] === msg).length;
    open.push(`${request.method}: ${count('request is sent') - count('request is answered')}`);
    return server.handle(request);
  };
  const onWrite = (text: string) => {
    written += text;
  };
  const env = { EDGEWISE_LOG_LEVEL: 'debug' };
  const line = 'apply --yes --token-directory tokens';
  expect(await edgewise(line, { env, transport, onWrite })).toMatchObject({ exitCode: 0 });
  expect(new Set(open)).toEqual(new Set(['GET: 1', 'POST: 1', 'PATCH: 1']));
});

it('says how a request failed', async () => {
  const { edgewise, server } = await createWorkspace(MANIFESTS);
  const transport = async (request: Request): Promise<Response> => {
    if (request.method !== 'POST') return server.handle(request);
    if (request.url.endsWith('/credentials')) return Response.json({ msg: 'not you' }, { status: 403 });
    throw new NetworkError('the connection was reset');
  };
  const env = { EDGEWISE_LOG_LEVEL: 'debug' };
  const { stderr } = await edgewise('apply --yes --token-directory tokens', { env, transport });
  const ends = readLog(stderr).filter(({ method, msg }) => method === 'POST' && msg !== 'request is sent');
  expect(ends).toContainEqual(
    expect.objectContaining({ path: '/credentials', status: 403, msg: 'request is answered' }),
  );
  expect(ends).toContainEqual(
    expect.objectContaining({ path: '/edges/tcp', cause: 'the connection was reset', msg: 'request failed' }),
  );
});

it('writes headers at trace, and no requests at info', async () => {
  const [trace, info] = [await apply('trace'), await apply('info')];
  for (const msg of ['request is sent', 'request is answered'])
    expect(trace.log.find((line) => line['msg'] === msg && line['method'] === 'POST')).toHaveProperty(
      'headers.content-type',
    );
  expect(info.log).toEqual([]);
});

it('writes no secret and no body at any level', async () => {
  for (const level of ['trace', 'debug', 'info']) {
    const { stdout, stderr, token } = await apply(level);
    expect(token).toMatch(/^\S{10,}$/);
    expect(`${stdout}${stderr}`).not.toContain(token);
    expect(`${stdout}${stderr}`).not.toContain(KEY);
    expect(stderr).not.toContain('20001');
  }
});

it('writes no secret that the service repeats in a header, in an id or in the reason of a failure', async () => {
  const { edgewise, server } = await createWorkspace(MANIFESTS, { apiKeys: [parseApiKey(`${KEY}:admin`)] });
  const encoded = Buffer.from(KEY).toString('base64');
  const transport = async (request: Request): Promise<Response> => {
    if (request.url.endsWith('/edges/tcp') && request.method === 'POST')
      throw new NetworkError(`the connection was reset after ${request.headers.get('authorization')}`);
    const response = await server.handle(request);
    for (const name of ['server', 'operation-id', 'authorization', 'token']) response.headers.set(name, `a ${KEY} b`);
    response.headers.set('x-api-version', encoded);
    return response;
  };
  const env = { EDGEWISE_API_KEY: KEY, EDGEWISE_LOG_LEVEL: 'trace' };
  const { stderr } = await edgewise('apply --yes --token-directory tokens', { env, transport });
  const log = readLog(stderr);
  expect(log).toContainEqual(expect.objectContaining({ cause: expect.stringContaining('[key]') }));
  expect(log).toContainEqual(
    expect.objectContaining({
      headers: expect.objectContaining({ server: 'a [key] b', 'x-api-version': expect.stringContaining('[key]') }),
      operationId: 'a [key] b',
    }),
  );
  expect(stderr).not.toContain(KEY);
  expect(stderr).not.toContain(encoded.slice(0, 20));
  expect(log.filter(({ headers }) => isJsonObject(headers) && 'authorization' in headers)).toEqual([]);
});

it('is not overwritten by live progress', async () => {
  const { stderr } = await apply('debug');
  expect(stderr).not.toContain('\u001b[J');
});
