import { NetworkError } from '../model/errors.ts';
import type { PlainRequest, PlainResponse } from '../model/transport.ts';
import { toNetworkFault } from './network-fault.ts';

/** The largest response body that is taken. */
export const MAX_BODY_BYTES = 32 * 1024 * 1024;

type Body = Pick<PlainResponse, 'body'>;
type Asked = Pick<PlainRequest, 'method' | 'url' | 'signal'>;

/** How much of it an error keeps. */
const HEAD_BYTES = 4096;

/** The text of the response to a request. Rejects with `NetworkError` when it breaks off or is longer than `maxBytes`. */
export async function readText(response: Body, request: Asked, maxBytes = MAX_BODY_BYTES): Promise<string> {
  return UTF_8.decode(await readBytes(response, request, maxBytes));
}

const UTF_8 = new TextDecoder();

async function readBytes(response: Body, request: Asked, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    let length = 0;
    const take = (chunk: Uint8Array<ArrayBuffer>): void => {
      length += chunk.byteLength;
      chunks.push(chunk);
      if (length > maxBytes) throw tooLarge(request, chunks, maxBytes);
    };
    const body = response.body ?? [];
    // What is there already need not be waited for.
    if (Symbol.asyncIterator in body) for await (const chunk of body) take(chunk);
    else for (const chunk of body) take(chunk);
    const [first] = chunks;
    return first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks, length);
  } catch (error) {
    throw toNetworkFault(error, request);
  }
}

/** The error for an answer above the size limit, with what was read of it. */
export function tooLarge(
  { method, url }: Pick<Asked, 'method' | 'url'>,
  chunks: readonly Uint8Array[],
  maxBytes = MAX_BODY_BYTES,
): NetworkError {
  const head = new TextDecoder().decode(chunks[0]?.subarray(0, HEAD_BYTES));
  return new NetworkError(`${method} ${url}: the response is larger than ${maxBytes} bytes, the limit`, {
    head,
  });
}
