import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createServer, listen, parseApiKey } from '../../src/server/index.ts';
import { createWorkspace } from '../cli/workspace.ts';
import { type RawServer, startRawServer } from '../client/raw-server.ts';
import { toRepository } from '../repository/tree.ts';
import { runEdgewise } from './processes.ts';

const STACKS = 12;
const count = (text: string, part: string): number => text.split(part).length - 1;

/** Headers of a connection, which `fetch` sets itself. */
const HOP_HEADERS = ['host', 'connection', 'transfer-encoding', 'content-length'];

/** A service that stops after a number of requests, and a service with the same account that runs. */
async function startDyingService(requests: number): Promise<{ readonly dying: RawServer; readonly url: string }> {
  const account = await listen(createServer({ apiKeys: [parseApiKey('key:admin')] }), { port: 0 });
  let left = requests;
  const dying = await startRawServer(async (request, response) => {
    left -= 1;
    if (left < 0) {
      await dying.close();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const sent = Object.entries(request.headers).flatMap(([name, value]) =>
      typeof value === 'string' && !HOP_HEADERS.includes(name) ? [[name, value] as [string, string]] : [],
    );
    const { method = 'GET' } = request;
    const body = method === 'GET' || method === 'DELETE' ? null : Buffer.concat(chunks);
    const answer = await fetch(`${account.url}${request.url}`, { method, headers: sent, body });
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'application/json' });
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  onTestFinished(account.close);
  onTestFinished(dying.close);
  return { dying, url: account.url };
}

describe('a service that stops in the middle of apply -R', () => {
  it('is reported once, with what was written and what was not, and the next run completes it', async () => {
    const { folder } = await createWorkspace(toRepository(STACKS));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const live = join(folder, 'live');
    const env = { EDGEWISE_API_KEY: 'key', PATH: process.env['PATH'], NO_COLOR: '1' };
    const read = await startDyingService(Number.POSITIVE_INFINITY);
    const planned = await runEdgewise(['plan', '-R', live], { ...env, EDGEWISE_BASE_URL: read.dying.origin });
    const reads = Number(/Reading took (\d+) requests/.exec(planned.stdout)?.[1]);

    const { dying, url } = await startDyingService(reads + 4);
    const broken = await runEdgewise(['apply', '-R', live, '--yes'], { ...env, EDGEWISE_BASE_URL: dying.origin });
    const { exitCode, stdout } = broken;
    expect([exitCode, count(stdout, '1 write applied, 0 failed')]).toEqual([1, 4]);
    expect(count(stdout, 'It is unknown whether it took effect.')).toBe(1);
    expect(count(stdout, 'The next apply finds created resources by their mark')).toBe(1);
    // The report of the first stack that meets a closed port names the port. All others share one sentence with the remedy.
    expect(count(stdout, 'the connection was refused')).toBe(1);
    expect(count(stdout, 'could not be reached any more when s05 was applied.')).toBeLessThanOrEqual(2);
    expect(count(stdout, 'the same command applies the rest')).toBe(1);
    expect(count(stdout, 'the same error as s06')).toBe(STACKS - 7);
    expect(stdout).toMatch(/4 with changes, 8 failed or refused\.\n$/);
    const repaired = await runEdgewise(['apply', '-R', live, '--yes'], { ...env, EDGEWISE_BASE_URL: url });
    expect(repaired.exitCode, repaired.stdout).toBe(0);
    const after = await runEdgewise(['plan', '-R', live, '--detailed-exitcode'], { ...env, EDGEWISE_BASE_URL: url });
    expect([after.exitCode, count(after.stdout, 'to create')]).toEqual([0, 0]);
    const { stdout: owned } = await runEdgewise(['get', '-R', live, '--format', 'json'], {
      ...env,
      EDGEWISE_BASE_URL: url,
    });
    expect(count(owned, '"address"')).toBe(STACKS);
  }, 120_000);
});
