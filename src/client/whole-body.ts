import { NetworkError } from '../model/errors.ts';
import type { Transport } from '../model/transport.ts';
import { toNetworkFault } from './network-fault.ts';

/** The largest response body that is taken. */
export const MAX_BODY_BYTES = 32 * 1024 * 1024;

/**
 * Reads each response to its end before handing it on, so that a body that breaks off counts as no response.
 * Rejects with `NetworkError` when there is more than `maxBytes` of it, and for whatever the transport throws.
 */
export function withWholeBody(transport: Transport, maxBytes = MAX_BODY_BYTES): Transport {
  return async (request) => {
    try {
      const response = await transport(request);
      if (response.body === null) return response;
      const body = await readBytes(response.body, maxBytes);
      if (body === undefined) throw new NetworkError(`${request.method} ${request.url}: ${toTooLarge(maxBytes)}`);
      const { status, statusText, headers } = response;
      return new Response(body, { status, statusText, headers });
    } catch (error) {
      throw toNetworkFault(error, request);
    }
  };
}

function toTooLarge(maxBytes: number): string {
  return `the answer is larger than ${maxBytes} bytes, the most that is taken`;
}

async function readBytes(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.byteLength;
    if (length > maxBytes) return undefined;
    chunks.push(chunk);
  }
  const [first] = chunks;
  return first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks, length);
}
