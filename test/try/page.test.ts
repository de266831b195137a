import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { builtinModules } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { deflateRawSync } from 'node:zlib';
import axe from 'axe-core';
import fc from 'fast-check';
import { type Browser, launch, type Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readExample } from '../../.ci/run-example.ts';
import { findCodeSection } from '../../src/explain/code-section.ts';
import { DIAGNOSTIC_CODES, type Diagnostic } from '../../src/index.ts';
import { ARTIFACTS, CHROMIUM } from '../browsers/browser.ts';
import { selectEvenly } from '../laws/properties.ts';
import { text as hostileText, TRICKS } from '../report/hostile-values.ts';
import { findProgram } from '../ssh/openssh.ts';

/** The page of `npm run try`, built, from a file, in the browsers that Debian has. */

const BROWSERS = [
  { browser: 'chrome', path: CHROMIUM, args: ['--no-sandbox'] },
  { browser: 'firefox', path: findProgram('firefox-esr') ?? findProgram('firefox'), args: [] },
] as const;
const isRequired = process.env['EDGEWISE_REQUIRE_SYSTEM'] === '1';
const folder = mkdtempSync(join(tmpdir(), 'edgewise-try-'));
const URL_OF_IT = pathToFileURL(join(folder, 'index.html')).href;

beforeAll(() => {
  execFileSync(process.execPath, ['.ci/try.ts', '--no-open', folder], { stdio: 'pipe' });
}, 60_000);

afterAll(() => rmSync(folder, { recursive: true }));

it('is short enough to read', () => {
  const files = readdirSync('examples/try').map((name) => readFileSync(join('examples/try', name), 'utf8'));
  expect(files.join('').split('\n').length).toBeLessThan(1200);
});

