import { isUtf8 } from 'node:buffer';
import { isDeeper, isJsonObject, type Json, type JsonObject, MAX_DEPTH } from '../model/json.ts';
import type { Ask } from './ask.ts';
import { Failure } from './failure.ts';

const MAX_BYTES = 1024 * 1024;

/** The JSON object in a request's body. Refuses another content type, more than 1 MiB, and everything else. */
export async function readBody(ask: Ask): Promise<JsonObject> {
  const [contentType = ''] = (ask.header('content-type') ?? '').split(';');
  if (contentType !== JSON_TYPE && contentType.trim().toLowerCase() !== JSON_TYPE)
    throw new Failure('The body of this request needs the content type application/json', { code: 'bad_content_type' });
  return parseBody(await readWhole(ask));
}

const JSON_TYPE = 'application/json';

async function readWhole(ask: Ask): Promise<Buffer | string> {
  const bytes = await ask.readBody(MAX_BYTES).catch((error: unknown) => {
    throw new Failure('The body of the request is incomplete', { code: 'bad_body', cause: error });
  });
  if (bytes === undefined) throw refuseSize();
  return bytes;
}

function refuseSize(): Failure {
  return new Failure(`The body of a request may have at most ${MAX_BYTES} bytes`, { code: 'body_too_large' });
}

function refuseDepth(): Failure {
  return new Failure(`The body is nested more than ${MAX_DEPTH} levels deep`, { code: 'bad_body' });
}

function parseBody(body: Buffer | string): JsonObject {
  if (typeof body !== 'string' && !isUtf8(body)) throw new Failure('The body is not UTF-8', { code: 'bad_body' });
  try {
    const value: Json = JSON.parse(body.toString());
    if (isDeeper(value, MAX_DEPTH)) throw refuseDepth();
    if (isJsonObject(value)) return value;
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new Failure(`The body is not JSON: ${error.message}`, { code: 'bad_body', cause: error });
    throw error;
  }
  throw new Failure('The body is not a JSON object', { code: 'bad_body' });
}
