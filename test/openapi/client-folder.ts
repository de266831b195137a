import { cp, mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, join, resolve } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { OPERATIONS } from '../../src/kinds/operations.ts';
import { isSuccess } from '../../src/model/http.ts';
import { createServer, listen, parseApiKey, type Server } from '../../src/server/index.ts';
import { runTool } from '../pipelines/tools.ts';

/** What the tests of generated clients share: a folder to generate them in, and a server that knows what they called. */

export const FIXTURES = resolve('test/openapi/clients');

const FIVE_KINDS = ['WeightedBackend', 'TCPEdge', 'IPRestriction', 'AgentIngress', 'Credential'];

/** Creates, reads, updates, lists and deletes resources of five kinds. */
export const OF_FIVE_KINDS = OPERATIONS.filter(
  ({ kind, module }) => module === undefined && FIVE_KINDS.includes(kind.name),
);

/** The time limit of a test that compiles for minutes. */
export const LONG = { timeout: 1_200_000 };

/** A server that records which operations were called with a documented response. */
function createRecordingServer(called: Set<string>): Server {
  const server = createServer({ apiKeys: [parseApiKey('dev:admin')] });
  return server.behind((send) => async (request) => {
    const response = await send(request);
    const path = new URL(request.url).pathname;
    const operation = OPERATIONS.find((one) => one.method === request.method && toPattern(one.path).test(path));
    if (isSuccess(response) && operation !== undefined) called.add(operation.id);
    return response;
  });
}

function toPattern(path: string): RegExp {
  return new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`);
}

/** Runs a program with the URL and a key. Expects that it calls these operations. */
export async function runClient(
  program: string,
  args: readonly string[],
  cwd: string,
  operations: readonly { readonly id: string }[] = OPERATIONS,
): Promise<void> {
  const called = new Set<string>();
  const { url, close } = await listen(createRecordingServer(called), { port: 0 });
  onTestFinished(close);
  const { status, output } = await runTool(program, [...args, url, 'dev'], { cwd });
  expect(status, output).toBe(0);
  expect([...called].sort()).toEqual(operations.map(({ id }) => id).sort());
}

/** Creates a folder with the document and the sources to compile. */
export async function createClientFolder(...files: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'edgewise-clients-'));
  await cp('schemas/openapi.json', join(folder, 'openapi.json'));
  for (const file of files) await cp(join(FIXTURES, file), join(folder, basename(file)));
  return folder;
}

export async function runSuccessfully(
  program: string,
  args: readonly string[],
  cwd: string,
  env = {},
): Promise<string> {
  const { status, output } = await runTool(program, args, { cwd, env });
  expect(status, output).toBe(0);
  return output;
}

/** Resolves the links of a program on the PATH. */
export async function findRealPath(name: string): Promise<string> {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const found = await Promise.any(folders.map((folder) => realpath(join(folder, name))));
  return found;
}
