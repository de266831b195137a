import { readFileSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { createWorkspace, STACK, toCredential, toEdge } from './workspace.ts';

const FILES = {
  'edgewise.yaml': `${STACK}spec: { api: { concurrency: 1 } }\n${toEdge('a', 20001)}${toCredential('agent')}`,
};

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
const validate = ajv.compile(JSON.parse(readFileSync('schemas/journal.schema.json', 'utf8')));

interface Line {
  readonly event: string;
  readonly [name: string]: unknown;
}

/** Reads the lines of a journal. Each conforms to the published schema. */
function readLines(text: string): readonly Line[] {
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line): Line => JSON.parse(line));
  for (const line of lines) expect(validate(line), JSON.stringify([line, validate.errors])).toBe(true);
  return lines;
}

describe('a journal', () => {
  it('has a line before and after each request, for its owner only, and no token', async () => {
    const { edgewise, folder, recorder } = await createWorkspace(FILES);
    await edgewise('apply --yes --token-directory tokens --journal run.ndjson');
    const text = await readFile(join(folder, 'run.ndjson'), 'utf8');
    const lines = readLines(text);
    const said = lines.map(({ event, request, method, address }) => [event, request, method, address].join(' '));
    expect(said.toSorted()).toEqual(
      [
        'before write POST Credential/agent',
        'after write POST Credential/agent',
        'before look-up GET ',
        'after look-up GET ',
        'before write PATCH Credential/agent',
        'after write PATCH Credential/agent',
        'before write POST TCPEdge/a',
        'after write POST TCPEdge/a',
      ].toSorted(),
    );
    expect(lines.find(({ event, address }) => event === 'after' && address === 'TCPEdge/a')).toMatchObject({
      format: 1,
      stack: 'test',
      outcome: 'done',
      id: expect.stringMatching(/^edgtcp_/),
    });
    expect(new Set(lines.map(({ run }) => run)).size).toBe(1);
    expect((await stat(join(folder, 'run.ndjson'))).mode & 0o777).toBe(0o600);
    const token = (await readFile(join(folder, 'tokens', 'agent.token'), 'utf8')).trim();
    expect(text).not.toContain(token);
    expect(recorder.take().filter(({ method }) => method !== 'GET')).toHaveLength(3);
  });

  it('says why a request failed', async () => {
    const { edgewise, folder, server } = await createWorkspace(FILES);
    const transport = async (request: Request): Promise<Response> =>
      request.method === 'POST' ? Response.json({ msg: 'not you' }, { status: 403 }) : server.handle(request);
    const env = { EDGEWISE_JOURNAL: 'run.ndjson' };
    await edgewise('apply --yes --token-directory tokens', { transport, env });
    const text = await readFile(join(folder, 'run.ndjson'), 'utf8');
    expect(text).toMatch(/"event":"after","request":"write".*"outcome":"failed","status":403/);
    readLines(text);
  });

  it('says that a waiting write was not sent because of an interrupt', async () => {
    const { edgewise, folder, server } = await createWorkspace(FILES);
    let interrupt = (): void => undefined;
    const transport = async (request: Request): Promise<Response> => {
      if (request.method !== 'POST') return server.handle(request);
      interrupt();
      return new Response('', { status: 429 });
    };
    const onListen = (listener: () => void): void => {
      interrupt = listener;
    };
    await edgewise('apply --yes --token-directory tokens --journal run.ndjson', {
      transport,
      onListen,
    });
    const lines = readLines(await readFile(join(folder, 'run.ndjson'), 'utf8'));
    expect(lines.map(({ event, outcome }) => [event, outcome])).toEqual([
      ['before', undefined],
      ['after', 'not-sent'],
    ]);
  });

  it('stops the apply before the first write if it cannot be written', async () => {
    const { edgewise, recorder } = await createWorkspace(FILES);
    const refused = await edgewise('apply --yes --token-directory tokens --journal nowhere/run.ndjson');
    expect(refused).toMatchObject({ exitCode: 1 });
    expect(refused.stderr).toContain('The journal cannot be written: ');
    expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('continues on a line of its own after one that a crash cut off', async () => {
    const { edgewise, folder } = await createWorkspace(FILES);
    await writeFile(join(folder, 'run.ndjson'), '{"format":1,"ti');
    await edgewise('apply --yes --token-directory tokens --journal run.ndjson');
    const [torn, next = ''] = (await readFile(join(folder, 'run.ndjson'), 'utf8')).split('\n');
    expect(torn).toBe('{"format":1,"ti');
    expect(JSON.parse(next)).toMatchObject({ event: 'before' });
  });
});
