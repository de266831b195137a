import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer as createNetServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type Context, VERSION } from '../../src/cli/context.ts';
import { run } from '../../src/cli/run.ts';
import { createUndiciTransport } from '../../src/client/undici-transport.ts';
import { rehearsePlan } from '../../src/rehearse/rehearse.ts';
import { sealLine, unsealLine } from '../../src/server/snapshot-seal.ts';
import { createHeaders } from '../by-hand.ts';
import { createFakeStream, NOW } from './fake-context.ts';

/** Runs `serve` until `stop` is called. */
async function startServe(
  words: readonly string[],
  cwd: string,
  now = () => NOW,
  files: Readonly<Record<string, string>> = {},
) {
  for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text);
  const { promise: ready, resolve: setReady } = Promise.withResolvers<string>();
  let stop = (): void => undefined;
  let log = '';
  const context: Context = {
    stdout: createFakeStream(setReady),
    stderr: createFakeStream((text) => {
      log += text;
    }),
    env: {},
    cwd,
    uid: process.getuid?.(),
    now,
    sleep: async () => undefined,
    random: () => 0.5,
    readStdin: async () => new Uint8Array(),
    ask: async () => undefined,
    onInterrupt: (listener) => {
      stop = listener;
      return () => undefined;
    },
    exitNow: () => undefined,
    after: () => () => undefined,
    rehearse: rehearsePlan,
    openTransport: async () => createUndiciTransport(),
  };
  const ended = run(['serve', '--port', '0', ...words], context);
  const line = await Promise.race([ready, ended.then((code) => `ended with ${code}: ${log}`)]);
  const url = /http:\S+/.exec(line)?.[0] ?? '';
  const end = () => {
    stop();
    return ended;
  };
  return { line, url, log: () => log, end };
}

async function createFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'edgewise-serve-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const HEADERS = createHeaders();

it('prints one line with its URL, logs requests, keeps its data, and stops on a signal', async () => {
  const folder = await createFolder();
  const first = await startServe(['--api-key', 'dev', '--snapshot', 'account.json'], folder);
  expect(first.line).toMatch(/^edgewise server listening on http:\/\/127\.0\.0\.1:\d+\n$/);
  const created = await fetch(`${first.url}/edges/tcp`, {
    method: 'POST',
    headers: HEADERS,
    body: '{"description":"kept"}',
  });
  expect(created.status).toBe(201);
  expect(await first.end()).toBe(0);
  await expect(fetch(first.url)).rejects.toThrow();
  expect(first.log()).toContain('"method":"POST","path":"/edges/tcp","status":201');
  expect(first.log()).not.toContain('Bearer');
  expect(await readFile(join(folder, 'account.json'), 'utf8')).toContain('kept');
  const second = await startServe(['--api-key', 'dev', '--snapshot', 'account.json'], folder);
  expect(await (await fetch(`${second.url}/edges/tcp`, { headers: HEADERS })).json()).toMatchObject({
    tcp_edges: [{ description: 'kept' }],
  });
  expect(await second.end()).toBe(0);
});

it('starts with a seed and a rate limit', async () => {
  const folder = await createFolder();
  await writeFile(join(folder, 'seed.json'), JSON.stringify({ resources: { TCPEdge: [{ description: 'seeded' }] } }));
  const server = await startServe(['--seed', 'seed.json', '--rate-limit', '1/60s'], folder);
  expect(await (await fetch(`${server.url}/edges/tcp`, { headers: HEADERS })).json()).toMatchObject({
    tcp_edges: [{ description: 'seeded' }],
  });
  expect(await fetch(`${server.url}/edges/tcp`, { headers: HEADERS })).toMatchObject({ status: 429 });
  expect(await server.end()).toBe(0);
});

it('stores a seed and the ids that were made up for it before anything changes', async () => {
  const folder = await createFolder();
  await writeFile(join(folder, 'seed.json'), JSON.stringify({ resources: { TCPEdge: [{ description: 'seeded' }] } }));
  const flags = ['--api-key', 'dev', '--seed', 'seed.json', '--snapshot', 'account.json'];
  const first = await startServe(flags, folder);
  const seen = await (await fetch(`${first.url}/edges/tcp`, { headers: HEADERS })).text();
  const [id = 'none'] = /edgtcp_\w+/.exec(seen) ?? [];
  const kept = await readFile(join(folder, 'account.json'), 'utf8');
  expect(await first.end()).toBe(0);
  const second = await startServe(flags, folder);
  const again = await (await fetch(`${second.url}/edges/tcp`, { headers: HEADERS })).json();
  expect(again).toMatchObject({ tcp_edges: [{ id, description: 'seeded' }] });
  expect(kept).toContain(id);
  expect(await second.end()).toBe(0);
});

it('reports a port that is in use', async () => {
  const other = createNetServer();
  await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening));
  onTestFinished(() => new Promise<void>((closed) => other.close(() => closed())));
  const address = other.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const { line } = await startServe(['--port', String(port)], await createFolder());
  expect(line).toContain(`ended with 1: edgewise: Another program listens on 127.0.0.1:${port} already.`);
});

