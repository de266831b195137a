import { describe, expect, it } from 'vitest';
import { withWholeBody } from '../../src/client/whole-body.ts';
import { NetworkError } from '../../src/model/errors.ts';
import { catchError } from './fake-service.ts';

const REQUEST = new Request('https://api.example.test/x');

/** A transport whose response has a body of these parts. */
function streaming(parts: readonly string[]) {
  return async () => {
    const body = ReadableStream.from(parts.map((part) => new TextEncoder().encode(part)));
    return new Response(body, { status: 207, statusText: 'Odd', headers: { 'x-a': '1' } });
  };
}

describe('withWholeBody', () => {
  it.each([[[]], [['abc']], [['a', 'b', 'c']], [['', 'abc', '']]])(
    'puts a body of the parts %j together and leaves the rest of the response',
    async (parts) => {
      const response = await withWholeBody(streaming(parts))(REQUEST);
      expect(await response.text()).toBe(parts.join(''));
      expect([response.status, response.statusText, response.headers.get('x-a')]).toEqual([207, 'Odd', '1']);
    },
  );

  it('keeps a character whole that falls into two parts', async () => {
    const [first, second] = [new Uint8Array([0xc3]), new Uint8Array([0xa9])];
    const transport = async () => new Response(ReadableStream.from([first, second]));
    expect(await (await withWholeBody(transport)(REQUEST)).text()).toBe('é');
  });

  it('takes a body of just the most bytes, and refuses one more', async () => {
    expect(await (await withWholeBody(streaming(['abc', 'd']), 4)(REQUEST)).text()).toBe('abcd');
    const error = await catchError(withWholeBody(streaming(['abc', 'de']), 4)(REQUEST));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toHaveProperty(
      'message',
      'GET https://api.example.test/x: the answer is larger than 4 bytes, the most that is taken',
    );
  });

  it('takes a body that breaks off for no response', async () => {
    const body = new ReadableStream({ start: (controller) => controller.error(new Error('cut')) });
    const error = await catchError(withWholeBody(async () => new Response(body))(REQUEST));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toHaveProperty('message', 'GET https://api.example.test/x: the request failed (cut)');
  });

  it('makes a rejection of what a transport throws before it is asynchronous', async () => {
    const transport = () => {
      throw new Error('odd');
    };
    expect(await catchError(withWholeBody(transport)(REQUEST))).toBeInstanceOf(NetworkError);
  });
});
