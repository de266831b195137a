import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createGitLab } from '../../src/forge/gitlab.ts';

/** Starts a server that responds to every request with this text. */
async function startServer(text: string): Promise<string> {
  const server = createServer((_, response) => response.end(text));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // a server that listens on a port has this type of address
}

it.each([
  ['a list instead of an object', '[]', 'without an object'],
  ['an object instead of a list', '{"id":1}', 'without a list'],
  ['a page of a proxy', '<!doctype html>', 'not valid JSON'],
])('rejects %s as a response of GitLab', async (_, text, message) => {
  const host = await startServer(text);
  const { listComments } = createGitLab({ host, project: '3', token: 'a-token', number: 7 });
  await expect(listComments()).rejects.toThrow(message);
});
