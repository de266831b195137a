import { isUtf8 } from 'node:buffer';
import { isDeeper, isJsonObject, type Json, type JsonObject, MAX_DEPTH } from '../model/json.ts';
import { Failure } from './failure.ts';

const MAX_BYTES = 1024 * 1024;

/** The JSON object in a request's body. Refuses another content type, more than 1 MiB, and everything else. */
export async function readBody(request: Request): Promise<JsonObject> {
  const [contentType = ''] = (request.headers.get('content-type') ?? '').split(';');
  if (contentType.trim().toLowerCase() !== 'application/json')
    throw new Failure('The body of this request needs the content type application/json', { code: 'bad_content_type' });
  return parseBody(await readBytes(request));
}

async function readBytes(request: Request): Promise<Buffer> {
  try {
    const length = Number(request.headers.get('content-length') ?? Number.NaN);
    if (length > MAX_BYTES) throw refuseSize();
    return Number.isNaN(length) ? await readStream(request) : limit(Buffer.from(await request.arrayBuffer()));
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure('The body of the request is incomplete', { code: 'bad_body', cause: error });
  }
}

/** A body that does not say how long it is. */
async function readStream(request: Request): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > MAX_BYTES) throw refuseSize();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function limit(bytes: Buffer): Buffer {
  if (bytes.length > MAX_BYTES) throw refuseSize();
  return bytes;
}

function refuseSize(): Failure {
  return new Failure(`The body of a request may have at most ${MAX_BYTES} bytes`, { code: 'body_too_large' });
}

function refuseDepth(): Failure {
  return new Failure(`The body is nested more than ${MAX_DEPTH} levels deep`, { code: 'bad_body' });
}

function parseBody(bytes: Buffer): JsonObject {
  if (!isUtf8(bytes)) throw new Failure('The body is not UTF-8', { code: 'bad_body' });
  try {
    const value: Json = JSON.parse(bytes.toString('utf8'));
    if (isDeeper(value, MAX_DEPTH)) throw refuseDepth();
    if (isJsonObject(value)) return value;
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new Failure(`The body is not JSON: ${error.message}`, { code: 'bad_body', cause: error });
    throw error;
  }
  throw new Failure('The body is not a JSON object', { code: 'bad_body' });
}
