import { readdirSync, readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { builtinModules } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listExamples, readExample } from '../../.ci/run-example.ts';
import { findCodeSection } from '../../src/explain/code-section.ts';
import { DIAGNOSTIC_CODES, type Diagnostic } from '../../src/index.ts';
import { text as hostileText } from '../laws/hostile-values.ts';
import { TRICKS } from '../report/hostile-checks.ts';
import { readOnlyStack } from '../results.ts';
import { buildPage, describeInBrowsers } from './shown-page.ts';

/** The behaviour of the page of `npm run try`. */

const folder = buildPage();

it('is short enough to read', () => {
  const names = readdirSync('examples/try').filter((name) => !name.endsWith('.css'));
  const files = names.map((name) => readFileSync(join('examples/try', name), 'utf8'));
  expect(files.join('').split('\n').length).toBeLessThan(2000);
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

/** Codes about things that a page cannot have: unreadable files, no files, files that are not read, variables. */
const NOT_OF_A_PAGE = new Set([
  ...['secret-in-manifest', 'manifest-not-read', 'pattern-unused', 'colliding-names'],
  // The page keeps tokens itself, and there is no git.
  ...['token-sink-missing', 'token-in-git', 'behind-target'],
  // It says how long ago something was.
  'certificate-ended',
]);

const STACK = 'apiVersion: edgewise/v1\nkind: Stack\nmetadata: { name: shop }\n';

/** A diagnostic as the command line prints it, without its address and the lines of its file. */
const SAYING = /((?:error|warning)\[.+?\]: .+)\n(?: *--> (.+)\n)?[\s\S]*? help: (.+)/;

function toPolicy(require: string): string {
  return `apiVersion: edgewise/v1\nkind: Policy\nmetadata: { name: p }\nspec: { require: '${require}', message: m }\n`;
}

/** A link to a state of the page. */
function toLink(situation: object): string {
  return deflateRawSync(JSON.stringify({ hours: 0, fault: '', ...situation })).toString('base64url');
}

describeInBrowsers(folder, (shown) => {
  const {
    open,
    openEmptyAccount,
    settle,
    read,
    readAs,
    readReview,
    choose,
    press,
    write,
    openFile,
    selectForBrowser,
    eachThinned,
  } = shown;

  it('starts with a plan that shows a danger, says what to type, and follows what is done', async () => {
    await open();
    expect(await read('#status')).toBe('1 danger (1 access) · 1 update');
    expect(await read('#hint')).toContain('would let everyone connect to postgres. Type true over false');
    expect(await read('.cm-lintRange-info')).toBe('false');
    await shown.page.click('.cm-lintRange-info', { count: 2 });
    await shown.page.keyboard.type('true');
    expect(await settle()).toContain('Nothing to do');
    expect([await read('#hint'), await read('#next')]).toEqual([
      'The danger is gone: nothing would change any more.',
      'Next: Move traffic',
    ]);
    await press('#next');
    expect(await read('#hint')).toContain('Type 50 over 90');
    await shown.page.click('.cm-lintRange-info', { count: 2 });
    await shown.page.keyboard.type('50');
    expect(await settle()).toContain('1 update');
    expect(await readReview()).toMatch(/WeightedBackend\/postgres-pool[\s\S]*90 → 50/);
    expect(await read('#hint')).toContain('Press Apply');
    await write('kind: nothing');
    expect(await read('#hint')).toContain('There is no plan, because of line 1 of postgres-pool.yaml');
    await press('#again');
    await press('#hide');
    await write('kind: nothing');
    expect(await read('#hint')).toBe('');
    expect(shown.consoleMessages).toEqual([]);
  });

  it('marks in the account what an apply would change, and then what it has changed', async () => {
    await open();
    const readMarks = () =>
      shown.page.$$eval('#live li', (rows) =>
        rows.map((row) => [row.querySelector('b')?.textContent, row.querySelector('.tag')?.textContent ?? '']),
      );
    const others = [
      ['WeightedBackend/postgres-pool', ''],
      ['IPRestriction/dashboard', ''],
    ];
    expect(await readMarks()).toEqual([['TCPEdge/postgres', 'will change'], ...others]);
    expect(await read('#live .marked dt')).toBe('ip_restriction');
    expect(await press('#apply')).toBe('1 write applied');
    expect(await readMarks()).toEqual([['TCPEdge/postgres', 'changed just now'], ...others]);
    expect(await read('#hint')).toContain('everyone can connect to postgres now');
    expect(await read('#reason')).toContain('It is done.');
    await choose('create');
    expect((await readMarks()).map(([, tag]) => tag)).toEqual(Array(3).fill('will be created'));
    await press('#apply');
    expect((await readMarks()).map(([, tag]) => tag)).toEqual(Array(3).fill('created just now'));
    await openFile('dashboard.yaml');
    await press('#remove');
    expect((await readMarks()).map(([, tag]) => tag)).toContain('will be deleted');
    await choose('empty');
    expect(await read('#live')).toContain('Nothing is live yet');
  });

  it('rotates a credential: both are live for a day, and then the old one is deleted', async () => {
    await open();
    expect(await choose('rotation')).toContain('1 replace');
    expect(await read('#journal')).toBe('');
    await press('#apply');
    expect(await read('#hint')).toContain('Press +1 day');
    expect(await read('#count')).toBe('2 resources');
    expect(await press('#day')).toContain('1 delete');
    expect(await read('#hint')).toContain('deletes the old credential');
    await press('#apply');
    expect(await read('#count')).toBe('1 resource');
  });

  it('invites to begin if nothing is described', async () => {
    await open();
    await choose('empty');
    expect(await shown.page.$eval('#empty', (element) => element.checkVisibility())).toBe(true);
    expect([await read('#hint'), await read('#reason')]).toEqual(['', 'Apply is off. There is nothing to plan.']);
    expect(await press('#begin')).toContain('1 create');
    expect(await shown.page.$eval('#empty', (element) => element.checkVisibility())).toBe(false);
  });

  it('adds and renames files by words, under names that no other file has', async () => {
    await open();
    const name = async (button: string, text: string) => {
      await press(button);
      await shown.page.$eval('#name', (input) => (input as HTMLInputElement).select());
      await shown.page.keyboard.type(text);
    };
    await name('#add', 'postgres.yaml');
    expect(await read('#taken')).toBe('Another file has this name.');
    expect(await shown.page.$eval('#naming [value=save]', (save) => (save as HTMLButtonElement).disabled)).toBe(true);
    await shown.page.$eval('#name', (input) => (input as HTMLInputElement).select());
    await shown.page.keyboard.type('new.yaml');
    await shown.page.keyboard.press('Enter');
    await settle();
    expect(await read('#files [aria-selected=true]')).toBe('new.yaml');
    await name('#rename', 'other.yaml');
    await press('#naming [value=save]');
    expect(await read('#files')).toMatch(/policy|other\.yaml$/);
    expect(await read('#files')).not.toContain('new.yaml');
  });

  it('gives only advice that can be followed there, and opens the meaning of a code beside its message', async () => {
    await open();
    const readAdvice = async (): Promise<string> =>
      [await readReview(), await read('main'), await read('#hint')].join(' ');
    const flag = /`|\s--[a-z]|\bedgewise\s(?:plan|apply|explain|validate|init|export|accept|drift|destroy|release)\s/;
    for (const example of selectForBrowser(['rotation', 'policy', 'two-stacks', 'drift'])) {
      await choose(example);
      expect((await readAdvice()).match(flag), example).toBe(null);
      await press('#drift');
      expect((await readAdvice()).match(flag), example).toBe(null);
    }
    await choose('traffic');
    for (const file of ['dashboard.yaml', 'postgres.yaml', 'postgres-pool.yaml']) {
      await openFile(file);
      await press('#remove');
    }
    expect(await readReview()).toContain('tick “Allow these deletes”');
    expect((await readAdvice()).match(flag)).toBe(null);
    await choose('traffic');
    await write('apiVersion: edgewise/v1\nkind: TCPEdg\nmetadata: { name: x }\n');
    const meaning = await shown.page.$eval('#review', (frame) => {
      const details = (frame as HTMLIFrameElement).contentDocument?.querySelector('.message details');
      details?.querySelector('summary')?.click();
      return { isOpen: details?.hasAttribute('open'), text: details?.textContent };
    });
    expect(meaning.isOpen).toBe(true);
    expect(meaning.text).toMatch(/^What unknown-kind means/);
    expect((await readAdvice()).match(flag)).toBe(null);
  });

  it('opens the file of a position in the report', async () => {
    await open();
    await choose('policy');
    await shown.page.$eval('#review', (frame) => {
      const links = (frame as HTMLIFrameElement).contentDocument?.querySelectorAll('a') ?? [];
      [...links].find(({ textContent }) => textContent === 'policy.yaml:9:12')?.click();
    });
    expect(await read('#files [aria-selected=true]')).toBe('policy.yaml');
    expect(await shown.page.evaluate(() => document.activeElement?.className)).toContain('cm-content');
  });

  it('shows the plan of an empty account, and sends no request', async () => {
    await openEmptyAccount();
    expect(await read('#status')).toContain('3 creates');
    expect(await readReview()).toContain('TCPEdge/postgres');
    expect(shown.consoleMessages).toEqual([]);
  });

  it('asks for consent to many deletes, for this plan only', async () => {
    await open();
    await choose('traffic');
    for (const file of ['dashboard.yaml', 'postgres.yaml', 'postgres-pool.yaml']) {
      await openFile(file);
      await press('#remove');
    }
    expect(await read('#reason')).toContain('Apply is off.');
    await press('#deletes');
    expect([await read('#reason'), await press('#apply')]).toEqual([
      expect.stringContaining('Apply sends 3 writes'),
      expect.stringContaining('3 writes applied'),
    ]);
    expect(await shown.page.$eval('#deletes', (box) => (box as HTMLInputElement).checked)).toBe(false);
  });

  eachThinned([
    ['traffic', /Nothing to do/, 'postgres-pool.yaml'],
    ['create', /3 creates/, 'postgres.yaml'],
    ['everything', /8 creates/, 'postgres.yaml'],
    ['replace', /1 replace/, 'dashboard.yaml'],
    ['drift', /1 danger \(1 traffic\) · 1 update/, 'postgres.yaml'],
    ['two-stacks', /1 take-over/, 'postgres.yaml'],
    ['policy', /Refused by 1 safety rule/, 'postgres.yaml'],
  ])('has the example %s, and opens the file that it is about', async (example, said, file) => {
    await open();
    expect(await choose(example)).toMatch(said);
    expect(await read('#files [aria-selected=true]')).toBe(file);
    expect(await read('#hint')).not.toMatch(/Applied|^$/);
    expect(await shown.page.$$eval('#examples [aria-current=true]', (cards) => cards.length)).toBe(1);
  });

  it('plans what is typed, and underlines a mistake with its remedy', async () => {
    await open();
    await choose('traffic');
    const text =
      'apiVersion: edgewise/v1\nkind: WeightedBackend\nmetadata: { name: postgres-pool }\nspec: { backends: { External/blue: 1 } }\n';
    expect(await write(text)).toMatch(/1 update/);
    expect(await write(text.replace('spec:', 'specs:'))).toContain('Nothing can be planned');
    expect(
      await shown.page.$$eval('.cm-lintRange-error', (marks) => marks.map(({ textContent }) => textContent)),
    ).toContain('specs');
    await shown.page.hover('.cm-lintRange-error');
    await shown.page.waitForSelector('.cm-tooltip .cm-diagnostic');
    expect(await read('.cm-tooltip .cm-diagnostic')).toMatch(/specs.*\n?.*spec/);
  });

  it('reports each mistake as the command line does, at the same place', async () => {
    await open();
    // The editor underlines the diagnostics of the worker.
    await shown.page.evaluateOnNewDocument(() => {
      const { set } = Object.getOwnPropertyDescriptor(Worker.prototype, 'onmessage') ?? {};
      Object.defineProperty(Worker.prototype, 'onmessage', {
        set(this: Worker, hear: (event: MessageEvent) => void) {
          const keep = (event: MessageEvent) => {
            const { type, outcome } = event.data.event;
            if (type === 'end') Object.assign(window, { found: outcome.diagnostics });
            hear(event);
          };
          set?.call(this, keep);
        },
      });
    });
    await shown.page.reload();
    const [told, printed]: [string[], string[]] = [[], []];
    const examples = selectForBrowser(Object.keys(DIAGNOSTIC_CODES)).flatMap((code) =>
      listExamples(findCodeSection(code)?.example ?? '').map((example) => ({ code, example })),
    );
    for (const { code, example } of examples) {
      const { command, files: contents, live, faults } = readExample(example);
      if (!/^(?:plan|validate)$/.test(command) || live !== undefined || faults !== undefined) continue;
      if (NOT_OF_A_PAGE.has(code)) continue;
      const files = Array.from(contents, ([file, content]) => ({ file, text: content.toString() }));
      const isWithout = code !== 'no-stack' && !files.some(({ text }) => text.includes('kind: Stack'));
      const all = [...files, ...(isWithout ? [{ file: 'stack.yaml', text: STACK }] : [])];
      await shown.page.evaluate((hash) => location.assign(hash), `#${toLink({ files: all })}`);
      await settle();
      const diagnostics = await shown.page.evaluate(() => (window as unknown as { found: Diagnostic[] }).found);
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
    await shown.page.keyboard.type('  hostp', { delay: 20 });
    await shown.page.waitForSelector('.cm-tooltip-autocomplete');
    expect(await read('.cm-tooltip-autocomplete')).toContain('hostports');
    const readColor = (of: string) => shown.page.$eval(of, (element) => getComputedStyle(element).backgroundColor);
    expect(await readColor('.cm-tooltip-autocomplete [aria-selected]')).toBe(await readColor('#begin'));
    await shown.page.keyboard.press('Escape');
    await write('kind: TCPEdge\nmetadata:\n  name: x\n');
    await shown.page.hover('.cm-line:nth-child(3) span');
    await shown.page.waitForSelector('.cm-tooltip-hover');
    expect(await read('.cm-tooltip-hover')).toContain('unique among the documents');
  });

  it('shows the plan as text, Markdown, JSON and the command for it', async () => {
    await openEmptyAccount();
    const shown: string[] = [];
    for (const format of ['text', 'markdown', 'json', 'command']) shown.push(await readAs(format));
    expect(shown[0]).toContain('+ TCPEdge/postgres');
    expect(shown[1]).toContain('edgewise:plan stack=quickstart');
    expect(readOnlyStack(shown[2] ?? '')).toHaveProperty('changes');
    expect(shown[3]).toContain('edgewise apply manifests --approved plan.json');
  });

  eachThinned([
    ['none', '← 201 POST'],
    ['lost', '× POST'],
    ['slow', '← 429'],
    ['error', '← 500 POST'],
  ])('loses nothing when an apply meets the fault %s', async (fault, sign) => {
    await openEmptyAccount();
    await shown.page.select('#fault', fault);
    await press('#apply');
    expect(await read('#journal')).toContain(sign);
    await press('#plan');
    // The next apply completes an apply that met a fault.
    await shown.page.select('#fault', 'none');
    if (!(await shown.page.$eval('#apply', (button) => (button as HTMLButtonElement).disabled))) await press('#apply');
    expect(await press('#plan')).toContain('Nothing to do');
    expect(await read('#count')).toBe('3 resources');
  });

  it('lists the dangers before the changes, with the rehearsal and the requests', async () => {
    await open();
    await choose('drift');
    const review = await shown.page.$eval('#review', (frame) => {
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
    await openEmptyAccount();
    const readTab = () => read('.plan [role=tab][aria-selected=true]');
    await shown.page.evaluate(() => {
      const sentences: string[] = [];
      const add = () => sentences.push(document.getElementById('status')?.textContent ?? '');
      new MutationObserver(add).observe(document.getElementById('answer') as HTMLElement, {
        childList: true,
        characterData: true,
        subtree: true,
      });
      Object.assign(window, { sentences });
    });
    expect(await readTab()).toBe('Plan');
    expect(await press('#apply')).toContain('3 writes applied');
    const sentences = await shown.page.evaluate(() => (window as unknown as { sentences: string[] }).sentences);
    expect(sentences.slice(0, 3)).toEqual([1, 2, 3].map((done) => `Applying: ${done} of 3 writes`));
    expect(await readTab()).toBe('Result');
    expect(await read('#hint')).toContain('Applied: three resources are live');
    expect(await press('#drift')).toMatch(/in sync|no drift/i);
    expect(await readTab()).toBe('Drift');
    await press('#plan');
    expect(await readTab()).toBe('Plan');
  });

  it('shows a live value that was changed by hand as drift', async () => {
    await open();
    await choose('traffic');
    await shown.page.$eval('#live li button', (button) => (button as HTMLElement).click());
    await shown.page.$eval('#fields', (area) => {
      const field = area as HTMLTextAreaElement;
      field.value = field.value.replace('20001', '20999');
    });
    expect(await press('#edit [value=save]')).toMatch(/1 update/);
    await press('#drift');
    expect(await readAs('text')).toContain('20999');
  });

  it('shows a module of an edge that was changed by hand as a difference', async () => {
    await open();
    await choose('everything');
    await press('#apply');
    await shown.page.$eval('#live [aria-label^="Change HTTPSEdgeRoute"]', (button) => (button as HTMLElement).click());
    await shown.page.$eval('#fields', (area) => {
      const field = area as HTMLTextAreaElement;
      field.value = field.value.replace('"num_buckets": 10', '"num_buckets": 5');
    });
    expect(await press('#edit [value=save]')).toMatch(/1 update/);
    await press('#drift');
    expect(await readAs('text')).toContain('circuit_breaker.num_buckets: 10 → 5');
    await shown.page.$eval('#live [aria-label^="Change HTTPSEdge "]', (button) => (button as HTMLElement).click());
    expect(await press('#edit [value=delete]')).toMatch(/2 updates/);
    expect(await read('#live')).not.toContain('mutual_tls');
  });

  it('turns its clock, so that a certificate is renewed, and says that tokens are invented', async () => {
    await open();
    await choose('everything');
    await press('#apply');
    expect(await read('#journal')).toContain('simulated token');
    await press('#year');
    expect(await readAs('text')).toMatch(/SSHUserCertificate\/bob .*replace: it expired/);
  });

  it('shares everything by a link, and starts again without it', async () => {
    await openEmptyAccount();
    await press('#apply');
    await press('#share');
    const { hash } = new URL(shown.page.url());
    await open(hash);
    expect(await read('#count')).toBe('3 resources');
    expect(await read('#status')).toContain('Nothing to do');
    await choose('create');
    await press('#apply');
    await press('#again');
    expect([await read('#count'), await read('#status')]).toEqual(['nothing yet', '3 creates']);
    expect(new URL(shown.page.url()).hash).toBe('');
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
    await shown.page.goto(`http://127.0.0.1:${(host.address() as AddressInfo).port}/`);
    expect(await settle()).toContain('1 danger');
    const refused = await shown.page.evaluate(async () => {
      const isRefused = (task: Promise<unknown>) => task.then(() => false).catch(() => true);
      const image = new Promise((done, fail) => {
        Object.assign(new Image(), { onload: done, onerror: fail, src: `${location.origin}/x.png` });
      });
      return Promise.all([isRefused(fetch('try.css')), isRefused(fetch('https://example.com/')), isRefused(image)]);
    });
    expect(refused).toEqual([true, true, true]);
    expect(await shown.page.evaluate(() => [document.cookie, localStorage.length, sessionStorage.length])).toEqual([
      '',
      0,
      0,
    ]);
    host.close();
    expect(asked.sort()).toEqual(['/', '/try.css', '/try.js']);
  });

  it('says if something is too long for a link', async () => {
    await open();
    const noise = Array.from({ length: 3000 }, (_, at) => `# ${Math.sin(at)}${Math.cos(at)}`).join('\n');
    await write(noise);
    await press('#share');
    expect(await read('#hint')).toContain('too long for a link');
  });

  eachThinned([
    ['that is cut', 'abc'],
    ['that unpacks to more than fits', deflateRawSync(Buffer.alloc(30_000_000, ' ')).toString('base64url')],
    ['with something else', deflateRawSync('{"files":[{"file":1}]}').toString('base64url')],
  ])('does not open a link %s', async (_what, packed) => {
    await open(`#${packed}`);
    expect(await read('#hint')).toContain('This link is damaged');
    expect(await read('#status')).toContain('1 danger');
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

  const alias = Array.from({ length: 12 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at},`.repeat(10)}]`).join('\n');
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
    await shown.page.$eval('#editor', (element) => element.scrollIntoView());
    expect(await write(text)).toMatch(/Nothing can be planned|took longer|warning|creates?/);
    expect(shown.consoleMessages).toEqual([]);
    await choose('replace');
    expect(await read('#status')).toContain('1 replace');
  });

  it('shows every hostile text that is pasted as text', async () => {
    await open();
    const texts = selectForBrowser([...TRICKS, ...fc.sample(hostileText, { numRuns: 10, seed: 27 })]);
    for (const [at, text] of texts.entries()) {
      await write(`# ${at}\nkind: ${JSON.stringify(text)}\nmetadata: { name: ${text} }\n${text}\n`);
      expect(await read('#status'), JSON.stringify(text)).toMatch(/Nothing can be planned|creates?/);
    }
    expect(await listMade()).toEqual([]);
    expect(shown.consoleMessages).toEqual([]);
  }, 240_000);

  /** Elements that no text may create, in the page and in its review. */
  async function listMade(): Promise<readonly string[]> {
    return shown.page.evaluate(() => {
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
        spec: { team_label: 'team' },
      };
      const files = [
        { file: 'edgewise.yaml', text: JSON.stringify(stack) },
        { file: 'edges.yaml', text: edges.map((edge) => JSON.stringify(edge)).join('\n---\n') },
      ];
      await open(`#${deflateRawSync(JSON.stringify({ files, hours: 0, fault: '' })).toString('base64url')}`);
      expect(await read('#status')).toMatch(texts === printable ? `${texts.length} creates` : 'Nothing can be planned');
      expect(await listMade()).toEqual([]);
      expect(shown.consoleMessages).toEqual([]);
    }
    expect(await readReview()).toContain('<script>alert(1)</script>');
  });

  it('ends a worker that takes too long, says so, and starts another one', async () => {
    await shown.openBlankPage();
    // The first worker gets no message, and time passes a hundred times as fast.
    await shown.page.evaluateOnNewDocument(() => {
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
    const edge = 'apiVersion: edgewise/v1\nkind: TCPEdge\nmetadata: { name: e }\n';
    const files = [
      { file: 'stack.yaml', text: STACK },
      { file: 'edge.yaml', text: edge },
    ];
    await shown.page.goto(`${shown.url}#${toLink({ files })}`);
    expect(await settle()).toBe('This took longer than 10 seconds, and was stopped. Nothing has changed.');
    expect(await press('#plan')).toContain('1 create');
  });
});
