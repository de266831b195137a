import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Transport } from '../../src/model/transport.ts';
import { createServer, listen, parseApiKey } from '../../src/server/index.ts';
import { runCommand } from '../cli/fake-context.ts';
import { describeLong } from '../effort.ts';
import { LONG } from '../laws/properties.ts';
import { sendCrowd } from './clients.ts';
import { keepBudget } from './keep-budget.ts';
import { COMMANDS, countLeast, writeRepository } from './shape.ts';

describeLong('an apply of many resources', () => {
  it.each(['120/60s', '30/1s', '1/1s'])(
    'is never told to slow down at %s, and takes hardly longer than the limit demands',
    LONG,
    async (rateLimit) => {
      const { requests, refused, ms, leastMs } = await keepBudget(300, rateLimit);
      expect(requests).toBeGreaterThan(300);
      expect(refused).toBe(0);
      expect(ms).toBeGreaterThanOrEqual(leastMs);
      // A request counts until a window after its end, so each window costs the 20 ms of an answer besides.
      expect(ms).toBeLessThan(leastMs * 1.05 + 1_000);
    },
  );
});

describe('a repository of several stacks in several accounts', () => {
  it('takes the least possible requests', async () => {
    const shape = { stacks: 4, accounts: 2, resources: 84 };
    const urls = ['https://first.test', 'https://second.test'];
    const folder = mkdtempSync(join(tmpdir(), 'edgewise-load-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeRepository(folder, shape, urls);
    const servers = new Map(urls.map((url) => [url, createServer({ apiKeys: [parseApiKey('dev:admin')] })]));
    let requests = 0;
    const transport: Transport = async (request) => {
      requests += 1;
      const response = await servers.get(new URL(request.url).origin)?.handle(request);
      return response ?? new Response(null, { status: 404 });
    };
    const env = { EDGEWISE_BASE_URL: '', EDGEWISE_RATE_LIMIT: 'none' };
    for (const command of COMMANDS) {
      requests = 0;
      const words = command === 'apply' ? ['apply', '--yes'] : ['plan'];
      const { exitCode, stderr } = await runCommand([...words, '-R', '.'], { cwd: folder, env, transport });
      expect(exitCode, stderr).toBe(0);
      expect(requests, command).toBe(countLeast(shape, command));
    }
    expect([...servers.values()].map((server) => server.snapshot().resources?.['TCPEdge']?.length)).toEqual([40, 40]);
  });
});

describeLong('fifty clients at once', () => {
  it('each find what they wrote, once, and leave nothing behind', LONG, async () => {
    const server = createServer({ apiKeys: [parseApiKey('load:admin')] });
    const listener = await listen(server, { port: 0 });
    try {
      const rounds = 10;
      const goesOn = (round: number): boolean => round < rounds;
      const crowd = await sendCrowd({ url: listener.url, apiKey: 'load', clients: 50, goesOn });
      expect([...crowd.errors]).toEqual([]);
      expect(crowd.requests).toBe(50 * rounds * 6);
      expect(server.snapshot().resources['TCPEdge'] ?? []).toEqual([]);
    } finally {
      await listener.close();
    }
  });
});
