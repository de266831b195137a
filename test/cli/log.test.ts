import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isJsonObject, type JsonObject, parseJson } from '../../src/model/json.ts';
import { parseApiKey } from '../../src/server/index.ts';
import { createWorkspace, STACK, toCredential, toEdge } from './workspace.ts';

const KEY = 'a-key-that-is-long-enough';
const MANIFESTS = { 'stack.yaml': `${STACK}${toEdge('a', 20001)}${toCredential('agent')}` };

/** The log lines of a run. */
function readLog(stderr: string): readonly JsonObject[] {
  return stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => parseJson(line))
    .filter(isJsonObject);
}

async function apply(level: string) {
  const { edgewise, recorder, folder } = await createWorkspace(MANIFESTS, {
    apiKeys: [parseApiKey(`${KEY}:admin`)],
  });
  const env = { EDGEWISE_API_KEY: KEY, EDGEWISE_LOG_LEVEL: level };
  const result = await edgewise('apply --yes --token-directory tokens', { env, terminal: 120 });
  expect(result.exitCode, result.stderr).toBe(0);
  const token = (await readFile(join(folder, 'tokens/agent.token'), 'utf8')).trim();
  return { ...result, sent: recorder.take(), log: readLog(result.stderr), token };
}

it('writes a line for each request at debug: method, path, status, milliseconds, attempt and operation', async () => {
  const { sent, log } = await apply('debug');
  const requests = log.filter(({ msg }) => msg === 'request');
  const toKey = ({ method, path, status }: { method?: unknown; path?: unknown; status?: unknown }) =>
    `${method} ${path} ${status}`;
  expect(requests.map(toKey).sort()).toEqual(sent.map(toKey).sort());
  for (const request of requests)
    expect(request).toMatchObject({
      level: 20,
      ms: expect.any(Number),
      attempt: 1,
      operationId: expect.stringMatching(/^op_/),
    });
});

it('writes more at trace, and no requests at info', async () => {
  const [debug, trace, info] = [await apply('debug'), await apply('trace'), await apply('info')];
  expect(trace.log.length).toBeGreaterThan(debug.log.length);
  expect(trace.log.find(({ msg }) => msg === 'request')).toHaveProperty('headers.content-type');
  expect(info.log).toEqual([]);
});

it('writes no secret at any level', async () => {
  for (const level of ['trace', 'debug', 'info']) {
    const { stdout, stderr, token } = await apply(level);
    expect(token).toMatch(/^\S{10,}$/);
    expect(`${stdout}${stderr}`).not.toContain(token);
    expect(`${stdout}${stderr}`).not.toContain(KEY);
  }
});

it('is not overwritten by live progress', async () => {
  const { stderr } = await apply('debug');
  expect(stderr).not.toContain('\u001b[J');
});
