import { join } from 'node:path';
import axe from 'axe-core';
import type { KeyInput } from 'puppeteer-core';
import { expect, it } from 'vitest';
import { ARTIFACTS } from '../browsers/browser.ts';
import { buildPage, describeInBrowsers } from './shown-page.ts';

/** The appearance of the page of `npm run try`, and its accessibility. */

/** The background of the page and of its review. */
const [LIGHT, DARK] = ['rgb(250, 250, 248)', 'rgb(19, 21, 24)'];

const WIDTHS = [400, 900, 1300, 1800];

describeInBrowsers(buildPage(), (shown) => {
  const { open, settle, read, choose, press, write } = shown;

  it.each([
    ['nothing is to be done', 'traffic', undefined, 'There is nothing to apply'],
    ['a policy refuses the plan', 'policy', undefined, 'TCPEdge/postgres lets everybody connect'],
    ['a manifest is wrong', 'create', 'kind: nothing\n', 'postgres.yaml is not a'],
  ])('turns Apply off with the reason if %s, and on again', async (_when, example, text, reason) => {
    await open();
    await choose(example);
    if (text !== undefined) await write(text);
    const readApply = () =>
      shown.page.$eval('#apply', (button) => {
        const { disabled, ariaDescribedByElements } = button as HTMLButtonElement;
        return { disabled, why: ariaDescribedByElements?.map(({ textContent }) => textContent).join('') ?? '' };
      });
    const { disabled, why } = await readApply();
    expect(disabled).toBe(true);
    expect(why).toContain(reason);
    await choose('replace');
    expect(await readApply()).toEqual({ disabled: false, why: expect.stringMatching(/^Apply sends \d writes/) });
  });

  it('is dark or light as the user wants, and its review too', async () => {
    await open();
    const read = (of: 'page' | 'review') =>
      shown.page.evaluate((which) => {
        const review = (document.getElementById('review') as HTMLIFrameElement).contentDocument?.documentElement;
        const element = which === 'page' ? document.body : review;
        return element && getComputedStyle(element).backgroundColor;
      }, of);
    expect([await read('page'), await read('review')]).toEqual([LIGHT, LIGHT]);
    await press('#theme');
    expect([await read('page'), await read('review')]).toEqual([DARK, DARK]);
    await choose('drift');
    await press('#theme');
    expect([await read('page'), await read('review')]).toEqual([LIGHT, LIGHT]);
  });

  // Only Chromium reports layout shifts. In a narrow window the account follows the report, whose height changes.
  it.each(shown.name === 'chrome' ? [1300, 400] : [])('has no layout that jumps if it is %i wide', async (width) => {
    await open('', 'light', width);
    await shown.page.evaluateOnNewDocument(() => {
      const jumps: string[] = [];
      const add = (list: PerformanceObserverEntryList) => {
        for (const entry of list.getEntries() as (PerformanceEntry & { sources: { node: Node | null }[] })[]) {
          // Pasted text moves the text in the editor.
          const outside = entry.sources.filter(
            ({ node }) =>
              node?.parentElement?.closest('#editor, #account') === null && node !== document.getElementById('account'),
          );
          jumps.push(
            ...outside.map(
              ({ node }) =>
                `${node?.nodeName} ${node?.textContent?.slice(0, 40)} in ${node?.parentElement?.outerHTML.slice(0, 60)}`,
            ),
          );
        }
      };
      Object.assign(window, { jumps });
      new PerformanceObserver(add).observe({ type: 'layout-shift', buffered: true });
    });
    await shown.page.reload();
    await settle();
    await choose('policy');
    await write('kind: nothing\n');
    await choose('everything');
    await press('#apply');
    expect(await shown.page.evaluate(() => (window as unknown as { jumps: string[] }).jumps)).toEqual([]);
  });

  it.each([
    ['light', 1300],
    ['dark', 1300],
    ['light', 400],
    ['dark', 400],
  ] as const)('breaks no rule of accessibility if it is %s and %i wide', async (look, width) => {
    await open('', look, width);
    const back = await shown.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    expect(back).toBe(look === 'dark' ? DARK : LIGHT);
    await choose('drift');
    await press('#apply');
    const findings = await shown.page.evaluate(
      `${axe.source}; axe.run(document, { resultTypes: ['violations'], iframes: false }).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`,
    );
    await shown.page
      .screenshot({
        path: join(ARTIFACTS, `try-${shown.name}-${look}-${width}.png`) as `${string}.png`,
        fullPage: true,
      })
      .catch(() => undefined);
    expect(findings).toEqual([]);
    expect(await shown.page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
  });

  it.each(WIDTHS)('breaks no kind, name or id inside a word if it is %i wide', async (width) => {
    await open('', 'light', width);
    await choose('everything');
    await press('#apply');
    await press('#plan');
    await choose('create');
    await press('#apply');
    const broken = await shown.page.evaluate(() => {
      const review = (document.getElementById('review') as HTMLIFrameElement).contentDocument;
      const inside = review?.querySelectorAll('.item h3, .item .kind, .fields th, .grid td') ?? [];
      const words = (element: Element): string[] => {
        const walker = element.ownerDocument.createTreeWalker(element, NodeFilter.SHOW_TEXT);
        const found: string[] = [];
        for (let node = walker.nextNode(); node !== null; node = walker.nextNode())
          for (const { 0: word, index } of (node.textContent ?? '').matchAll(/[\w-]+/g)) {
            const range = element.ownerDocument.createRange();
            range.setStart(node, index);
            range.setEnd(node, index + word.length);
            if (new Set(Array.from(range.getClientRects(), ({ top }) => top)).size > 1) found.push(word);
          }
        return found;
      };
      return [...document.querySelectorAll('#live b, #live .facts code, #files [role=tab]'), ...inside].flatMap(words);
    });
    expect(broken).toEqual([]);
  });

  it.each(WIDTHS.slice(1))('fills the window and scrolls only its parts if it is %i wide', async (width) => {
    await open('', 'light', width);
    await press('#more summary');
    for (const part of ['#files', '#editor', '#apply', '#review', '#live', '#more'])
      expect(await shown.page.$eval(part, isInView), part).toBe(true);
    expect(await shown.page.evaluate(() => document.documentElement.scrollHeight)).toBe(1000);
  });

  const isInView = (element: Element): boolean => {
    const { top, left, bottom, right, height } = element.getBoundingClientRect();
    return top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth && height > 0;
  };

  it('draws no bright line in the dark', async () => {
    await open('', 'dark');
    const bright = await shown.page.evaluate(() =>
      Array.from(document.querySelectorAll('body *:not(button, option, #live li)'), (element) => {
        const style = getComputedStyle(element);
        const sides = (['Top', 'Right', 'Bottom', 'Left'] as const).filter(
          (side) => Number.parseFloat(style[`border${side}Width`]) > 0,
        );
        const colors = sides.map((side) => style[`border${side}Color`].match(/[\d.]+/g)?.map(Number) ?? []);
        const isBright = ([red = 0, green = 0, blue = 0, alpha = 1]: number[]) =>
          alpha > 0 && red + green + blue > 3 * 140;
        return colors.some(isBright) ? [`${element.id} ${element.className}`] : [];
      }).flat(),
    );
    expect(bright).toEqual([]);
  });

  it('works by touch at a width of 400, with manifests and plan in two panes and the result below both', async () => {
    await open('', 'light', 400);
    await shown.page.setViewport({ width: 400, height: 800, hasTouch: true });
    await shown.page.reload();
    await settle();
    await choose('traffic');
    await shown.page.tap('#more summary');
    const listSmall = () =>
      shown.page.$$eval('button, select, summary, [role=tab]', (all) =>
        all.filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 44).map(({ id }) => id),
      );
    expect(await listSmall()).toEqual([]);
    await shown.page.tap('#show-manifests');
    expect(await listSmall()).toEqual([]);
    await shown.page.tap('.cm-lintRange-info');
    await shown.page.keyboard.press('End');
    await shown.page.keyboard.press('Backspace');
    await shown.page.keyboard.type('5');
    expect(await settle()).toContain('1 update');
    for (const part of ['.cm-content', '#status', '#apply'])
      expect(await shown.page.$eval(part, isInView), part).toBe(true);
    await shown.page.tap('#apply');
    expect(await settle()).toContain('1 write applied');
    await shown.page.tap('#show-plan');
    expect(await shown.page.$eval('#status', isInView)).toBe(true);
    await shown.page.tap('#live button');
    expect(await shown.page.$eval('#edit', isInView)).toBe(true);
    await shown.page.tap('#edit [value=delete]');
    expect(await settle()).toContain('1 create');
    await shown.page.tap('#show-manifests');
    await shown.page.tap('#file-0');
    expect(await read('#files [aria-selected=true]')).toBe('dashboard.yaml');
    await shown.page.tap('#choose');
    await shown.page.tap('#examples [data-example=empty]');
    expect(await settle()).toContain('no manifests');
  });

  it('overflows nowhere and cuts no text from 320 to 2560 pixels, in either pane', async () => {
    await open();
    const listOverflows = () =>
      shown.page.evaluate(() => {
        const review = (document.getElementById('review') as HTMLIFrameElement).contentDocument;
        const scrolls = 'pre, .cm-scroller, .cm-scroller *, #plain, .quiet, iframe, thead, thead *, .size, .side';
        const all = [...document.querySelectorAll('html, body, body *'), ...(review?.querySelectorAll('*') ?? [])];
        const wide = all.filter((one) => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0);
        return wide
          .filter((one) => !one.matches(scrolls) && getComputedStyle(one).display !== 'inline')
          .map((one) => `${one.tagName} ${one.id} ${one.className}: ${one.scrollWidth} > ${one.clientWidth}`);
      });
    for (const example of ['policy', 'everything']) {
      await choose(example);
      for (const width of [320, 400, 768, 1000, 1280, 1600, 2560]) {
        await shown.page.setViewport({ width, height: 900 });
        for (const pane of width < 768 ? ['manifests', 'plan'] : ['plan']) {
          await shown.page.$eval(`#show-${pane}`, (tab) => (tab as HTMLElement).click());
          expect(await listOverflows(), `${example} ${width} ${pane}`).toEqual([]);
        }
      }
    }
  });

  it('fills its first screen at 1000 and 1600 pixels, with the plan, the word to type over and the account', async () => {
    for (const [width, height] of [
      [1000, 700],
      [1600, 900],
    ] as const) {
      await open('', 'light', width);
      await shown.page.setViewport({ width, height });
      await shown.page.reload();
      await settle();
      for (const part of [
        '.brand',
        '#hint',
        '.cm-lintRange-info',
        '#status',
        '#apply',
        '#review',
        '#live .tag',
        '#live .marked',
      ])
        expect(await shown.page.$eval(part, isInView), `${part} at ${width}`).toBe(true);
      if (width === 1600) expect(await shown.page.$eval('#examples', isInView)).toBe(true);
    }
    // A list that was opened stays one if the window gets room for a column.
    await open('', 'light', 1000);
    await press('#choose');
    await shown.page.setViewport({ width: 1600, height: 900 });
    expect(await shown.page.$eval('#examples', ({ clientWidth }) => clientWidth)).toBeLessThan(1000);
  });

  it('says what it is, what is seen and what to type at 320 and 400 pixels, and has editor and plan in two tabs', async () => {
    for (const width of [320, 400]) {
      await open('', 'light', width);
      await shown.page.setViewport({ width, height: 800 });
      for (const part of ['.brand', 'header p', '#hint', '#show-manifests', '#show-plan', '#status', '#apply'])
        expect(await shown.page.$eval(part, isInView), `${part} at ${width}`).toBe(true);
      await press('#show-manifests');
      expect(await shown.page.$eval('.cm-lintRange-info', isInView)).toBe(true);
    }
  });

  it('works with the keyboard alone', async () => {
    await open();
    /** Presses Tab, or Shift and Tab, until an element has the focus, and lists the elements that had it before. */
    const tabTo = async (selector: string, way: 'ahead' | 'back' = 'ahead'): Promise<readonly string[]> => {
      const passed: string[] = [];
      while (!(await shown.page.evaluate((wanted) => document.activeElement?.matches(wanted) === true, selector))) {
        if (passed.length > 40) throw new Error(`Tab does not lead to ${selector}: ${passed.join(' ')}`);
        if (way === 'back') await shown.page.keyboard.down('Shift');
        await shown.page.keyboard.press('Tab');
        if (way === 'back') await shown.page.keyboard.up('Shift');
        passed.push(await shown.page.evaluate(() => document.activeElement?.id ?? ''));
      }
      return passed;
    };
    const press = async (...keys: readonly KeyInput[]): Promise<string> => {
      for (const key of keys) await shown.page.keyboard.press(key);
      return settle();
    };
    await tabTo('#choose');
    await press('Enter');
    await tabTo('[data-example=traffic]');
    expect(await press('Enter')).toContain('Nothing to do');
    await shown.page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    expect(await tabTo('#hide')).toEqual(['again', 'share', 'theme', 'hide']);
    expect(await tabTo('#files [aria-selected=true]')).toEqual(['add', 'rename', 'remove', 'file-3']);
    await press('ArrowRight');
    expect(await read('#files [aria-selected=true]')).toBe('postgres.yaml');
    await press('ArrowLeft');
    await tabTo('.cm-content');
    await press(...Array<KeyInput>(7).fill('ArrowDown'), 'End', 'Backspace', 'Backspace', '5', '0');
    expect(await read('#status')).toContain('1 update');
    await tabTo('#apply');
    expect(await press('Enter')).toContain('1 write applied');
    // Apply is off now. What has the focus next is near it.
    await tabTo('#result', 'back');
    expect(await press('ArrowLeft')).toMatch(/in sync|No drift/i);
    expect(await press('ArrowLeft')).toContain('Nothing to do');
    await tabTo('#live button');
    await press('Enter');
    expect(await shown.page.$eval('#edit', (dialog) => (dialog as HTMLDialogElement).open)).toBe(true);
    expect(await read('#edited')).toBe('Change TCPEdge/postgres by hand');
    await tabTo('[value=delete]');
    expect(await press('Enter')).toContain('1 create');
    await tabTo('#more > summary');
    await press('Enter');
    await tabTo('#year');
    await tabTo('#fault');
    expect(await press('ArrowDown')).toContain('1 create');
    expect(await shown.page.$eval('#fault', (list) => (list as HTMLSelectElement).value)).toBe('lost');
    expect(shown.consoleMessages).toEqual([]);
  });
});
