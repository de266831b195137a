import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { askAsMany, writeSeed } from '../bench/many-clients.ts';
import { API_KEY } from '../bench/server.ts';
import { startServerProcess } from '../end-to-end/processes.ts';
import { describeWith } from './tools.ts';

describeWith(['wrk'], 'fifty clients of the server, which are wrk', () => {
  it('are answered, and never with a failure', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'edgewise-clients-'));
    const seed = join(folder, 'seed.json');
    writeSeed(seed, 200);
    const server = await startServerProcess(['--api-key', `${API_KEY}:admin`, '--seed', seed]);
    try {
      const { answered } = await askAsMany(server.url, { work: 'mixed', seconds: 1 });
      expect(answered).toBeGreaterThan(0);
    } finally {
      expect(await server.stop()).toBe(0);
      rmSync(folder, { recursive: true });
    }
  });
});