it('simulates faults of a file, and logs them', async () => {
  const folder = await createFolder();
  const rules = 'rules: [{ on: "GET /edges/tcp", nth: 1, fault: reset }, { on: "*", nth: 1, fault: throttle }]';
  await writeFile(join(folder, 'faults.yaml'), rules);
  const server = await startServe(['--faults', 'faults.yaml'], folder);
  await expect(fetch(`${server.url}/edges/tcp`, { headers: HEADERS })).rejects.toThrow();
  expect((await fetch(`${server.url}/edges/tcp`, { headers: HEADERS })).status).toBe(200);
  expect(await server.end()).toBe(0);
  expect(server.log()).toContain('"method":"GET","path":"/edges/tcp","fault":"reset"');
});

it('refuses a faults file that is missing or wrong, with the wrong rule', async () => {
  const folder = await createFolder();
  await writeFile(
    join(folder, 'faults.json'),
    '{"rules":[{"on":"GET *","fault":"slow"},{"on":"*","fault":"cut","nth":0}]}',
  );
  const wrong = await startServe(['--faults', 'faults.json'], folder);
  expect(await wrong.end()).toBe(3);
  expect(wrong.log()).toContain(
    'faults.json: rules[0].fault (GET *) is `slow`, but must be one of `latency`, `throttle`',
  );
  expect(wrong.log()).toContain('; rules[1].nth (*) is 0, but must be at least 1\nedgewise schema faults describes');
  const missing = await startServe(['--faults', 'missing.yaml'], folder);
  expect(await missing.end()).toBe(3);
  expect(missing.log()).toContain('missing.yaml does not exist.\nCorrect the path');
});

it('logs a bug as an error with its stack', async () => {
  let isBroken = false;
  const now = (): Date => {
    if (isBroken) throw new Error('the clock has stopped');
    return NOW;
  };
  const server = await startServe([], await createFolder(), now);
  isBroken = true;
  const { status } = await fetch(`${server.url}/edges/tcp`, { method: 'POST', headers: HEADERS, body: '{}' });
  isBroken = false;
  expect(status).toBe(500);
  await server.end();
  const [line = '{}'] = server.log().split('\n');
  expect(JSON.parse(line)).toMatchObject({
    level: 50,
    method: 'POST',
    path: '/edges/tcp',
    status: 500,
    error: { message: 'the clock has stopped', stack: expect.stringMatching(/at .*serve\.test\.ts/) },
  });
});

it('responds to no change before it is in the snapshot, also with many at once', async () => {
  const folder = await createFolder();
  const server = await startServe(['--snapshot', 'account.json'], folder);
  const create = async (index: number): Promise<string> => {
    const body = JSON.stringify({ description: `kept ${index}` });
    const answer = await fetch(`${server.url}/edges/tcp`, { method: 'POST', headers: HEADERS, body });
    expect(answer.status).toBe(201);
    return readFile(join(folder, 'account.json'), 'utf8');
  };
  expect(await create(0)).toContain('"kept 0"');
  const snapshots = await Promise.all(Array.from({ length: 20 }, (_, index) => create(index + 1)));
  for (const [index, snapshot] of snapshots.entries()) expect(snapshot).toContain(`"kept ${index + 1}"`);
  await server.end();
});

it('responds with 500 to a change that it cannot save, and saves it as soon as it can', async () => {
  const folder = await createFolder();
  await mkdir(join(folder, 'data'));
  const server = await startServe(['--snapshot', 'data/account.json'], folder);
  await rm(join(folder, 'data'), { recursive: true });
  const create = () => fetch(`${server.url}/edges/tcp`, { method: 'POST', headers: HEADERS, body: '{}' });
  const refused = await create();
  expect([refused.status, await refused.json()]).toEqual([500, expect.objectContaining({ error_code: 'not_saved' })]);
  expect(server.log()).toMatch(/"level":50.*The snapshot cannot be written: ENOENT/);
  await mkdir(join(folder, 'data'));
  expect((await create()).status).toBe(201);
  const kept = await readFile(join(folder, 'data/account.json'), 'utf8');
  expect(kept.match(/"id":"edgtcp_/g)).toHaveLength(2);
  expect(await server.end()).toBe(0);
});

it('adds a line to its snapshot for each change, and leaves one document at its end', async () => {
  const folder = await createFolder();
  const file = join(folder, 'account.json');
  const server = await startServe(['--snapshot', 'account.json', '--seed', 'seed.json'], folder, undefined, {
    'seed.json': JSON.stringify({ resources: { Credential: Array.from({ length: 500 }, () => ({})) } }),
  });
  const before = await readFile(file, 'utf8');
  const created = await fetch(`${server.url}/edges/tcp`, { method: 'POST', headers: HEADERS, body: '{}' });
  const { id } = (await created.json()) as { readonly id: string }; // the response of a create
  await fetch(`${server.url}/edges/tcp/${id}`, { method: 'DELETE', headers: HEADERS });
  const after = await readFile(file, 'utf8');
  expect(after.startsWith(before)).toBe(true);
  const lines = after.slice(before.length).trim().split('\n');
  expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
    { resources: { TCPEdge: [{ id }] }, sequence: 501 },
    { removed: { TCPEdge: [{ id }] }, sequence: 501 },
  ]);
  expect(await server.end()).toBe(0);
  expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ resources: { TCPEdge: [] }, sequence: 501 });
});

