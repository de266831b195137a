import { join } from 'node:path';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Plan } from '../../src/model/plan.ts';
import type { Report, StackReportPart } from '../../src/report/report.ts';
import { renderHtmlReport, renderStacksHtml } from '../report/render.ts';
import { createLiveChange, createPlan, EVERYTHING, PLAIN } from '../report/sample-plans.ts';
import { createHostilePlan, createLargePlan, HOSTILE, REPORTS } from '../report/sample-reports.ts';
import {
  ARTIFACTS,
  CHROMIUM,
  type OpenPage,
  Pages,
  type ShownDocument,
  saveScreenshot,
  startBrowser,
} from './browser.ts';

const isSkipped = CHROMIUM === undefined && process.env['EDGEWISE_REQUIRE_SYSTEM'] !== '1';
if (isSkipped) process.stderr.write('Pages are not tested in a browser, because Chromium is not installed.\n');
else process.stderr.write(`Pages and screenshots are kept in ${ARTIFACTS}\n`);

describe.skipIf(isSkipped)('an HTML report in Chromium', { timeout: 180_000 }, () => {
  let browser: Browser;
  let pages: Pages;

  beforeAll(async () => {
    browser = await startBrowser();
    pages = new Pages(browser);
  }, 180_000);

  afterAll(async () => {
    await browser?.close();
  });

  function open(report: Report | undefined, options: Omit<ShownDocument, 'document'>): Promise<OpenPage> {
    if (report === undefined) throw new Error(`There is no report for ${options.name}`);
    return pages.open({ document: renderHtmlReport(report, PLAIN), ...options });
  }

  describe.each(Object.keys(REPORTS))('of %s', (name) => {
    it.each(['light', 'dark'] as const)(
      'loads nothing, logs nothing, and breaks no rule of accessibility if it is %s',
      async (colorScheme) => {
        const { page, deeds } = await open(REPORTS[name], { name: `${name}-${colorScheme}`, colorScheme });
        await saveScreenshot(page, `${name}-${colorScheme}`);
        expect(await listAccessibilityViolations(page)).toEqual([]);
        expect(deeds).toEqual([]);
      },
    );

    it('fits on a phone', async () => {
      const { page } = await open(REPORTS[name], { name: `${name}-phone`, viewport: { width: 400, height: 800 } });
      await saveScreenshot(page, `${name}-phone`);
      expect(await isScrolledSideways(page)).toBe(false);
    });
  });

  describe('of many stacks', () => {
    const dangers = [{ group: 'access', danger: 'unrestricted' }] as const;
    const plan = { ...EVERYTHING, changes: EVERYTHING.changes.map((change) => ({ ...change, dangers })) };
    const toPart = (name: string, report: Report): StackReportPart => {
      return { name, folder: `live/${name}`, exitCode: 2, report, options: {} };
    };
    const toPlanPart = (name: string): StackReportPart => toPart(name, { about: 'plan', plan, blocking: [] });
    const failed = toPart('c', { about: 'failure', failure: { error: { message: 'No key.' } } });
    const parts = [toPlanPart('a'), toPlanPart('b'), { ...failed, exitCode: 3 }];
    const document = renderStacksHtml({ command: 'plan', root: 'live', selection: '3 stacks.', parts }, PLAIN);

    it('is filtered by stack, and links a danger to its change', async () => {
      const { page, deeds } = await pages.open({ document, name: 'stacks' });
      const count = (stack: string): Promise<number> => page.locator(`[data-stack="${stack}"] .item:visible`).count();
      const [inA, inB] = [await count('a'), await count('b')];
      expect(inA).toBeGreaterThan(0);
      expect(inB).toBe(inA);
      await page.locator('button[data-value="b"]').click();
      expect([await count('a'), await count('b')]).toEqual([0, inB]);
      expect(await page.locator('[data-stack="c"]').isVisible()).toBe(false);
      const link = page.locator('.dangers a[href^="#s1-change"]').first();
      const target = (await link.getAttribute('href')) ?? '';
      await link.click();
      // The page gets the event for a followed link after the click.
      await page.locator(target).waitFor({ state: 'visible' });
      await page.locator('[data-stack="c"]').waitFor({ state: 'visible' });
      await saveScreenshot(page, 'stacks');
      expect(await listAccessibilityViolations(page)).toEqual([]);
      expect(deeds).toEqual([]);
    });

    it('fits on a phone', async () => {
      const { page } = await pages.open({ document, name: 'stacks-phone', viewport: { width: 400, height: 800 } });
      expect(await isScrolledSideways(page)).toBe(false);
    });
  });

  it.each([360, 500, 704, 705, 900, 1200, 1900])('scrolls links below its bar at %s px', async (width) => {
    const dangers = [{ group: 'access', danger: 'unrestricted' }] as const;
    const large = createLargePlan(20);
    const plan = { ...large, changes: large.changes.map((change) => ({ ...change, dangers })) };
    const kinds = { ...EVERYTHING, changes: EVERYTHING.changes.map((change) => ({ ...change, dangers })) };
    const toPart = (name: string, shown: Plan): StackReportPart => {
      const report = { about: 'plan', plan: shown, blocking: [] } as const;
      return { name, folder: `live/${name}`, exitCode: 2, report, options: {} };
    };
    const parts = [
      ...Array.from({ length: 12 }, (_, index) => toPart(`stack-number-${index}`, kinds)),
      toPart('large', plan),
    ];
    const stacks = renderStacksHtml({ command: 'plan', root: 'live', selection: '13 stacks.', parts }, PLAIN);
    const one = renderHtmlReport({ about: 'plan', plan, blocking: [] }, PLAIN);
    for (const document of [one, stacks]) {
      const { page } = await pages.open({ document, name: `links-${width}`, viewport: { width, height: 900 } });
      const ends: readonly string[] = await page.evaluate(LINK_ENDS);
      expect(ends.length).toBeGreaterThan(2);
      expect(ends.filter((end) => end !== 'below')).toEqual([]);
    }
  });

  it('scrolls a link below its bar when the page is opened at it, and after the bar has grown', async () => {
    const plan = { ...EVERYTHING, changes: createLargePlan(60).changes };
    const { page } = await open({ about: 'plan', plan, blocking: [] }, { name: 'links-opened' });
    const url = page.url();
    await page.goto('about:blank');
    await page.goto(`${url}#change-40`);
    expect(await page.evaluate(`(${LINK_END})('change-40')`)).toBe('below');
    await page.setViewportSize({ width: 760, height: 900 });
    await page.evaluate("document.querySelector('.filter').style.paddingBottom = '90px'");
    await page.evaluate("location.hash = 'change-30'");
    await page.waitForTimeout(100);
    expect(await page.evaluate(`(${LINK_END})('change-30')`)).toBe('below');
  });

  it('sends no other request', async () => {
    const { page, deeds } = await open(REPORTS['plan'], { name: 'served' });
    const asked: string[] = [];
    await page.route('http://report.invalid/**', async (route) => {
      asked.push(route.request().url());
      await route.fulfill({ contentType: 'text/html', body: renderHtmlReport(makeReport(), PLAIN) });
    });
    await page.goto('http://report.invalid/plan.html');
    expect(asked).toEqual(['http://report.invalid/plan.html']);
    expect(deeds.filter((deed) => !deed.startsWith('request http://report.invalid/plan.html'))).toEqual([]);
  });

  function makeReport(): Report {
    return { about: 'plan', plan: createLargePlan(12), blocking: [] };
  }

  describe('filters', () => {
    it('by action, with the number left of each kind', async () => {
      const { page } = await open(REPORTS['plan'], { name: 'filter' });
      expect(await readStatus(page)).toBe('9 in all');
      await page.getByRole('button', { name: /^update/ }).click();
      expect(await listShown(page)).toEqual(['HTTPSEdgeRoute/api', 'TCPEdge/postgres', 'TCPEdge/postgres']);
      expect(await readStatus(page)).toBe('2 of 9 shown');
      expect(await readButtons(page, 'kind')).toContain('HTTPSEdgeRoute1');
      expect(await readButtons(page, 'kind')).toContain('Credential0');
      expect(await readButtons(page, 'group')).toContain('delete2');
      expect(await page.getByRole('heading', { name: 'Deletes and replacements' }).isVisible()).toBe(false);
    });

    it('by several kinds at once', async () => {
      const { page } = await open(REPORTS['plan'], { name: 'filter' });
      await page.getByRole('button', { name: /^Credential/ }).click();
      await page.getByRole('button', { name: /^IPRestriction/ }).click();
      expect(await listShown(page)).toEqual(['Credential/agent', 'IPRestriction/api']);
      await page.getByRole('button', { name: /^Credential/ }).click();
      expect(await listShown(page)).toEqual(['IPRestriction/api']);
    });

    it('by groups of dangers and by team, with several values or none', async () => {
      const toEdge = (name: string, team: string, ...groups: readonly ('access' | 'traffic')[]) =>
        createLiveChange(`TCPEdge/${name}`, 'update', {
          id: `edgtcp_${name}`,
          team,
          dangers: groups.map((group) => ({ group, danger: 'gap' })),
        });
      const changes = [
        toEdge('both', 'data team', 'access', 'traffic'),
        toEdge('cut', 'web', 'traffic'),
        toEdge('safe', 'web'),
        createLiveChange('TCPEdge/orphan', 'update', { id: 'edgtcp_o' }),
      ];
      const plan = createPlan({ changes, teamLabel: 'team' });
      const { page } = await open({ about: 'plan', plan, blocking: [] }, { name: 'facets' });
      expect(await readButtons(page, 'danger')).toEqual(['access1', 'traffic2']);
      expect(await readButtons(page, 'team')).toEqual(['data team1', 'web2']);
      await page.getByRole('button', { name: /^traffic/ }).click();
      expect(await listShown(page)).toEqual(['TCPEdge/both', 'TCPEdge/cut']);
      expect(await readButtons(page, 'team')).toEqual(['data team1', 'web1']);
      await page.getByRole('button', { name: /^web/ }).click();
      expect(await listShown(page)).toEqual(['TCPEdge/cut']);
      expect(await readButtons(page, 'danger')).toEqual(['access0', 'traffic1']);
      expect(await listAccessibilityViolations(page)).toEqual([]);
    });

    it('by words anywhere in a change, in any case, as they are typed', async () => {
      const { page } = await open(REPORTS['plan'], { name: 'filter' });
      const input = page.getByRole('searchbox');
      await input.fill('PLATFORM data');
      expect(await listShown(page)).toEqual(['TCPEdge/postgres']);
      await input.fill('nothing has this');
      expect(await readStatus(page)).toBe('0 of 9 shown');
      await input.press('Escape');
      expect(await readStatus(page)).toBe('9 in all');
    });

    it('by the states of a comparison', async () => {
      const { page } = await open(REPORTS['drift'], { name: 'filter' });
      await page.getByRole('button', { name: /^to prune/ }).click();
      expect(await listShown(page)).toEqual(['TCPEdge/d']);
    });

    it('and resets all at once', async () => {
      const { page } = await open(REPORTS['plan'], { name: 'filter' });
      const clear = page.getByRole('button', { name: 'Clear' });
      expect(await clear.isVisible()).toBe(false);
      await page.getByRole('button', { name: /^create/ }).click();
      await page.getByRole('searchbox').fill('redis');
      await clear.click();
      expect(await listShown(page)).toHaveLength(10);
      expect(await page.getByRole('searchbox').inputValue()).toBe('');
    });
  });

  it('opens and closes changes, one or all', async () => {
    const { page } = await open(REPORTS['plan'], { name: 'details' });
    const all = await page.locator('details.item').count();
    const openNow = (): Promise<number> => page.locator('details.item[open]').count();
    // Deletes.
    expect(await openNow()).toBe(4);
    await page.getByRole('button', { name: 'Collapse all' }).click();
    expect(await openNow()).toBe(0);
    await page.locator('details.item summary').first().click();
    expect(await openNow()).toBe(1);
    await page.getByRole('button', { name: 'Expand all' }).click();
    expect(await openNow()).toBe(all);
  });

  it('works with the keyboard alone', async () => {
    const { page } = await open(REPORTS['plan'], { name: 'keyboard' });
    const press = async (...keys: readonly string[]): Promise<void> => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await press('Tab');
    expect(await readFocus(page)).toBe('Skip to the content');
    await press('Enter');
    await page.locator('#main:focus').waitFor();
    await tabToElement(page, 'Find a resource');
    await page.keyboard.type('postgres');
    expect(await listShown(page)).toEqual(['TCPEdge/postgres', 'TCPEdge/postgres']);
    await press('Tab');
    expect(await readFocus(page)).toBe('Clear');
    await press('Enter');
    expect(await readFocus(page)).toBe('Find a resource');
    await tabToElement(page, 'replace2');
    await press('Space');
    expect(await listShown(page)).toEqual(['SSHUserCertificate/alice', 'Credential/agent']);
    await tabToElement(page, /SSHUserCertificate/, 'summary');
    await press('Enter');
    expect(await page.locator('details.item.replace').first().getAttribute('open')).toBeNull();
    expect(await page.evaluate(FOCUS_OUTLINE)).toBe('solid 2px');
  });

  it('shows hostile text as text', async () => {
    const plan = createHostilePlan();
    const { page, deeds } = await open({ about: 'plan', plan, blocking: [] }, { name: 'hostile' });
    await page.getByRole('searchbox').fill('alert');
    expect(deeds).toEqual([]);
    expect(await page.evaluate(ELEMENTS)).toEqual(['link', 'style', 'script']);
    expect(await page.evaluate('document.querySelectorAll("h1").length')).toBe(1);
    expect(await page.evaluate(HANDLERS)).toEqual([]);
    expect(await page.evaluate(LINKS)).toEqual([]);
    expect(await page.title()).toContain('Plan for stack');
    const shown = await page.locator('body').innerText();
    for (const text of HOSTILE.slice(0, 8)) expect(shown).toContain(JSON.stringify(text).slice(1, -1));
    for (const character of ['\u001b', '\u202e', '\u2066', '\u200b']) expect(shown).not.toContain(character);
    expect(await isScrolledSideways(page)).toBe(false);
    await saveScreenshot(page, 'hostile');
    await page.setViewportSize({ width: 400, height: 800 });
    expect(await isScrolledSideways(page)).toBe(false);
  });

  it('runs no script but its own, whatever it contains', async () => {
    const document = renderHtmlReport(makeReport(), PLAIN).replace(
      '</main>',
      '<script>document.title = "owned"</script><img src="x" onerror="document.title = 1"><a href="javascript:document.title = 2" id="a">x</a></main>',
    );
    const { page } = await pages.open({ name: 'injected', document });
    await page.locator('#a').click();
    expect(await page.title()).toBe('Plan for stack production on https://api.example.com');
  });

  describe('in light and dark', () => {
    it('follows the system until it is set', async () => {
      const { page } = await open(REPORTS['plan'], { name: 'theme', colorScheme: 'light' });
      const button = page.getByRole('button', { name: 'Dark' });
      const light = await page.evaluate(BACKGROUND);
      expect(await button.getAttribute('aria-pressed')).toBe('false');
      await page.emulateMedia({ colorScheme: 'dark' });
      const dark = await page.evaluate(BACKGROUND);
      expect(dark).not.toBe(light);
      await page.locator('.theme[aria-pressed="true"]').waitFor();
      await button.click();
      expect(await page.evaluate(BACKGROUND)).toBe(light);
      expect(await button.getAttribute('aria-pressed')).toBe('false');
    });
  });

  describe('on paper', () => {
    it.each([true, false])('shows closed parts, and no controls (scripts: %s)', async (javaScriptEnabled) => {
      const report: Report = { about: 'plan', plan: createLargePlan(200), blocking: [] };
      const { page } = await open(report, { name: 'print', colorScheme: 'dark', javaScriptEnabled });
      expect(await page.locator('details.item[open]').count()).toBe(0);
      await page.emulateMedia({ media: 'print' });
      expect(await page.getByText('Edge number 199 of the data team').isVisible()).toBe(true);
      expect(await page.getByRole('button', { name: 'Dark' }).isVisible()).toBe(false);
      expect(await page.getByRole('searchbox').isVisible()).toBe(false);
      expect(await page.evaluate(BACKGROUND)).toBe('rgb(255, 255, 255)');
      await page.pdf({ path: join(ARTIFACTS, 'print.pdf'), preferCSSPageSize: true });
    });
  });

  it('is readable without scripts, and has no controls that do nothing', async () => {
    const { page, deeds } = await open(REPORTS['plan'], { name: 'no-script', javaScriptEnabled: false });
    await saveScreenshot(page, 'no-script');
    expect(await listShown(page)).toHaveLength(10);
    expect(await page.getByText('deny the rest').isVisible()).toBe(false);
    await page.locator('details.item', { hasText: 'deny the rest' }).locator('summary').click();
    expect(await page.getByText('deny the rest').isVisible()).toBe(true);
    expect(await page.getByRole('button').count()).toBe(0);
    expect(await page.getByRole('searchbox').count()).toBe(0);
    expect(deeds).toEqual([]);
  });

  it('opens and filters two thousand changes', async () => {
    const report: Report = { about: 'plan', plan: createLargePlan(2000), blocking: [] };
    const { page, deeds } = await open(report, { name: 'large' });
    expect(await readStatus(page)).toBe('2000 in all');
    await page.getByRole('searchbox').fill('edge-1999');
    expect(await listShown(page)).toEqual(['TCPEdge/edge-1999']);
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('button', { name: 'Expand all' }).click();
    expect(await page.locator('details.item[open]').count()).toBe(2000);
    expect(deeds).toEqual([]);
  });
});

