import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { startBrowser } from '../test/end-to-end/browser.ts';
import { encodePalettePng, type Pixels } from './palette-png.ts';
import { makePictures, PICTURES, toPageDigest } from './picture-files.ts';

/** Writes the pictures of the README. Needs Chromium. */

const VIEWPORT = { width: 1000, height: 900 };

const pictures = await makePictures();
mkdirSync(PICTURES, { recursive: true });
writeFileSync(join(PICTURES, 'plan.svg'), pictures.plan);
const browser = await startBrowser();
try {
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({ viewport: VIEWPORT, deviceScaleFactor: 1, colorScheme });
    await page.setContent(pictures.page);
    const pixels = await readPixels(browser, await page.screenshot());
    writeFileSync(join(PICTURES, `review-${colorScheme}.png`), encodePalettePng(pixels));
  }
} finally {
  await browser.close();
}
writeFileSync(join(PICTURES, 'review.sha256'), toPageDigest(pictures));

/** The points of a screenshot, which the browser reads itself. */
async function readPixels(browser: Browser, screenshot: Buffer): Promise<Pixels> {
  const page = await browser.newPage();
  const text: string = await page.evaluate(`(async () => {
    const picture = new Image();
    picture.src = 'data:image/png;base64,${screenshot.toString('base64')}';
    await picture.decode();
    const canvas = new OffscreenCanvas(picture.width, picture.height).getContext('2d');
    canvas.drawImage(picture, 0, 0);
    const { data } = canvas.getImageData(0, 0, picture.width, picture.height);
    return btoa(data.reduce((text, byte) => text + String.fromCharCode(byte), ''));
  })()`);
  return { ...VIEWPORT, data: Buffer.from(text, 'base64') };
}
