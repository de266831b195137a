import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { findProgram } from '../ssh/openssh.ts';

/** The installed Chromium, and pages that record every unexpected event. */

/** The installed browser. `undefined` if there is none. */
export const CHROMIUM = findProgram('chromium') ?? findProgram('chromium-browser') ?? findProgram('google-chrome');

/** The folder for screenshots and pages: EDGEWISE_ARTIFACTS, else a temporary one. */
export const ARTIFACTS = process.env['EDGEWISE_ARTIFACTS'] ?? join(tmpdir(), `edgewise-artifacts-${process.pid}`);

/** Starts the installed browser without a window. */
export async function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM ?? 'chromium' });
}

/** An open page, and its events: requests, console messages, errors, dialogs, windows. */
export interface OpenPage {
  readonly page: Page;
  readonly deeds: readonly string[];
}

/** A document, and how the browser shows it. */
export interface ShownDocument {
  readonly name: string;
  readonly document: string;
  readonly colorScheme?: 'light' | 'dark';
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly javaScriptEnabled?: boolean;
}

/**
 * The pages of a browser, one with scripts and one without, because opening a page takes longer than showing a document in it. Documents store
 * nothing in the browser, so they do not affect each other.
 */
export class Pages {
  readonly #browser: Browser;
  readonly #pages = new Map<boolean, Promise<Page>>();

  constructor(browser: Browser) {
    this.#browser = browser;
  }

  /** Opens a document in place of the last one, from a file with that name in the folder of artifacts. */
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

/** Records every event of a page except the request for its document. */
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

/** Saves a screenshot of the whole page. */
export async function saveScreenshot(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(ARTIFACTS, `${name}.png`), fullPage: true });
}
