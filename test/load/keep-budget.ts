import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseRateLimit, toLeastMs } from '../../src/model/rate-limit.ts';
import { createServer, parseApiKey } from '../../src/server/index.ts';
import { writeManifests } from '../bench/manifests.ts';
import { BASE_URL, NOW, runCommand } from '../cli/fake-context.ts';
import { createVirtualClock } from './virtual-clock.ts';

/** An apply within a rate limit. */
export interface BudgetRun {
  readonly requests: number;
  /** Requests that the server answered with 429. */
  readonly refused: number;
  readonly ms: number;
  /** The least time in which so many requests can be sent. */
  readonly leastMs: number;
}

const LATENCY_MS = 20;

/**
 * Plans and applies that many TCP edges, with the weighted backends that they need, on a clock that does not wait: through a server that
 * keeps to the rate limit and answers after 20 ms. Throws when the apply fails.
 */
export async function keepBudget(edges: number, rateLimit: string): Promise<BudgetRun> {
  const limit = parseRateLimit(rateLimit);
  if (limit === undefined) throw new RangeError(`${rateLimit} is no rate limit`);
  const clock = createVirtualClock(NOW.getTime());
  const now = (): Date => new Date(clock.now());
  const statuses: number[] = [];
  const server = createServer({ now, rateLimit: limit, apiKeys: [parseApiKey('dev:admin')] });
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-load-'));
  try {
    mkdirSync(join(folder, 'manifests'));
    writeManifests(join(folder, 'manifests'), edges);
    const { exitCode, stderr } = await runCommand(['apply', 'manifests', '--yes', '--rate-limit', rateLimit], {
      cwd: folder,
      env: { EDGEWISE_BASE_URL: BASE_URL },
      now,
      sleep: clock.sleep,
      transport: async (request) => {
        await clock.sleep(LATENCY_MS / 2);
        const response = await server.handle(request);
        statuses.push(response.status);
        await clock.sleep(LATENCY_MS / 2);
        return response;
      },
    });
    if (exitCode !== 0) throw new Error(stderr);
  } finally {
    rmSync(folder, { recursive: true });
  }
  const refused = statuses.filter((status) => status === 429).length;
  const ms = clock.now() - NOW.getTime();
  return { requests: statuses.length, refused, ms, leastMs: toLeastMs(statuses.length, limit) };
}
