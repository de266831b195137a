import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { STACK, toEdge } from '../cli/workspace.ts';
import { DOCUMENTS } from '../docs/documents.ts';
import { PROGRAM } from '../end-to-end/processes.ts';
import { describeWith, runTool } from './tools.ts';

const [, RECIPE = ''] =
  /```sh\n(code=0\nedgewise drift[\s\S]*?)```/.exec(DOCUMENTS.get('docs/how-to/drift.md') ?? '') ?? [];

/** A webhook that keeps what it is sent, and answers with a status. */
async function startWebhook(status: number) {
  const posts: string[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += String(part);
    posts.push(text);
    response.writeHead(status).end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => new Promise<void>((done) => server.close(() => done())));
  const { port } = server.address() as AddressInfo; // a server that listens on a port has an address of this type
  return { posts, url: `http://127.0.0.1:${port}/` };
}

async function createFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'edgewise-chat-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'manifests.yaml'), `${STACK}${toEdge('pg', 20_001)}`);
  await writeFile(join(folder, 'edgewise'), `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`);
  await chmod(join(folder, 'edgewise'), 0o755);
  const PATH = [folder, process.env['PATH']].join(delimiter);
  const env = { PATH, HOME: folder, EDGEWISE_API_KEY: 'dev', EDGEWISE_BASE_URL: 'embedded:account.json' };
  const own = RECIPE.replaceAll(' manifests ', ' manifests.yaml ');
  return {
    folder,
    run: (line: string, more = {}) => runTool('sh', ['-c', line], { cwd: folder, env: { ...env, ...more } }),
    own,
  };
}

describeWith(['sh', 'jq', 'curl'], 'drift in a chat', () => {
  it('has four lines, and posts the summary only if something differs, or no result was reached', async () => {
    expect(RECIPE.trim().split('\n')).toHaveLength(4);
    const { posts, url } = await startWebhook(204);
    const { folder, run, own } = await createFolder();
    expect((await run('edgewise apply manifests.yaml --yes')).status).toBe(0);
    const equal = await run(own, { WEBHOOK: url });
    expect(equal.status, equal.output).toBe(0);
    expect(posts).toEqual([]);
    await writeFile(join(folder, 'manifests.yaml'), `${STACK}${toEdge('pg', 20_002)}`);
    const differs = await run(own, { WEBHOOK: url });
    expect(differs.status, differs.output).toBe(2);
    const { summary } = JSON.parse(await readFile(join(folder, 'drift.json'), 'utf8'));
    expect(summary).toMatch(/^Drift of stack test on the embedded server, kept in account\.json: .*1 pending/);
    expect(posts.map((text) => JSON.parse(text))).toEqual([{ text: summary }]);
    const failed = await run(own, { WEBHOOK: url, EDGEWISE_BASE_URL: 'http://127.0.0.1:1', EDGEWISE_API_KEY: '' });
    expect(failed.status, failed.output).toBe(4);
    expect(JSON.parse(posts[1] ?? '')).toEqual({ text: 'Stack test: ✗ edgewise drift did not complete.' });
  });
});