const BACKGROUND = 'getComputedStyle(document.documentElement).backgroundColor';
const FOCUS_OUTLINE =
  '[getComputedStyle(document.activeElement).outlineStyle, getComputedStyle(document.activeElement).outlineWidth].join(" ")';
/** What loads or runs something, in the order in which it stands. */
const ELEMENTS = `Array.from(document.querySelectorAll('script, style, link, img, iframe, object, embed, base, form, foreignObject, video, audio')).map(({ localName }) => localName)`;
/** Attributes that run or style something, except the padding for the bar, which the page's own script sets. */
const HANDLERS = `Array.from(document.querySelectorAll(':not(:root)')).flatMap((element) => element.getAttributeNames()).filter((name) => name.startsWith('on') || name === 'style' || name === 'autofocus')`;
const LINKS = `Array.from(document.querySelectorAll('a')).map((link) => link.getAttribute('href')).filter((href) => !/^#[a-z0-9-]+$/.test(href))`;

/** The position of a link target with this id: below the bar, or how many of its pixels the bar covers. */
const LINK_END = `(id) => {
  const bar = document.querySelector('.filter');
  const top = document.getElementById(id).getBoundingClientRect().top;
  if (top >= innerHeight) return id + ' is out of sight';
  const end = getComputedStyle(bar).position === 'sticky' ? bar.getBoundingClientRect().bottom : 0;
  return top >= end ? 'below' : id + ' is covered by ' + (end - top);
}`;
/** The positions of the link targets of the page: of many, every sixth. */
const LINK_ENDS = `(async () => {
  const ends = [];
  const ids = new Set(Array.from(document.querySelectorAll('a[href^="#"]:not(.skip)')).map((link) => link.getAttribute('href').slice(1)));
  for (const id of [...ids].filter((_, index) => ids.size < 30 || index % 6 === 0)) {
    scrollTo(0, document.body.scrollHeight);
    location.hash = '';
    location.hash = id;
    await new Promise((done) => setTimeout(done, 20));
    ends.push((${LINK_END})(id));
  }
  return ends;
})()`;