describe('the built page', () => {
  it('is one document, one script and one style, and imports nothing of Node’s', () => {
    expect(readdirSync(folder).sort()).toEqual(['index.html', 'try.css', 'try.js']);
    const script = readFileSync(join(folder, 'try.js'), 'utf8');
    const imported = [...script.matchAll(/\b(?:require|import|from)\s*\(?\s*["'`]([\w:/]+)["'`]/g)].map(
      ([, name]) => name,
    );
    expect(imported.filter((name = '') => name.startsWith('node:') || builtinModules.includes(name))).toEqual([]);
  });
});

/** Codes about what a page cannot have: files that are no text, none at all, variables, commands. */
const NOT_OF_A_PAGE = new Set(['secret-in-manifest', 'render-failed']);

const STACK = 'apiVersion: edgewise/v1\nkind: Stack\nmetadata: { name: shop }\n';

/** A diagnostic, as the command line prints it, without its address and the lines of its file. */
const SAYING = /((?:error|warning)\[.+?\]: .+)\n(?: *--> (.+)\n)?[\s\S]*? help: (.+)/;

function toPolicy(require: string): string {
  return `apiVersion: edgewise/v1\nkind: Policy\nmetadata: { name: p }\nspec: { require: '${require}', message: m }\n`;
}

/** What a link holds, as the page packs it. */
function toLink(situation: object): string {
  return deflateRawSync(JSON.stringify({ hours: 0, fault: '', ...situation })).toString('base64url');
}

for (const { browser: name, path, args } of BROWSERS) {
  const isSkipped = path === undefined && !isRequired;
  if (isSkipped) process.stderr.write(`The page to try edgewise is not tested in ${name}, which is not installed.\n`);

  describe.skipIf(isSkipped)(`in ${name}`, { timeout: 180_000 }, () => {
    let browser: Browser;
    let dark: Browser | undefined;
    let page: Page;
    let deeds: string[];

    beforeAll(async () => {
      browser = await launch({ browser: name, executablePath: path ?? name, args: [...args] });
    }, 60_000);

    afterAll(async () => Promise.all([browser?.close(), dark?.close()]));

    /** Firefox is dark or light as a whole. */
    async function startDark(): Promise<Browser> {
      const extraPrefsFirefox = { 'ui.systemUsesDarkTheme': 1, 'layout.css.prefers-color-scheme.content-override': 0 };
      dark ??= await launch({ browser: name, executablePath: path ?? name, args: [...args], extraPrefsFirefox });
      return dark;
    }

    async function open(hash = '', look: 'light' | 'dark' = 'light', width = 1300): Promise<void> {
      await page?.close();
      page = await (name === 'firefox' && look === 'dark' ? await startDark() : browser).newPage();
      deeds = [];
      page.on('console', (message) => deeds.push(message.text()));
      page.on('pageerror', (error) => deeds.push(String(error)));
      await page.setViewport({ width, height: 1000 });
      if (name === 'chrome') await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: look }]);
      await page.goto(`${URL_OF_IT}${hash}`);
      await settle();
    }

    /** Waits until nothing is asked of the worker, and gives what the page says then. */
    async function settle(): Promise<string> {
      const isIdle = () =>
        document.body.dataset['busy'] === '' && document.getElementById('status')?.textContent !== 'Starting…';
      await new Promise((done) => setTimeout(done, 100));
      await page.waitForFunction(isIdle, { timeout: 40_000 });
      await new Promise((done) => setTimeout(done, 100));
      await page.waitForFunction(isIdle, { timeout: 40_000 });
      return read('#status');
    }

    /** What edgewise computes is the same in both browsers: where there are few tries, the second shows a part of it. */
    const thinInFirefox = <const T>(cases: readonly T[]) => (name === 'firefox' ? selectEvenly(cases) : cases);
    const eachThinned = <const T extends readonly unknown[]>(cases: readonly T[]) => it.each(thinInFirefox(cases));

    async function read(selector: string): Promise<string> {
      return page.$eval(selector, ({ textContent }) => textContent ?? '');
    }

    async function choose(example: string): Promise<string> {
      await page.select('#example', example);
      return settle();
    }

    async function press(selector: string): Promise<string> {
      await page.$eval(selector, (element) => (element as HTMLElement).click());
      return settle();
    }

    /** Pastes over the text of the open file, as a person does. */
    async function write(text: string): Promise<string> {
      await page.click('.cm-content');
      await page.keyboard.down('Control');
      await page.keyboard.press('a');
      await page.keyboard.up('Control');
      // In the realm of the page: Firefox shows it no properties of another one's.
      await page.evaluate((pasted) => {
        const event = new Event('paste', { bubbles: true, cancelable: true });
        Object.defineProperty(event, 'clipboardData', { value: { getData: () => pasted, files: [] } });
        document.querySelector('.cm-content')?.dispatchEvent(event);
      }, text);
      // The editor draws what is near its cursor.
      const ends = [text.slice(0, 10), text.trim().split('\n').at(-1)?.slice(0, 10) ?? '', text.trim().slice(-10)];
      await page.waitForFunction(
        (wanted) => wanted.some((end) => document.querySelector('.cm-content')?.textContent?.includes(end)),
        { timeout: 90_000, polling: 100 },
        ends,
      );
      return settle();
    }

    async function openFile(file: string): Promise<void> {
      const at = await page.$$eval(
        '#files [role=tab]',
        (tabs, wanted) => tabs.findIndex((tab) => tab.textContent?.startsWith(wanted)),
        file,
      );
      await page.$eval(`#file-${at}`, (tab) => (tab as HTMLElement).click());
    }

    it('shows the first plan, and prints and requests nothing', async () => {
      await open();
      expect(await read('#status')).toContain('3 to create');
      const review = await page.$eval(
        '#review',
        (frame) => (frame as HTMLIFrameElement).contentDocument?.body.textContent,
      );
      expect(review).toContain('TCPEdge/postgres');
      expect(deeds).toEqual([]);
    });

    eachThinned([
      ['quickstart', /3 to create/, 'postgres.yaml'],
      ['everything', /to create/, 'postgres.yaml'],
      ['weights', /1 to update/, 'postgres-pool.yaml'],
      ['replace', /1 to replace/, 'dashboard.yaml'],
      ['drift', /1 to update/, 'postgres.yaml'],
      ['hand-over', /3 to take over/, 'postgres.yaml'],
      ['policy', /1 safety rule blocks/, 'edges-are-restricted.yaml'],
    ])('has the example %s, and opens the file that it is about', async (example, said, file) => {
      await open();
      expect(await choose(example)).toMatch(said);
      expect(await read('#files [aria-selected=true]')).toBe(file);
      expect(await read('#hint')).not.toContain('result of the apply');
    });

    it('plans what is typed, and underlines a mistake with its remedy', async () => {
      await open();
      await choose('weights');
      await openFile('postgres-pool.yaml');
      const text =
        'apiVersion: edgewise/v1\nkind: WeightedBackend\nmetadata: { name: postgres-pool }\nspec: { backends: { External/blue: 1 } }\n';
      expect(await write(text)).toMatch(/1 to update/);
      expect(await write(text.replace('spec:', 'specs:'))).toContain('Nothing can be planned');
      expect(
        await page.$$eval('.cm-lintRange-error', (marks) => marks.map(({ textContent }) => textContent)),
      ).toContain('specs');
      await page.hover('.cm-lintRange-error');
      await page.waitForSelector('.cm-tooltip .cm-diagnostic');
      expect(await read('.cm-tooltip .cm-diagnostic')).toMatch(/specs.*\n?.*spec/);
    });

    it('reports each mistake as the command line does, at the same place', async () => {
      await open();
      // What the worker answers is what the editor underlines.
      await page.evaluateOnNewDocument(() => {
        const { set } = Object.getOwnPropertyDescriptor(Worker.prototype, 'onmessage') ?? {};
        Object.defineProperty(Worker.prototype, 'onmessage', {
          set(this: Worker, hear: (event: MessageEvent) => void) {
            const keep = (event: MessageEvent) => {
              Object.assign(window, { found: event.data.event?.outcome?.diagnostics });
              hear(event);
            };
            set?.call(this, keep);
          },
        });
      });
      await page.reload();
      const [told, printed]: [string[], string[]] = [[], []];
      for (const code of thinInFirefox(Object.keys(DIAGNOSTIC_CODES))) {
        const { example = '' } = findCodeSection(code) ?? {};
        const { command, files: contents, live, faults } = readExample(example);
        if (!/^(?:plan|validate)$/.test(command) || live !== undefined || faults !== undefined) continue;
        if (NOT_OF_A_PAGE.has(code)) continue;
        const files = Array.from(contents, ([file, content]) => ({ file, text: content.toString() }));
        const isWithout = code !== 'no-stack' && !files.some(({ text }) => text.includes('kind: Stack'));
        const all = [...files, ...(isWithout ? [{ file: 'stack.yaml', text: STACK }] : [])];
        await page.evaluate((hash) => location.assign(hash), `#${toLink({ files: all })}`);
        await settle();
        const diagnostics = await page.evaluate(() => (window as unknown as { found: Diagnostic[] }).found);
        const { severity, message, remedy, place } = diagnostics.find((one) => one.code === code) ?? {};
        const where = place && `${place.file}:${place.line}:${place.column}`;
        told.push(`${severity}[${code}]: ${message} --> ${where} ${remedy?.split('\n')[0]}`);
        const [, said, at, help] = SAYING.exec(example) ?? [];
        printed.push(`${said} --> ${at} ${help}`);
      }
      expect(told).toEqual(printed);
    }, 300_000);

    it('completes and explains fields from the published schema', async () => {
      await open();
      await openFile('postgres.yaml');
      await write('apiVersion: edgewise/v1\nkind: TCPEdge\nspec:\n');
      await page.keyboard.type('  hostp', { delay: 20 });
      await page.waitForSelector('.cm-tooltip-autocomplete');
      expect(await read('.cm-tooltip-autocomplete')).toContain('hostports');
      await page.keyboard.press('Escape');
      await write('kind: TCPEdge\nmetadata:\n  name: x\n');
      await page.hover('.cm-line:nth-child(3) span');
      await page.waitForSelector('.cm-tooltip-hover');
      expect(await read('.cm-tooltip-hover')).toContain('unique among the documents');
    });

    it('shows the plan as text, Markdown, JSON and the command for it', async () => {
      await open();
      const shown: string[] = [];
      for (const format of ['text', 'markdown', 'json', 'command']) {
        await press(`#format-${format}`);
        shown.push(await read('#plain'));
      }
      expect(shown[0]).toContain('+ TCPEdge/postgres');
      expect(shown[1]).toContain('edgewise:plan stack=quickstart');
      expect(JSON.parse(shown[2] ?? '')).toHaveProperty('changes');
      expect(shown[3]).toContain('edgewise apply plan.json');
    });

    eachThinned([
      ['none', '← 201 POST'],
      ['lost', '× POST'],
      ['slow', '← 429'],
      ['error', '← 500 POST'],
    ])('loses nothing when an apply meets the fault %s', async (fault, sign) => {
      await open();
      await page.select('#fault', fault);
      await press('#apply');
      expect(await read('#journal')).toContain(sign);
      await press('#replan');
      // What is left of an apply that met a fault is done by the next one.
      await page.select('#fault', 'none');
      if (!(await page.$eval('#apply', (button) => (button as HTMLButtonElement).disabled))) await press('#apply');
      expect(await press('#replan')).not.toMatch(/[1-9]\d* to (?:create|update|delete|replace|adopt|take over)/);
      expect(await read('#count')).toBe('3 live.');
    });

    it('lists the dangers before the changes, with the rehearsal and the requests', async () => {
      await open();
      await choose('drift');
      const review = await page.$eval('#review', (frame) => {
        const body = (frame as HTMLIFrameElement).contentDocument?.body;
        const [dangers, change] = [body?.querySelector('.dangers'), body?.querySelector('.item')];
        const isFirst = dangers?.compareDocumentPosition(change as Node) === Node.DOCUMENT_POSITION_FOLLOWING;
        return { isFirst, dangers: dangers?.textContent, text: body?.textContent?.replace(/\s+/g, ' ') };
      });
      expect(review.dangers).toContain('1.tcp.example.net:20999');
      expect(review.isFirst).toBe(true);
      expect(review.text).toMatch(/Reading took \d+ requests; applying takes 1 write/);
      expect(review.text).toContain('Rehearsed');
    });

    it('shows the progress of an apply, its result, and what to do next', async () => {
      await open();
      await page.evaluate(() => {
        const sentences: (string | null)[] = [];
        const status = document.getElementById('status') as HTMLElement;
        const add = () => sentences.push(status.textContent);
        new MutationObserver(add).observe(status, { childList: true, characterData: true, subtree: true });
        Object.assign(window, { sentences });
      });
      expect(await read('#would')).toBe('Plan');
      expect(await press('#apply')).toContain('3 writes applied');
      const sentences = await page.evaluate(() => (window as unknown as { sentences: string[] }).sentences);
      expect(sentences.slice(0, 3)).toEqual([1, 2, 3].map((done) => `Applying: ${done} of 3 writes`));
      expect(await read('#would')).toBe('Result of the apply');
      expect(await read('#hint')).toContain('Change a manifest, or edit a live resource');
      expect(await press('#drift')).toMatch(/in sync|no drift/i);
      expect(await read('#would')).toBe('Drift');
      await press('#replan');
      expect(await read('#would')).toBe('Plan');
    });

    it('shows a live value that was changed by hand as drift', async () => {
      await open();
      await press('#apply');
      await page.$eval('#live tr button', (button) => (button as HTMLElement).click());
      await page.$eval('#fields', (area) => {
        const field = area as HTMLTextAreaElement;
        field.value = field.value.replace('20001', '20999');
      });
      expect(await press('#edit [value=save]')).toMatch(/1 to update/);
      await press('#drift');
      await press('#format-text');
      expect(await read('#plain')).toContain('20999');
    });

    it('shows a module of an edge that was changed by hand as a difference', async () => {
      await open();
      await choose('everything');
      await press('#apply');
      await page.$eval('#live [aria-label^="Edit HTTPSEdgeRoute"]', (button) => (button as HTMLElement).click());
      await page.$eval('#fields', (area) => {
        const field = area as HTMLTextAreaElement;
        field.value = field.value.replace('"num_buckets": 10', '"num_buckets": 5');
      });
      expect(await press('#edit [value=save]')).toMatch(/1 to update/);
      await press('#drift');
      await press('#format-text');
      expect(await read('#plain')).toContain('circuit_breaker.num_buckets: 10 → 5');
      await page.$eval('#live [aria-label^="Edit HTTPSEdge "]', (button) => (button as HTMLElement).click());
      expect(await press('#edit [value=delete]')).toMatch(/2 to update/);
      expect(await read('#live')).not.toContain('mutual_tls');
    });

    it('turns its clock, so that a certificate is renewed, and says that tokens are invented', async () => {
      await open();
      await choose('everything');
      await press('#apply');
      expect(await read('#journal')).toContain('made-up token');
      await press('#year');
      await press('#format-text');
      expect(await read('#plain')).toMatch(/SSHUserCertificate\/bob .*replace: it expired/);
    });

    it('shares everything by a link, and starts again without it', async () => {
      await open();
      await press('#apply');
      await press('#share');
      const { hash } = new URL(page.url());
      await open(hash);
      expect(await read('#count')).toBe('3 live.');
      expect(await read('#status')).not.toContain('3 to create');
      await press('#again');
      expect([await read('#count'), await read('#status')]).toEqual([
        'Nothing of the manifests is live yet.',
        expect.stringContaining('3 to create'),
      ]);
    });

    it('works from a static host, requests three files, stores nothing, and may request nothing else', async () => {
      const asked: string[] = [];
      const host = createHttpServer(({ url = '/' }, response) => {
        asked.push(url);
        const file = url === '/' ? 'index.html' : url.slice(1);
        const type = { html: 'text/html', css: 'text/css', js: 'text/javascript' }[file.split('.')[1] ?? ''] ?? '';
        response.setHeader('content-type', type).end(readFileSync(join(folder, file)));
      });
      await new Promise<void>((done) => host.listen(0, '127.0.0.1', done));
      await open();
      await page.goto(`http://127.0.0.1:${(host.address() as AddressInfo).port}/`);
      expect(await settle()).toContain('3 to create');
      const refused = await page.evaluate(async () => {
        const isRefused = (task: Promise<unknown>) => task.then(() => false).catch(() => true);
        const image = new Promise((done, fail) => {
          Object.assign(new Image(), { onload: done, onerror: fail, src: `${location.origin}/x.png` });
        });
        return Promise.all([isRefused(fetch('try.css')), isRefused(fetch('https://example.com/')), isRefused(image)]);
      });
      expect(refused).toEqual([true, true, true]);
      expect(await page.evaluate(() => [document.cookie, localStorage.length, sessionStorage.length])).toEqual([
        '',
        0,
        0,
      ]);
      host.close();
      expect(asked.sort()).toEqual(['/', '/try.css', '/try.js']);
    });

    // Only Chromium reports layout shifts.
    const widths = name === 'chrome' ? [1300, 400] : [];
    it.each(widths)('has no layout that jumps when it is %i wide', async (width) => {
      await open('', 'light', width);
      await page.evaluateOnNewDocument(() => {
        const jumps: string[] = [];
        const add = (list: PerformanceObserverEntryList) => {
          for (const entry of list.getEntries() as (PerformanceEntry & { sources: { node: Node | null }[] })[]) {
            // What is pasted moves the text in the editor.
            const outside = entry.sources.filter(({ node }) => node?.parentElement?.closest('#editor') === null);
            jumps.push(...outside.map(({ node }) => `${node?.nodeName} ${(node as Element).id}`));
          }
        };
        Object.assign(window, { jumps });
        new PerformanceObserver(add).observe({ type: 'layout-shift', buffered: true });
      });
      await page.reload();
      await settle();
      await choose('policy');
      await write('kind: nothing\n');
      await choose('everything');
      await press('#apply');
      expect(await page.evaluate(() => (window as unknown as { jumps: string[] }).jumps)).toEqual([]);
    });

    it('says if something is too long for a link', async () => {
      await open();
      const noise = Array.from({ length: 3000 }, (_, at) => `# ${Math.sin(at)}${Math.cos(at)}`).join('\n');
      await write(noise);
      expect(await press('#share')).toContain('too much for a link');
    });

    eachThinned([
      ['that is cut', 'abc'],
      ['that unpacks to more than fits', deflateRawSync(Buffer.alloc(30_000_000, ' ')).toString('base64url')],
      ['with something else', deflateRawSync('{"files":[{"file":1}]}').toString('base64url')],
    ])('does not open a link %s', async (_what, packed) => {
      await open(`#${packed}`);
      expect(await read('#hint')).toContain('This link is damaged');
      expect(await read('#status')).toContain('3 to create');
    });

    it('does not open an account that no server wrote', async () => {
      const situation = {
        files: [{ file: 'a.yaml', text: '' }],
        account: { resources: { TCPEdge: [{ id: 1 }] } },
        hours: 0,
        fault: '',
      };
      await open(`#${deflateRawSync(JSON.stringify(situation)).toString('base64url')}`);
      expect(await read('#status')).toContain('Nothing can be planned');
    });

    const alias = Array.from({ length: 12 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at},`.repeat(10)}]`).join(
      '\n',
    );
    const loops = Array.from({ length: 6 }, () => 'changes.all(x, ').join('');
    eachThinned([
      ['of aliases', `a0: &a0 x\n${alias}\n`],
      ['of brackets', '['.repeat(100_000)],
      ['of an expression', toPolicy(`${loops}true${')'.repeat(6)}`)],
      ['of documents', '---\na: 1\n'.repeat(50_000)],
      ['of one line', `kind: ${'x'.repeat(2_000_000)}\n`],
      ['of a pattern', toPolicy(`changes.all(x, "a".matches("((a{1000}){1000}){1000}"))`)],
      ['of parentheses', toPolicy(`${'('.repeat(20_000)}true${')'.repeat(20_000)}`)],
      ['of markup', 'kind: "</script><script>alert(1)</script><img src=x onerror=alert(1)>"\n'],
    ])('ends in a message for a bomb %s', async (_what, text) => {
      await open();
      await page.$eval('#editor', (element) => element.scrollIntoView());
      expect(await write(text)).toMatch(/Nothing can be planned|took longer|warning|to create/);
      expect(deeds).toEqual([]);
      await choose('weights');
      expect(await read('#status')).toContain('1 to update');
    });

    it('shows every hostile text that is pasted as text', async () => {
      await open();
      const texts = thinInFirefox([...TRICKS, ...fc.sample(hostileText, { numRuns: 10, seed: 27 })]);
      for (const [at, text] of texts.entries()) {
        await write(`# ${at}\nkind: ${JSON.stringify(text)}\nmetadata: { name: ${text} }\n${text}\n`);
        expect(await read('#status'), JSON.stringify(text)).toMatch(/Nothing can be planned|to create/);
      }
      expect(await listMade()).toEqual([]);
      expect(deeds).toEqual([]);
    }, 240_000);

    /** Elements that no text may make, in the page and in its review. */
    async function listMade(): Promise<readonly string[]> {
      return page.evaluate(() => {
        const review = (document.getElementById('review') as HTMLIFrameElement | null)?.contentDocument;
        const found = 'img, a[href^="javascript:"], body script:not([src="try.js"])';
        const elements = [...document.querySelectorAll(found), ...(review?.querySelectorAll('img, script') ?? [])];
        return elements.map(({ outerHTML }) => outerHTML.slice(0, 200));
      });
    }

    it('shows hostile texts as text, in a plan and in a refusal', async () => {
      const samples = fc.sample(hostileText, { numRuns: 60, seed: 27 });
      const printable = [...samples.filter((one) => /^[ -~]+$/.test(one)), '<script>alert(1)</script><img src=x>'];
      for (const texts of [samples, printable]) {
        const edges = texts.map((one, at) => ({
          apiVersion: 'edgewise/v1',
          kind: 'TCPEdge',
          metadata: { name: `e${at}`, labels: { team: one } },
          spec: { description: one, hostports: [`1.tcp.example.net:${20_001 + at}`] },
        }));
        const stack = {
          apiVersion: 'edgewise/v1',
          kind: 'Stack',
          metadata: { name: 's' },
          spec: { owner_label: 'team' },
        };
        const files = [
          { file: 'edgewise.yaml', text: JSON.stringify(stack) },
          { file: 'edges.yaml', text: edges.map((edge) => JSON.stringify(edge)).join('\n---\n') },
        ];
        await open(`#${deflateRawSync(JSON.stringify({ files, hours: 0, fault: '' })).toString('base64url')}`);
        expect(await read('#status')).toMatch(
          texts === printable ? `${texts.length} to create` : 'Nothing can be planned',
        );
        expect(await listMade()).toEqual([]);
        expect(deeds).toEqual([]);
      }
      const review = await page.$eval(
        '#review',
        (frame) => (frame as HTMLIFrameElement).contentDocument?.body.textContent,
      );
      expect(review).toContain('<script>alert(1)</script>');
    });

    it('ends a worker that takes too long, says so, and starts another one', async () => {
      await page?.close();
      page = await browser.newPage();
      // The first worker hears nothing, and time passes a hundred times as fast.
      await page.evaluateOnNewDocument(() => {
        const { setTimeout: wait } = window;
        const { postMessage } = Worker.prototype;
        Object.assign(window, {
          setTimeout: (act: () => void, ms: number, ...rest: []) => wait(act, ms / 100, ...rest),
        });
        Worker.prototype.postMessage = function () {
          Worker.prototype.postMessage = postMessage;
          Object.assign(window, { setTimeout: wait, isDeaf: this });
        };
      });
      await page.goto(URL_OF_IT);
      expect(await settle()).toBe('This took longer than 10 seconds, and was ended. Nothing has changed.');
      expect(await press('#replan')).toContain('3 to create');
    });

    it.each([
      ['light', 1300],
      ['dark', 1300],
      ['light', 400],
      ['dark', 400],
    ] as const)('breaks no rule of accessibility if it is %s and %i wide', async (look, width) => {
      await open('', look, width);
      const back = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      expect(back).toBe(look === 'dark' ? 'rgb(20, 23, 28)' : 'rgb(255, 255, 255)');
      await choose('drift');
      await press('#apply');
      const findings = await page.evaluate(
        `${axe.source}; axe.run(document, { resultTypes: ['violations'], iframes: false }).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`,
      );
      await page
        .screenshot({ path: join(ARTIFACTS, `try-${name}-${look}-${width}.png`) as `${string}.png`, fullPage: true })
        .catch(() => undefined);
      expect(findings).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
    });

    it('works with the keyboard alone', async () => {
      await open();
      for (let count = 0; count < 40 && (await page.evaluate(() => document.activeElement?.id)) !== 'apply'; count += 1)
        await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await settle();
      expect(await read('#count')).toBe('3 live.');
    });
  });
}
