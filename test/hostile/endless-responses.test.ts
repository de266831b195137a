import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createWorkspace, STACK } from '../cli/workspace.ts';
import { startRawServer } from '../client/raw-server.ts';
import { runEdgewise } from '../end-to-end/processes.ts';

/** Responses that never end, because a byte always follows. */
const DRIPS: readonly (readonly [string, (response: ServerResponse) => void])[] = [
  ['a byte of the body at a time', (response) => createSlowService(response.writeHead(200, TYPE), '{"tcp_edges": [')],
  [
    'a byte of a body of known length',
    (response) => createSlowService(response.writeHead(200, { ...TYPE, 'content-length': 9000 }), '{'),
  ],
  ['a byte of an error at a time', (response) => createSlowService(response.writeHead(500, TYPE), '{"msg": "')],
  ['an informational response at a time', (response) => repeatUntilClosed(response, () => response.writeProcessing())],
  [
    'a byte of a header at a time',
    ({ socket }) => {
      socket?.write('HTTP/1.1 200 OK\r\nx: ');
      if (socket !== null) repeatUntilClosed(socket, () => socket.write('x'));
    },
  ],
  [
    'half of a response, then a reset',
    (response) => {
      response.writeHead(200, TYPE).write('{"tcp_edges": [');
      setTimeout(() => response.destroy(), 600);
    },
  ],
];

const TYPE = { 'content-type': 'application/json' };

function createSlowService(response: ServerResponse, start: string): void {
  response.write(start);
  repeatUntilClosed(response, () => response.write(' '));
}

function repeatUntilClosed(open: { once: (event: 'close', end: () => void) => unknown }, act: () => void): void {
  const timer = setInterval(act, 100);
  open.once('close', () => clearInterval(timer));
}

/** Plans against a service with these responses and a time limit of one second, and counts the requests. */
async function plan(answer: (response: ServerResponse) => void) {
  let requests = 0;
  const server = await startRawServer((_, response) => {
    requests += 1;
    answer(response);
  });
  onTestFinished(() => server.close());
  const { folder } = await createWorkspace({ 'edgewise.yaml': `${STACK}spec: { kinds: [TCPEdge] }\n` });
  const env = { EDGEWISE_BASE_URL: server.origin, EDGEWISE_API_KEY: 'a-key-for-this-test', EDGEWISE_TIMEOUT: '1s' };
  return { ...(await runEdgewise(['plan', join(folder, 'edgewise.yaml')], env)), requests: () => requests };
}

describe('a service that never ends its response', () => {
  it.each(DRIPS)('delays a plan for the time limit of one request, by %s', async (_, answer) => {
    const { exitCode, stderr, requests } = await plan(answer);
    expect(exitCode, stderr).toBe(1);
    // A retry has only the time that the first attempt left.
    expect(requests()).toBeLessThanOrEqual(2);
    expect(stderr).toMatch(/no complete response in time|the connection was lost/);
  });
});