async function isScrolledSideways(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
}

/** Lists the addresses of the visible changes. */
async function listShown(page: Page): Promise<readonly string[]> {
  const titles = await page.locator('.item h3').filter({ visible: true }).allTextContents();
  return titles;
}

async function readStatus(page: Page): Promise<string> {
  return (await page.getByRole('status').textContent()) ?? '';
}

async function readButtons(page: Page, facet: 'danger' | 'group' | 'kind' | 'team'): Promise<readonly string[]> {
  return page.locator(`[data-facet="${facet}"] button`).allTextContents();
}

/** The name or text of the element with the focus. */
async function readFocus(page: Page): Promise<string> {
  return page.evaluate('document.activeElement.ariaLabel ?? document.activeElement.textContent');
}

/** Presses Tab until the element with that name has the focus. */
async function tabToElement(page: Page, name: string | RegExp, element?: string): Promise<void> {
  for (let pressed = 0; pressed < 60; pressed += 1) {
    await page.keyboard.press('Tab');
    const focused = await readFocus(page);
    const isNamed = typeof name === 'string' ? focused === name : name.test(focused);
    const kind: string = await page.evaluate('document.activeElement.localName');
    if (isNamed && (element === undefined || element === kind)) return;
  }
  throw new Error(`No key leads to ${name}`);
}

/** Lists violations of WCAG 2.2 (A and AA, with contrast) and of best practices. */
async function listAccessibilityViolations(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const { violations }: Pick<axe.AxeResults, 'violations'> = await page.evaluate('axe.run(document)');
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}
