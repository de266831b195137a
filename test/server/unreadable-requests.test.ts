import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isJsonObject, type JsonObject } from '../../src/model/json.ts';
import { listen } from '../../src/server/index.ts';
import { convertConnectionErrorToRequestError } from '../../src/server/listen.ts';
import type { RequestLogEntry } from '../../src/server/server.ts';
import { getObject } from './caller.ts';
import { checkSchema } from './conformance.ts';
import { createTestServer } from './test-server.ts';

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: JsonObject;
}

const ADMITTED = ['host: localhost', 'authorization: Bearer admin', 'service-version: 2'];
const JSON_BODY = [...ADMITTED, 'content-type: application/json'];

function toRequest(line: string, headers: readonly string[], body = ''): string {
  return [line, ...headers, '', body].join('\r\n');
}

/** Sends a text unchanged, and reads until the server closes the connection. */
async function send(text: string): Promise<{ readonly received: string; readonly log: readonly RequestLogEntry[] }> {
  const log: RequestLogEntry[] = [];
  const { server } = createTestServer({ onRequest: (entry) => log.push(entry) });
  const { url, close } = await listen(server, { port: 0 });
  onTestFinished(close);
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => {
    received += String(chunk);
  });
  socket.write(text);
  await once(socket, 'end');
  socket.destroy();
  return { received, log };
}

function parseReply(text: string): Reply {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  const [line = '', ...headers] = head.split('\r\n');
  const pairs = headers.map((header): [string, string] => {
    const colon = header.indexOf(':');
    return [header.slice(0, colon), header.slice(colon + 1).trim()];
  });
  const value: unknown = JSON.parse(body);
  if (!isJsonObject(value)) throw new Error(`Not an object: ${body}`);
  return { status: Number(line.split(' ')[1]), headers: new Headers(pairs), body: value };
}

describe('an unreadable request', () => {
  it.each<[string, string, number, string]>([
    ['no Host header', toRequest('GET /edges/tcp HTTP/1.1', ADMITTED.slice(1)), 400, 'bad_request'],
    ['a Host that is none', toRequest('GET /edges/tcp HTTP/1.1', ['host: a b']), 400, 'bad_request'],
    ['* in place of a path', toRequest('OPTIONS * HTTP/1.1', ADMITTED), 400, 'bad_request'],
    ['another server to connect to', toRequest('CONNECT example.com:443 HTTP/1.1', ADMITTED), 400, 'bad_request'],
    [
      'an expectation that nobody meets',
      toRequest('POST /edges/tcp HTTP/1.1', [...JSON_BODY, 'expect: foo', 'content-length: 2'], '{}'),
      417,
      'expectation_failed',
    ],
    ['no HTTP at all', 'hello\r\n\r\n', 400, 'bad_request'],
    [
      'chunks that are none',
      toRequest('POST /edges/tcp HTTP/1.1', [...JSON_BODY, 'transfer-encoding: chunked'], 'zz\r\n{}\r\n0\r\n\r\n'),
      400,
      'bad_request',
    ],
    [
      'two lengths',
      toRequest('POST /edges/tcp HTTP/1.1', [...JSON_BODY, 'content-length: 2', 'transfer-encoding: chunked'], '{}'),
      400,
      'bad_request',
    ],
    [
      'too long headers',
      toRequest('GET /edges/tcp HTTP/1.1', [...ADMITTED, `x-long: ${'a'.repeat(200_000)}`]),
      431,
      'headers_too_large',
    ],
    [
      'too long chunk extensions',
      toRequest(
        'POST /edges/tcp HTTP/1.1',
        [...JSON_BODY, 'transfer-encoding: chunked'],
        `2;x=${'a'.repeat(100_000)}\r\n{}\r\n0\r\n\r\n`,
      ),
      413,
      'body_too_large',
    ],
  ])('gets an error body, and the connection is closed: %s', async (_, text, status, code) => {
    const { received, log } = await send(text);
    const reply = parseReply(received);
    expect([reply.status, reply.body['status_code'], reply.body['error_code']]).toEqual([status, status, code]);
    checkSchema('#/components/schemas/Error', reply.body, 'the answer');
    const operationId = reply.headers.get('operation-id');
    expect(getObject(reply.body['details'])['operation_id']).toBe(operationId);
    expect(log.map((entry) => [entry.status, entry.operationId])).toContainEqual([status, operationId]);
    expect(reply.headers.get('content-type')).toBe('application/json');
    expect(reply.headers.get('connection')).toBe('close');
  });

  it('is refused after the response to the request before it', async () => {
    const { received } = await send(`${toRequest('GET /edges/tcp HTTP/1.1', ADMITTED)}hello\r\n\r\n`);
    const [first = '', second = ''] = received.split(/(?=HTTP\/1\.1 400)/);
    expect(parseReply(first)).toMatchObject({ status: 200, body: { tcp_edges: [] } });
    expect(parseReply(second)).toMatchObject({ status: 400, body: { error_code: 'bad_request' } });
  });

  it('is not assumed while a request waits for a 100', async () => {
    const headers = [...JSON_BODY, 'expect: 100-continue', 'connection: close', 'content-length: 2'];
    const { received } = await send(toRequest('POST /edges/tcp HTTP/1.1', headers, '{}'));
    expect(received).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 Created\r\n/);
  });

  it('gets 408 if it takes too long, and nothing if the client is gone', () => {
    const toError = (code: string): Error => Object.assign(new Error('x'), { code });
    expect(convertConnectionErrorToRequestError(toError('ERR_HTTP_REQUEST_TIMEOUT'))?.status).toBe(408);
    expect(convertConnectionErrorToRequestError(toError('ECONNRESET'))).toBeUndefined();
  });
});
