import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A request that a listener received. */
export interface ReceivedRequest {
  readonly line: string;
  readonly authorization: string;
  /** The whole request: line, headers and body. */
  readonly all: string;
}

/** A web server of an attacker, for one test. It records every request. */
export interface Listener {
  readonly url: string;
  readonly heard: readonly ReceivedRequest[];
}

/** Starts one on a free port. It responds with 404 unless `answer` is given. */
export async function startListener(answer: RequestListener = respondNotFound): Promise<Listener> {
  const heard: ReceivedRequest[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(Buffer.from(part));
    const line = `${request.method} ${request.url}`;
    const all = [line, ...request.rawHeaders, Buffer.concat(parts).toString('utf8')].join('\n');
    heard.push({ line, authorization: request.headers.authorization ?? '', all });
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('It listens on no port');
  return { url: `http://127.0.0.1:${address.port}`, heard };
}

const respondNotFound: RequestListener = (_, response) => {
  response.writeHead(404, { 'content-type': 'application/json' });
  response.end('{"msg":"nothing is here"}');
};

/** Creates a checkout of an attacker, which is deleted after the test. */
export async function createCheckout(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'edgewise-hostile-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  return folder;
}
