import { chromium } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createServer, listen } from '../../src/server/index.ts';
import { createHeaders } from '../by-hand.ts';
import { CHROMIUM } from './browser.ts';

const isSkipped = CHROMIUM === undefined && process.env['EDGEWISE_REQUIRE_SYSTEM'] !== '1';

describe.skipIf(isSkipped)(`a page whose name resolves to this machine${isSkipped ? ' (needs Chromium)' : ''}`, () => {
  it('gets nothing from the bundled server, although it knows the key', async () => {
    const server = createServer();
    const { url, close } = await listen(server, { port: 0 });
    onTestFinished(() => close());
    const args = ['--no-sandbox', '--host-resolver-rules=MAP evil.example 127.0.0.1'];
    const browser = await chromium.launch({ executablePath: CHROMIUM ?? 'chromium', args });
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    // The script does not come from this server, but its origin is the same.
    await page.goto(`http://evil.example:${new URL(url).port}/page`);
    const headers = createHeaders();
    const ask = (from: string, init: object): Promise<unknown> =>
      page.evaluate(
        `fetch(${JSON.stringify(from)}, ${JSON.stringify(init)}).then((one) => one.status, () => 'refused')`,
      );
    expect(await ask('/backends/weighted', { headers })).toBe(421);
    expect(await ask('/edges/tcp', { method: 'POST', headers, body: '{}' })).toBe(421);
    for (const other of [url, url.replace('127.0.0.1', 'localhost')]) {
      expect(await ask(`${other}/backends/weighted`, { headers })).toBe('refused');
      expect(await ask(`${other}/edges/tcp`, { method: 'POST', headers, body: '{}' })).toBe('refused');
    }
    expect(Object.values(server.snapshot().resources).flat()).toEqual([]);
  });
});
