import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startBrowser } from '../test/end-to-end/browser.ts';
import { makePictures, PICTURES, toPageDigest } from './picture-files.ts';

/** Writes the pictures of the README. Needs Chromium. */

/** Of 100: text stays sharp. */
const QUALITY = 80;

const VIEWPORT = { width: 1000, height: 900 };

const pictures = await makePictures();
mkdirSync(PICTURES, { recursive: true });
writeFileSync(join(PICTURES, 'plan.svg'), pictures.plan);
const browser = await startBrowser();
try {
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({ viewport: VIEWPORT, deviceScaleFactor: 1, colorScheme });
    await page.setContent(pictures.page);
    // As PNG, which Playwright writes, they would be three times as large.
    const devTools = await page.context().newCDPSession(page);
    const { data } = await devTools.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
    writeFileSync(join(PICTURES, `review-${colorScheme}.webp`), Buffer.from(data, 'base64'));
  }
} finally {
  await browser.close();
}
writeFileSync(join(PICTURES, 'review.sha256'), toPageDigest(pictures));
