import { expect, it } from 'vitest';
import { createServer, listen, parseApiKey } from '../../src/server/index.ts';
import { describeLong } from '../effort.ts';
import { LONG } from '../laws/properties.ts';
import { sendCrowd } from './clients.ts';
import { keepBudget } from './keep-budget.ts';

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
