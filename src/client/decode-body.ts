import { promisify } from 'node:util';
import { brotliDecompress, constants, gunzip, inflate, type ZlibOptions } from 'node:zlib';
import { NetworkError } from '../model/errors.ts';
import type { PlainRequest } from '../model/transport.ts';
import { MAX_BODY_BYTES, tooLarge } from './whole-body.ts';

/** Node's decompression is loaded by the first body that needs it. */
const DECODERS: Readonly<Record<string, Decode>> = {
  gzip: (body, options) => promisify(gunzip)(body, options),
  'x-gzip': (body, options) => promisify(gunzip)(body, options),
  deflate: (body, options) => promisify(inflate)(body, options),
  br: (body, options) => promisify(brotliDecompress)(body, options),
};

type Decode = (body: Buffer<ArrayBuffer>, options: ZlibOptions) => Promise<Buffer<ArrayBuffer>>;

/** Decompresses a body. Rejects with `NetworkError` when that fails or the result is above the size limit. */
export async function decodeBody(
  body: Buffer<ArrayBuffer>,
  encoding: string,
  request: Pick<PlainRequest, 'method' | 'url'>,
): Promise<Buffer<ArrayBuffer>> {
  const decode = DECODERS[encoding.trim().toLowerCase()];
  const refuse = (what: string, cause?: unknown) =>
    new NetworkError(`${request.method} ${request.url}: the response ${what}`, { cause });
  if (encoding.trim().toLowerCase() === 'identity') return body;
  if (decode === undefined) throw refuse('has an encoding that was not requested');
  try {
    return await decode(body, { maxOutputLength: MAX_BODY_BYTES });
  } catch (error) {
    const isTooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    if (isTooLarge) throw tooLarge(request, [await decodeHead(body, decode)]);
    throw refuse('cannot be decompressed', error);
  }
}

/** This many compressed bytes decompress to at most about a megabyte. */
const COMPRESSED_HEAD_BYTES = 1024;

/** The beginning of a body that is refused for its size; empty where it cannot be decompressed. */
async function decodeHead(body: Buffer<ArrayBuffer>, decode: Decode): Promise<Buffer<ArrayBuffer>> {
  const options = { maxOutputLength: MAX_BODY_BYTES, finishFlush: constants.Z_SYNC_FLUSH };
  try {
    return await decode(body.subarray(0, COMPRESSED_HEAD_BYTES), options);
  } catch {
    return Buffer.alloc(0);
  }
}
