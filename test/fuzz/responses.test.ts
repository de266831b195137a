import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/model/json.ts';
import type { Transport } from '../../src/model/transport.ts';
import { holds } from '../laws/properties.ts';
import { LONG } from '../tries.ts';
import { applyEverything, createEverything, type FuzzResult, openServer, runWithInput } from './fuzzing.ts';
import { anyBytes, mutatedJson, mutatedText } from './mutations.ts';

const COMMANDS: readonly (readonly [line: string, exitCodes: readonly number[]])[] = [
  ['plan manifests.yaml --verbose', [0, 1, 3, 4, 5]],
  ['drift manifests.yaml --format json', [0, 1, 2, 3, 4]],
  ['export --owner exported -o out --force', [0, 1, 3, 4]],
  ['apply manifests.yaml --yes --token-directory tokens', [0, 1, 3, 4, 5]],
  ['apply manifests.yaml --yes --token-directory tokens --format json', [0, 1, 3, 4, 5]],
  ['destroy manifests.yaml --yes --allow-deletes', [0, 1, 3, 4, 5]],
  ['abuse-report submit https://a.example.net/x', [0, 1, 3, 4]],
];

/** One corrupted response. */
interface Corruption {
  /** The number of the response, from 0. Reads come first. */
  readonly nth: number;
  /** Whether each later response on the same path is corrupted too, so that a retry does not help. */
  readonly stays: boolean;
  readonly status: number | undefined;
  readonly contentType: string | undefined;
  /** Returns a new body for a body. */
  readonly corrupt: (body: string) => Buffer;
}

/** A corruption of a body, chosen with the seed of the corruption, because the body is known only when it arrives. */
const corrupt: fc.Arbitrary<Corruption['corrupt']> = fc.oneof(
  anyBytes.map((bytes) => () => bytes),
  fc.nat().map((seed) => (body: string) => sampleOne(mutatedText(body), seed)),
  fc.nat().map((seed) => (body: string) => Buffer.from(sampleOne(mutatedJson(parseBody(body)), seed))),
  fc.nat().map((seed) => (body: string) => Buffer.from(sampleOne(mutatedJson(parseBody(body)), seed))),
);

const corruption: fc.Arbitrary<Corruption> = fc.record({
  nth: fc.nat({ max: 24 }),
  stays: fc.boolean(),
  status: fc.option(fc.constantFrom(200, 201, 204, 302, 400, 401, 403, 404, 409, 422, 500, 503), {
    nil: undefined,
    freq: 3,
  }),
  contentType: fc.option(fc.constantFrom('text/html', '', 'application/json; charset=utf-16', 'x'), {
    nil: undefined,
    freq: 3,
  }),
  corrupt,
});

describe('malformed responses of a service', () => {
  it('are an error, and nothing of an unreadable one is used', LONG, async () => {
    const { seed } = await applyEverything();
    const { folder, manifests } = createEverything();
    const property = fc.asyncProperty(
      corruption,
      fc.constantFrom(...COMMANDS),
      fc.boolean(),
      async (corrupted, [line, exitCodes], isLive) => {
        writeFileSync(join(folder, 'manifests.yaml'), manifests);
        const answers = withCorruptResponse(openServer(isLive ? seed : {}).handle, corrupted);
        const result = await runWithInput(line.split(' '), {
          folder,
          fed: [corrupted, line],
          transport: answers.transport,
        });
        expect(exitCodes, result.stderr).toContain(result.exitCode);
        if (answers.isUnreadable()) expectNothingDone(result);
      },
    );
    await holds(property, 250);
  });
});

/** Expects that an unreadable list ends the run before its first write. */
function expectNothingDone({ exitCode, writes, stdout, stderr }: FuzzResult): void {
  expect(exitCode, stdout).not.toBe(0);
  expect(writes, `${stdout}${stderr}`).toBe(0);
}

function withCorruptResponse(inner: Transport, { nth, stays, status, contentType, corrupt: change }: Corruption) {
  let count = 0;
  let chosen: string | undefined;
  let isUnreadable = false;
  let isWriting = false;
  const transport: Transport = async (request) => {
    const response = await inner(request);
    isWriting ||= request.method !== 'GET';
    const path = `${request.method} ${new URL(request.url).pathname}`;
    const isChosen = count++ === nth;
    if (isChosen) chosen = path;
    if (!isChosen && !(stays && path === chosen)) return response;
    const body = change(await response.text());
    const sent = status ?? response.status;
    if (stays && !isWriting && sent === 200 && !isJson(body)) isUnreadable = true;
    const type = contentType ?? response.headers.get('content-type') ?? '';
    return new Response([204, 205, 304].includes(sent) ? null : new Uint8Array(body), {
      status: sent,
      headers: { 'content-type': type },
    });
  };
  return { transport, isUnreadable: () => isUnreadable };
}

function isJson(body: Buffer): boolean {
  try {
    JSON.parse(body.toString());
    return true;
  } catch {
    return false;
  }
}

function parseBody(body: string): Json {
  return body === '' ? {} : (JSON.parse(body) as Json); // the server reports it
}

function sampleOne<T>(arbitrary: fc.Arbitrary<T>, seed: number): T {
  const [value] = fc.sample(arbitrary, { numRuns: 1, seed });
  if (value === undefined) throw new Error('There is no sample');
  return value;
}
