import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { findProgram } from '../ssh/openssh.ts';

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

/** A document, and how the browser is to show it. */
export interface ShownDocument {
  readonly name: string;
  readonly document: string;
  readonly colorScheme?: 'light' | 'dark';
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly javaScriptEnabled?: boolean;
}

/**
 * The pages of a browser, one with scripts and one without: to open one takes longer than to show a document in it. Documents keep nothing in a
 * browser, so none sees what another left.
 */
export class Pages {
  readonly #browser: Browser;
  readonly #pages = new Map<boolean, Promise<Page>>();

  constructor(browser: Browser) {
    this.#browser = browser;
  }

  /** Opens a document from a file of that name in the folder of artifacts, instead of the one before. */
  async open(shown: ShownDocument): Promise<OpenPage> {
    const page = await this.#takePage(shown.javaScriptEnabled ?? true);
    await page.setViewportSize(shown.viewport ?? { width: 1200, height: 900 });
    await page.emulateMedia({ colorScheme: shown.colorScheme ?? 'light', media: null });
    mkdirSync(ARTIFACTS, { recursive: true });
    const file = join(ARTIFACTS, `${shown.name}.html`);
    writeFileSync(file, shown.document);
    const url = pathToFileURL(file).href;
    const deeds = recordEvents(page, url);
    await page.goto(url);
    return { page, deeds };
  }

  /** Returns the page, empty and without listeners. */
  async #takePage(javaScriptEnabled: boolean): Promise<Page> {
    const opened =
      this.#pages.get(javaScriptEnabled) ??
      this.#browser.newContext({ javaScriptEnabled }).then((context) => context.newPage());
    this.#pages.set(javaScriptEnabled, opened);
    const page = await opened;
    await page.unrouteAll();
    await page.goto('about:blank');
    page.removeAllListeners();
    page.context().removeAllListeners('page');
    return page;
  }
}

/** Notes all that a page does, but that it asks for its document. */
function recordEvents(page: Page, url: string): readonly string[] {
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
  page.context().on('page', (other) => deeds.push(`window ${other.url()}`));
  return deeds;
}

/** Keeps how a page looks, from top to bottom. */
export async function saveScreenshot(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(ARTIFACTS, `${name}.png`), fullPage: true });
}
