import { describe, expect, it } from 'vitest';
import { NetworkError } from '../../src/model/errors.ts';
import { decodeBodyText, type HttpRequest } from '../../src/model/http.ts';
import { toSend, toTransport } from '../../src/model/transport.ts';
import { catchError } from '../client/fake-service.ts';

const URL_OF_IT = 'https://api.example.test/x';
const REQUEST: HttpRequest = { method: 'GET', url: URL_OF_IT, headers: {}, body: null };

/** A response with a body of these parts. */
function createStreamedResponse(parts: readonly string[]): Response {
  return new Response(ReadableStream.from(parts.map((part) => new TextEncoder().encode(part))));
}

/** Reads the text of a response. */
async function readText(response: Response, maxBytes?: number): Promise<string> {
  return decodeBodyText((await toSend(async () => response, maxBytes)(REQUEST)).body);
}

describe('the body of a web Response', () => {
  it.each([[[]], [['abc']], [['a', 'b', 'c']], [['', 'abc', '']]])('is joined from the parts %j', async (parts) => {
    expect(await readText(createStreamedResponse(parts))).toBe(parts.join(''));
  });

  it('is the empty text if it is missing', async () => {
    expect(await readText(new Response(null, { status: 204 }))).toBe('');
  });

  it('keeps a character that is split into two parts, and drops a byte order mark', async () => {
    const parts = [new Uint8Array([0xef, 0xbb]), new Uint8Array([0xbf, 0xc3]), new Uint8Array([0xa9])];
    expect(await readText(new Response(ReadableStream.from(parts)))).toBe('é');
  });

  it('has at most the limit of bytes', async () => {
    expect(await readText(createStreamedResponse(['abc', 'd']), 4)).toBe('abcd');
    const error = await catchError(readText(createStreamedResponse(['abc', 'de']), 4));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toHaveProperty(
      'message',
      'GET https://api.example.test/x: the response is larger than 4 bytes, the limit',
    );
  });

  it('is no response if it breaks off', async () => {
    const body = new ReadableStream({ start: (controller) => controller.error(new Error('cut')) });
    await expect(readText(new Response(body))).rejects.toThrow('cut');
  });
});

describe('a web Request', () => {
  it('arrives whole in a browser whose requests have no stream', async () => {
    const seen: unknown[] = [];
    const transport = toTransport(async ({ body }) => {
      seen.push(body);
      return { status: 204, headers: {}, body: '' };
    });
    for (const init of [{ method: 'POST', body: 'é' }, { method: 'GET' }]) {
      const request = new Request(URL_OF_IT, init);
      Object.defineProperty(request, 'body', { value: undefined });
      await transport(request);
    }
    expect(seen).toEqual([Buffer.from('é'), null]);
  });

  it('arrives with its method, URL, headers and body, and gets status, headers and body', async () => {
    const seen: HttpRequest[] = [];
    const transport = toTransport(async (request) => {
      seen.push(request);
      return { status: 201, headers: { 'x-id': '1' }, body: '{"id":1}' };
    });
    const response = await transport(new Request(URL_OF_IT, { method: 'POST', headers: { 'X-A': 'b' }, body: 'é' }));
    expect([response.status, response.headers.get('x-id'), await response.json()]).toEqual([201, '1', { id: 1 }]);
    expect(seen).toMatchObject([{ method: 'POST', url: URL_OF_IT, headers: { 'x-a': 'b' }, body: Buffer.from('é') }]);
  });

  it.each([204, 205, 304])('gets the status %i, which has no body', async (status) => {
    const transport = toTransport(async () => ({ status, headers: {}, body: '' }));
    expect((await transport(new Request(URL_OF_IT))).status).toBe(status);
  });

  it('is not read beyond its limit', async () => {
    const transport = toTransport(async ({ body }) => ({ status: 200, headers: {}, body: `${body?.length}` }), {
      maxBytes: 4,
    });
    const endless = new ReadableStream({ pull: (controller) => controller.enqueue(new TextEncoder().encode('abc')) });
    const response = await transport(new Request(URL_OF_IT, { method: 'POST', body: endless, duplex: 'half' }));
    expect(await response.text()).toBe('6');
  });

  it('gets the response of the server if it breaks off', async () => {
    const broken = new ReadableStream({ pull: (controller) => controller.error(new Error('gone')) });
    const request = () => new Request(URL_OF_IT, { method: 'POST', body: broken, duplex: 'half' });
    const send = async () => ({ status: 200, headers: {}, body: '' });
    await expect(toTransport(send)(request())).rejects.toThrow('gone');
  });
});
