import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { startBrowser } from '../test/browsers/browser.ts';
import { createPictures, PICTURES, toPageDigest } from './picture-files.ts';

/** Writes the pictures of the README and of the tutorial. Needs Chromium. */

/** Quality from 0 to 100. Text stays sharp at this value. */
const QUALITY = 40;

const VIEWPORT = { width: 1000, height: 900 };

const pictures = await createPictures();
mkdirSync(PICTURES, { recursive: true });
writeFileSync(join(PICTURES, 'plan.svg'), pictures.plan);
writeFileSync(join(PICTURES, 'mark.svg'), pictures.mark);
const folder = mkdtempSync(join(tmpdir(), 'edgewise-try-'));
execFileSync(process.execPath, ['.ci/try.ts', '--no-open', folder]);
const browser = await startBrowser();
try {
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const [name, content] of [
      ['review', pictures.page],
      ['tutorial', pictures.tutorial],
    ] as const) {
      const page = await browser.newPage({ viewport: VIEWPORT, deviceScaleFactor: 1, colorScheme });
      await page.setContent(content);
      await saveAsWebp(page, `${name}-${colorScheme}.webp`);
    }
  }
  const page = await browser.newPage({ viewport: { width: 1600, height: 860 }, deviceScaleFactor: 1 });
  await page.goto(pathToFileURL(join(folder, 'index.html')).href);
  await page.locator('#status', { hasText: '1 danger' }).waitFor();
  await saveAsWebp(page, 'try.webp');
} finally {
  rmSync(folder, { recursive: true });
  await browser.close();
}
writeFileSync(join(PICTURES, 'review.sha256'), toPageDigest(pictures));

/** PNG, which Playwright writes, would be three times as large. */
async function saveAsWebp(page: Page, name: string): Promise<void> {
  const devTools = await page.context().newCDPSession(page);
  const { data } = await devTools.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
  writeFileSync(join(PICTURES, name), Buffer.from(data, 'base64'));
}
