import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, launch, type Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { CHROMIUM } from '../browsers/browser.ts';
import { findProgram } from '../ssh/openssh.ts';
import { selectEvenly } from '../tries.ts';

/** The built page of `npm run try`, opened from a file in the browsers of Debian. */

const BROWSERS = [
  { name: 'chrome', path: CHROMIUM, args: ['--no-sandbox'] },
  { name: 'firefox', path: findProgram('firefox-esr') ?? findProgram('firefox'), args: [] },
] as const;
const isRequired = process.env['EDGEWISE_REQUIRE_SYSTEM'] === '1';

/** Builds the page into a temporary folder, for the tests of a file. */
export function buildPage(): string {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-try-'));
  beforeAll(() => {
    execFileSync(process.execPath, ['.ci/try.ts', '--no-open', folder], { stdio: 'pipe' });
  }, 60_000);
  afterAll(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Runs tests with the page in a folder, in each browser. */
export function describeInBrowsers(folder: string, addTests: (shown: ShownPage) => void): void {
  for (const { name, path, args } of BROWSERS) {
    const isSkipped = path === undefined && !isRequired;
    if (isSkipped) process.stderr.write(`The page to try edgewise is not tested in ${name}, which is not installed.\n`);
    describe.skipIf(isSkipped)(`in ${name}`, { timeout: 180_000 }, () => {
      const start = (dark: object = {}) =>
        launch({ browser: name, executablePath: path ?? name, args: [...args], ...dark });
      const shown = new ShownPage(name, pathToFileURL(join(folder, 'index.html')).href, start);
      afterAll(() => shown.end());
      addTests(shown);
    });
  }
}

/** Firefox uses dark or light for the whole browser. */
const DARK_FIREFOX = { 'ui.systemUsesDarkTheme': 1, 'layout.css.prefers-color-scheme.content-override': 0 };

/** The page in a browser: the actions of its user, and its texts. */
export class ShownPage {
  readonly name: 'chrome' | 'firefox';
  readonly url: string;
  /** Messages on the console, and errors. */
  consoleMessages: string[] = [];
  readonly #start: (options?: object) => Promise<Browser>;
  #light: Promise<Browser> | undefined;
  #dark: Promise<Browser> | undefined;
  #page: Page | undefined;

  constructor(name: ShownPage['name'], url: string, start: (options?: object) => Promise<Browser>) {
    this.name = name;
    this.url = url;
    this.#start = start;
  }

  get page(): Page {
    if (this.#page === undefined) throw new Error('No page is open.');
    return this.#page;
  }

  end = async (): Promise<void> => {
    for (const browser of [this.#light, this.#dark]) await (await browser)?.close();
  };

  /** Opens an empty page. */
  openBlankPage = async (look: 'light' | 'dark' = 'light'): Promise<Page> => {
    await this.#page?.close();
    const isOther = this.name === 'firefox' && look === 'dark';
    if (isOther) this.#dark ??= this.#start({ extraPrefsFirefox: DARK_FIREFOX });
    else this.#light ??= this.#start();
    this.#page = await (await (isOther ? this.#dark : this.#light))?.newPage();
    return this.page;
  };

  open = async (hash = '', look: 'light' | 'dark' = 'light', width = 1300): Promise<void> => {
    const page = await this.openBlankPage(look);
    this.consoleMessages = [];
    page.on('console', (message) => this.consoleMessages.push(message.text()));
    page.on('pageerror', (error) => this.consoleMessages.push(String(error)));
    await page.setViewport({ width, height: 1000 });
    if (this.name === 'chrome') await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: look }]);
    await page.goto(`${this.url}${hash}`);
    await this.settle();
  };

  /** Opens the page with an example without live resources: a plan with three creates. */
  openEmptyAccount = async (): Promise<void> => {
    await this.open();
    await this.choose('create');
  };

  /** Waits until the worker has no request, and returns the text of the page. */
  settle = async (): Promise<string> => {
    const isIdle = () =>
      document.body.dataset['busy'] === '' && document.getElementById('status')?.textContent !== 'Starting…';
    await new Promise((done) => setTimeout(done, 100));
    await this.page.waitForFunction(isIdle, { timeout: 40_000 });
    await new Promise((done) => setTimeout(done, 100));
    await this.page.waitForFunction(isIdle, { timeout: 40_000 });
    return this.read('#status');
  };

  /** Results are the same in both browsers: with few tries, the second one shows a part of them. */
  selectForBrowser = <const T>(cases: readonly T[]) => (this.name === 'firefox' ? selectEvenly(cases) : cases);

  eachThinned = <const T extends readonly unknown[]>(cases: readonly T[]) => it.each(this.selectForBrowser(cases));

  read = async (selector: string): Promise<string> => {
    return this.page.$eval(selector, ({ textContent }) => textContent ?? '');
  };

  choose = async (example: string): Promise<string> => {
    return this.press(`#examples [data-example="${example}"]`);
  };

  press = async (selector: string): Promise<string> => {
    await this.page.$eval(selector, (element) => (element as HTMLElement).click());
    return this.settle();
  };

  /** Replaces the text of the open file by pasting, as a person does. */
  write = async (text: string): Promise<string> => {
    // In a narrow window, the editor is in a pane of its own.
    await this.press('#show-manifests');
    await this.page.click('.cm-content');
    await this.page.keyboard.down('Control');
    await this.page.keyboard.press('a');
    await this.page.keyboard.up('Control');
    // In the realm of the page, because Firefox hides the properties of objects from another realm.
    await this.page.evaluate((pasted) => {
      const event = new Event('paste', { bubbles: true, cancelable: true });
      Object.defineProperty(event, 'clipboardData', { value: { getData: () => pasted, files: [] } });
      document.querySelector('.cm-content')?.dispatchEvent(event);
    }, text);
    // The editor draws only the text near its cursor.
    const ends = [text.slice(0, 10), text.trim().split('\n').at(-1)?.slice(0, 10) ?? '', text.trim().slice(-10)];
    await this.page.waitForFunction(
      (wanted) => wanted.some((end) => document.querySelector('.cm-content')?.textContent?.includes(end)),
      { timeout: 90_000, polling: 100 },
      ends,
    );
    return this.settle();
  };

  /** Returns the report in another format. */
  readAs = async (format: string): Promise<string> => {
    await this.page.select('#format', format);
    // The other formats come after the review page.
    await this.page.waitForFunction(() => document.getElementById('plain')?.textContent !== '');
    return this.read('#plain');
  };

  openFile = async (file: string): Promise<void> => {
    const at = await this.page.$$eval(
      '#files [role=tab]',
      (tabs, wanted) => tabs.findIndex((tab) => (tab as HTMLElement).title === wanted),
      file,
    );
    await this.page.$eval(`#file-${at}`, (tab) => (tab as HTMLElement).click());
  };

  readReview = async (): Promise<string> => {
    return this.page.$eval('#review', (frame) => (frame as HTMLIFrameElement).contentDocument?.body.textContent ?? '');
  };
}
