import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Kind } from '../../src/kinds/kind.ts';
import { OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { Transport } from '../../src/model/transport.ts';
import { CREATED_KINDS, createStackOf, toId, toJsonObject } from './creations.ts';
import { NOW } from './fake-context.ts';
import type { Workspace } from './workspace.ts';

type Answer = (sent: JsonObject, forward: () => Promise<JsonObject>) => Promise<JsonObject> | JsonObject;

/** Answers each creation with the body that `answer` returns. */
function answering({ recorder }: Workspace, answer: Answer): Transport {
  return async (request) => {
    if (request.method !== 'POST') return recorder.transport(request);
    const sent = toJsonObject(await request.clone().text());
    const forward = async () => toJsonObject(await (await recorder.transport(request)).text());
    return Response.json(await answer(sent, forward), { status: 201, headers: { date: NOW.toUTCString() } });
  };
}

const run = (workspace: Workspace, transport: Transport) =>
  workspace.edgewise('apply --yes', { transport, env: { TMPDIR: workspace.folder } });

/** Writes but creations. */
function listFurtherWrites({ recorder }: Workspace): readonly string[] {
  const writes = recorder.take().filter(({ method }) => method !== 'GET' && method !== 'POST');
  return writes.map(({ method, path }) => `${method} ${path}`);
}

const HOUR_AGO = new Date(NOW.getTime() - 3_600_000).toISOString();

/** Answers that are not those to the creation. `read`: the resource that the run has read. */
const WRONG: readonly (readonly [string, (kind: Kind, read: JsonObject, sent: JsonObject) => JsonObject, string])[] = [
  ['a resource that was read before', (_, read) => read, 'existed before'],
  [
    'a resource that was read before, with the mark that was sent',
    (_, read, { metadata = '' }) => ({ ...read, metadata, created_at: NOW.toISOString() }),
    'existed before',
  ],
  [
    'an id of another kind',
    ({ idPrefix }, read, sent) => ({
      ...read,
      ...sent,
      id: toId(OWNED_KINDS.find((kind) => kind.idPrefix !== idPrefix)?.idPrefix ?? '', 'b'),
      created_at: NOW.toISOString(),
    }),
    'is an id of another kind',
  ],
  [
    'a new resource of another stack',
    ({ idPrefix }, read) => ({
      ...read,
      id: toId(idPrefix, 'b'),
      metadata: JSON.stringify({ edgewise: { stack: 'other', name: 'one' } }),
      created_at: NOW.toISOString(),
    }),
    'has another mark',
  ],
  [
    'the older resource of its address, which no list showed',
    ({ idPrefix }, read, sent) => ({ ...read, ...sent, id: toId(idPrefix, 'b'), created_at: HOUR_AGO }),
    'was created at',
  ],
  [
    'the older resource of its address, whose mark has its id',
    ({ idPrefix }, read) => ({
      ...read,
      id: toId(idPrefix, 'b'),
      metadata: JSON.stringify({ edgewise: { stack: 'test', name: 'one', id: toId(idPrefix, 'b') } }),
      created_at: NOW.toISOString(),
    }),
    'has another mark',
  ],
  [
    'a new resource without a mark and with other fields',
    ({ idPrefix }, read) => ({ ...read, id: toId(idPrefix, 'b'), created_at: NOW.toISOString() }),
    'shows neither the mark nor the fields that were sent',
  ],
  ['a body without an id', () => ({ token: 'the-token' }), 'did not return its id'],
];

describe.each(CREATED_KINDS)('the creation of a resource of the kind %s', (_, kind) => {
  it.each(WRONG)('is unknown if it is answered with %s, and nothing follows from it', async (__, toBody, why) => {
    const workspace = await createStackOf(kind);
    const before = JSON.stringify(workspace.server.snapshot());
    const transport = answering(workspace, (sent) => toBody(kind, workspace.other, sent));
    const { exitCode, stdout } = await run(workspace, transport);
    expect(exitCode).toBe(1);
    expect(stdout).toContain(why);
    expect(stdout).toContain('It is unknown whether it took effect.');
    expect(listFurtherWrites(workspace)).toEqual([]);
    expect(JSON.stringify(workspace.server.snapshot())).toBe(before);
    if (kind.oneTimeFields.length === 0) return;
    expect(stdout).toMatch(/the token in the response is in \S*edgewise-rescue-/);
    expect(await readdir(join(workspace.folder, 'tokens'))).toEqual([]);
  });

  it('is ours if a GET shows the mark that the answer lacks, some seconds later', async () => {
    const workspace = await createStackOf(kind);
    let reads = 0;
    const answered = answering(workspace, async (___, forward) => ({ ...(await forward()), metadata: '' }));
    const transport: Transport = async (request) => {
      const isRead = request.method === 'GET' && new URL(request.url).pathname.startsWith(`${kind.path}/`);
      if (isRead) reads += 1;
      if (isRead && reads < 4) return new Response('{}', { status: 404 });
      return answered(request);
    };
    expect(await run(workspace, transport)).toMatchObject({ exitCode: 0 });
    expect(reads).toBe(4);
    expect(await workspace.edgewise('plan --detailed-exitcode')).toMatchObject({ exitCode: 0 });
  });
});

describe('the time of a creation', () => {
  const apply = async (createdMs: number | undefined, date?: (at: Response) => Response) => {
    const kind = OWNED_KINDS.find(({ name }) => name === 'WeightedBackend') ?? expect.fail('no such kind');
    const workspace = await createStackOf(kind);
    const answered = answering(workspace, async (_, forward) => {
      const { created_at: __, ...body } = await forward();
      return createdMs === undefined ? body : { ...body, created_at: new Date(createdMs).toISOString() };
    });
    const transport: Transport = async (request) => {
      const response = await answered(request);
      return date === undefined || request.method === 'POST' ? response : date(response);
    };
    return run(workspace, transport);
  };
  const withDate = (text: string | undefined) => (response: Response) => {
    if (text === undefined) response.headers.delete('date');
    else response.headers.set('date', text);
    return response;
  };

  it.each([
    ['a minute before the request', 60_000, 0],
    ['61 seconds before the request', 61_000, 1],
    ['after the request', -3_600_000, 0],
  ])('may be %s', async (_, agoMs, exitCode) => {
    expect(await apply(NOW.getTime() - agoMs)).toMatchObject({ exitCode });
  });

  it('is compared with the `Date` of the service, and not with the clock of the machine', async () => {
    const late = withDate(new Date(NOW.getTime() + 600_000).toUTCString());
    expect(await apply(NOW.getTime(), late)).toMatchObject({ exitCode: 1 });
    expect(await apply(NOW.getTime() + 590_000, late)).toMatchObject({ exitCode: 0 });
  });

  it('decides nothing if the answer has none, or the service shows no `Date`', async () => {
    expect(await apply(undefined)).toMatchObject({ exitCode: 0 });
    expect(await apply(NOW.getTime() - 3_600_000, withDate(undefined))).toMatchObject({ exitCode: 0 });
  });
});
