import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { findProgram } from './openssh.ts';

/** Chromium as it is installed, and pages in it that tell of everything they should not do. */

/** The installed browser; `undefined`: there is none. */
export const CHROMIUM = findProgram('chromium') ?? findProgram('chromium-browser') ?? findProgram('google-chrome');

/** Where screenshots and pages are kept to be looked at: the folder that EDGEWISE_ARTIFACTS names, else a temporary one. */
export const ARTIFACTS = process.env['EDGEWISE_ARTIFACTS'] ?? join(tmpdir(), `edgewise-artifacts-${process.pid}`);

/** Starts the installed browser without a window. */
export async function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM ?? 'chromium' });
}

/** A page that is open, and what it did besides showing itself: requests, messages on the console, errors, dialogs, windows. */
export interface OpenPage {
  readonly page: Page;
  readonly deeds: readonly string[];
}

/** Opens a document from a file of that name in the folder of artifacts. */
export async function openDocument(
  browser: Browser,
  { name, document, ...options }: { readonly name: string; readonly document: string } & BrowserContextOptions,
): Promise<OpenPage> {
  mkdirSync(ARTIFACTS, { recursive: true });
  const file = join(ARTIFACTS, `${name}.html`);
  writeFileSync(file, document);
  const url = pathToFileURL(file).href;
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options });
  const page = await context.newPage();
  const deeds: string[] = [];
  page.on('request', (request) => {
    if (request.url() !== url) deeds.push(`request ${request.url()}`);
  });
  page.on('console', (message) => deeds.push(`console ${message.text()}`));
  page.on('pageerror', (error) => deeds.push(`error ${error.message}`));
  page.on('dialog', async (dialog) => {
    deeds.push(`dialog ${dialog.message()}`);
    await dialog.dismiss();
  });
  context.on('page', (other) => deeds.push(`window ${other.url()}`));
  await page.goto(url);
  return { page, deeds };
}

/** Keeps how a page looks, from top to bottom. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(ARTIFACTS, `${name}.png`), fullPage: true });
}
