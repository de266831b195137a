import { describe, expect, it } from 'vitest';
import { readText } from '../../src/client/whole-body.ts';
import { NetworkError } from '../../src/model/errors.ts';
import { catchError } from './fake-service.ts';

const REQUEST = new Request('https://api.example.test/x');

/** A response with a body of these parts. */
function streaming(parts: readonly string[]): Response {
  const body = ReadableStream.from(parts.map((part) => new TextEncoder().encode(part)));
  return new Response(body);
}

describe('a body', () => {
  it.each([[[]], [['abc']], [['a', 'b', 'c']], [['', 'abc', '']]])('of the parts %j is put together', async (parts) => {
    expect(await readText(streaming(parts), REQUEST)).toBe(parts.join(''));
  });

  it('that is not there is the empty text', async () => {
    expect(await readText(new Response(null, { status: 204 }), REQUEST)).toBe('');
  });

  it('keeps a character whole that falls into two parts, and drops a byte order mark', async () => {
    const parts = [new Uint8Array([0xef, 0xbb]), new Uint8Array([0xbf, 0xc3]), new Uint8Array([0xa9])];
    expect(await readText(new Response(ReadableStream.from(parts)), REQUEST)).toBe('é');
  });

  it('may have just the most bytes, and not one more', async () => {
    expect(await readText(streaming(['abc', 'd']), REQUEST, 4)).toBe('abcd');
    const error = await catchError(readText(streaming(['abc', 'de']), REQUEST, 4));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toHaveProperty(
      'message',
      'GET https://api.example.test/x: the response is larger than 4 bytes, the limit',
    );
  });

  it('that breaks off is no response', async () => {
    const body = new ReadableStream({ start: (controller) => controller.error(new Error('cut')) });
    const error = await catchError(readText(new Response(body), REQUEST));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toHaveProperty('message', 'GET https://api.example.test/x: the request failed (cut)');
  });
});