it('refuses a write that no later start could read, and starts with what it acknowledged', async () => {
  const folder = await createFolder();
  const first = await startServe(['--snapshot', 'account.json'], folder);
  const create = async (count: number) => {
    const hostports = Array.from({ length: count }, (_, index) => `a${index}.b:1`);
    const body = JSON.stringify({ hostports });
    const answer = await fetch(`${first.url}/edges/tcp`, { method: 'POST', headers: HEADERS, body });
    return [answer.status, await answer.json()];
  };
  expect(await create(20_001)).toEqual([
    507,
    expect.objectContaining({ error_code: 'account_full', msg: 'hostports has more than 20,000 members' }),
  ]);
  expect(await create(20_000)).toEqual([201, expect.anything()]);
  await first.end();
  const second = await startServe(['--snapshot', 'account.json'], folder);
  expect(await (await fetch(`${second.url}/edges/tcp`, { headers: HEADERS })).json()).toMatchObject({
    tcp_edges: [{ hostports: expect.objectContaining({ length: 20_000 }) }],
  });
  await second.end();
});

it('checks its snapshot only if it was edited, and then names the place', async () => {
  const folder = await createFolder();
  const file = join(folder, 'account.json');
  const first = await startServe(['--snapshot', 'account.json'], folder);
  await fetch(`${first.url}/credentials`, { method: 'POST', headers: HEADERS, body: '{"description":"laptop"}' });
  await first.end();
  const kept = await readFile(file, 'utf8');
  const wrong = kept.replace('"laptop"', '7');
  await writeFile(file, wrong);
  const edited = await startServe(['--snapshot', 'account.json'], folder);
  expect(await edited.end()).toBe(3);
  expect(edited.log()).toContain(
    'account.json: resources.Credential[0]: description must be text, but is the number 7',
  );
  // What it refuses is not written by a server. With the digest of the wrong text, it is loaded as it is.
  const { text } = sealLine(unsealLine(wrong.trimEnd()), `edgewise ${VERSION}`);
  await writeFile(file, `${text}\n`);
  const trusting = await startServe(['--snapshot', 'account.json'], folder);
  expect(await (await fetch(`${trusting.url}/credentials`, { headers: HEADERS })).text()).toContain('"description":7');
  expect(await trusting.end()).toBe(0);
});

it.each([
  ['--admin', 'needs another API key than `dev`'],
  ['--admin --api-key dev:admin', 'needs another API key than `dev`'],
  ['--admin --api-key tests', 'needs an API key with `:admin`'],
  ['--admin --accounts --api-key a:admin --api-key b', 'needs only API keys with `:admin`'],
  ['--admin --api-key tests:admin --host 0.0.0.0', 'listens on a loopback address only, not on 0.0.0.0'],
  ['--accounts --api-key a --snapshot account.json', 'A snapshot is of one account'],
])('refuses %s', async (words, message) => {
  const server = await startServe(words.split(' '), await createFolder());
  expect(await server.end()).toBe(3);
  expect(server.log()).toContain(message);
});

it('lets tests reset it, and keeps what it has then in its snapshot', async () => {
  const folder = await createFolder();
  const server = await startServe(['--admin', '--api-key', 'dev2:admin', '--snapshot', 'account.json'], folder);
  const headers = { ...HEADERS, authorization: 'Bearer dev2' };
  await fetch(`${server.url}/edges/tcp`, { method: 'POST', headers, body: '{}' });
  expect((await fetch(`${server.url}/_edgewise/reset`, { method: 'POST', headers })).status).toBe(204);
  const kept = await readFile(join(folder, 'account.json'), 'utf8');
  expect(JSON.parse(kept)).toMatchObject({ resources: { TCPEdge: [] } });
  expect(await server.end()).toBe(0);
});

it('has an account for each key', async () => {
  const server = await startServe(['--accounts', '--api-key', 'a', '--api-key', 'b'], await createFolder());
  const headers = (key: string) => ({ ...HEADERS, authorization: `Bearer ${key}` });
  await fetch(`${server.url}/edges/tcp`, { method: 'POST', headers: headers('a'), body: '{}' });
  const counts = ['a', 'b'].map(async (key) => {
    const page = await fetch(`${server.url}/edges/tcp`, { headers: headers(key) });
    return (await page.text()).match(/edgtcp_/g)?.length ?? 0;
  });
  expect(await Promise.all(counts)).toEqual([2, 0]);
  expect(await server.end()).toBe(0);
});
