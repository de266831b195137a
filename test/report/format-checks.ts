import { expect } from 'vitest';
import type { FormatName } from '../../src/report/formats.ts';
import { MARK_URL } from '../../src/report/html/face.ts';
import { SCRIPT } from '../../src/report/html/page.ts';
import { STYLE } from '../../src/report/html/style.ts';
import { MAX_COMMENT_LENGTH } from '../../src/report/markdown/sections.ts';
import type { TextStyleOptions } from '../../src/report/report.ts';
import { readJunit, validateSarif } from './documents.ts';
import { type PageElement, readPage } from './html-tree.ts';
import { listBlocks, listNodes, parseMarkdown, toPlainText } from './markdown-tree.ts';

/** Checks that a document contains only the syntax that edgewise writes, whatever the texts of others in it. Each format has its own check. */

const RAW = /[^\n\P{C}]|[\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

/** Expects that our colours are the only control sequences. */
export function expectPrintable(rendered: string, { color }: Pick<TextStyleOptions, 'color'> = { color: false }): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences of colours
  const plain = color ? rendered.replace(/\u001b\[(?:1|2|22|31|32|33|35|39)m/g, '') : rendered;
  expect(RAW.exec(plain.replace(/\p{Cn}|\p{Co}/gu, ''))).toBeNull();
}

/** The check of each format. */
export const FORMAT_CHECKS: Readonly<Record<FormatName, (document: string) => void>> = {
  text: (document) => expectPrintable(document),
  json: (document) => {
    expectPrintable(document);
    expect(JSON.parse(document)).toBeTypeOf('object');
  },
  markdown: expectOurMarkdown,
  html: expectOurPage,
  github: expectOurAnnotations,
  sarif: (document) => {
    expectPrintable(document);
    expect(validateSarif(JSON.parse(document))).toEqual([]);
  },
  junit: (document) => {
    const { counts, elements } = readJunit(document);
    expect(counts).toEqual(elements);
  },
  metrics: expectOurMetrics,
};

function expectOurMetrics(document: string): void {
  expectPrintable(document);
  for (const line of document.trimEnd().split('\n')) expect(line).toMatch(METRICS_LINE);
}

const METRICS_LINE =
  /^(?:# (?:TYPE|UNIT|HELP) edgewise_\w+ .*|edgewise_\w+(?:\{(?:\w+="(?:[^"\\]|\\.)*",?)*\})? -?[\d.e+-]+|# EOF)$/;

/** Every line is a command that edgewise writes. */
function expectOurAnnotations(document: string): void {
  expectPrintable(document);
  const lines = document.split('\n');
  expect(lines.pop()).toBe('');
  for (const line of lines)
    expect(line).toMatch(/^::(error|warning|notice) (file=[^:,]*,line=\d+,col=\d+,)?title=edgewise[^:,]*::/);
  expect(lines.at(-1)).toMatch(/^::notice title=edgewise::/);
}

/** Expects only blocks and spans that edgewise writes, and no other HTML. */
function expectOurMarkdown(document: string): void {
  expectPrintable(document);
  expect(document.length).toBeLessThanOrEqual(MAX_COMMENT_LENGTH);
  const { children } = parseMarkdown(document);
  expect(listBlocks(children).filter((type) => !OUR_NODES.has(type))).toEqual([]);
  for (const block of children) if (block.type === 'html') expect(block.value).toMatch(OUR_HTML);
  const inner = children.flatMap((block) => ('children' in block ? listNodes(block.children) : []));
  for (const node of inner) {
    if (node.type === 'html') expect(node.value).toMatch(/^(?:<br>|<sub>|<\/sub>|<a name="danger-[\w-]{12}">|<\/a>)$/);
    if (node.type === 'link') expect(document).toContain(toTarget(node.url));
  }
  expect(toPlainText(children)).not.toMatch(/[@#](?=[\w-])|www\.|:\/\//);
}

/** Returns the target of a link: a place in the document, or a page of the forge. */
function toTarget(url: string): string {
  if (url.startsWith('#')) return `<a name="${url.slice(1)}"></a>`;
  expect(url).toMatch(OUR_LINK);
  return url;
}

/** Expects only elements and attributes that edgewise writes, its own style and script, and links to the page itself or to the forge. */
function expectOurPage(document: string): void {
  expectPrintable(document);
  const { elements, comments, mistakes } = readPage(document);
  expect(mistakes).toEqual([]);
  expect(comments).toBe(0);
  expect(elements.map(({ name }) => name).filter((name) => !OUR_ELEMENTS.has(name))).toEqual([]);
  expect(elements.flatMap(listForeignAttributes)).toEqual([]);
  for (const name of ['h1', 'main', 'style', 'script', 'link']) {
    expect(elements.filter((element) => element.name === name)).toHaveLength(1);
  }
  expect(elements.find(({ name }) => name === 'style')?.text).toBe(STYLE);
  expect(elements.find(({ name }) => name === 'script')?.text).toBe(SCRIPT);
}

function listForeignAttributes({ name, attributes }: PageElement): readonly string[] {
  return [...attributes].flatMap(([attribute, value]) => {
    const isOurs = OUR_ATTRIBUTES.has(attribute);
    const isInside =
      attribute !== 'href' || /^#[a-z][a-z0-9-]*$/.test(value) || value === MARK_URL || OUR_LINK.test(value);
    return isOurs && isInside ? [] : [`${name} ${attribute}="${value}"`];
  });
}

const OUR_ELEMENTS: ReadonlySet<string> = new Set([
  ...['html', 'head', 'meta', 'title', 'link', 'style', 'body', 'header', 'main', 'script', 'section', 'article'],
  ...[
    'h1',
    'h2',
    'h3',
    'p',
    'a',
    'strong',
    'code',
    'pre',
    'span',
    'i',
    'br',
    'div',
    'ul',
    'li',
    'figure',
    'figcaption',
  ],
  ...['details', 'summary', 'button', 'input', 'fieldset', 'legend', 'del', 'ins', 'wbr'],
  ...['table', 'thead', 'tbody', 'tr', 'th', 'td'],
]);

const OUR_ATTRIBUTES: ReadonlySet<string> = new Set([
  ...['lang', 'charset', 'http-equiv', 'content', 'name', 'rel', 'href', 'id', 'class', 'hidden', 'open', 'type'],
  ...['role', 'tabindex', 'scope', 'placeholder', 'autocomplete', 'spellcheck'],
  ...['aria-label', 'aria-labelledby', 'aria-hidden', 'aria-pressed'],
  ...[
    'data-key',
    'data-group',
    'data-kind',
    'data-danger',
    'data-stack',
    'data-team',
    'data-value',
    'data-facet',
    'data-act',
  ],
]);

const OUR_NODES: ReadonlySet<string> = new Set([
  ...['html', 'heading', 'paragraph', 'text', 'strong', 'inlineCode', 'code', 'blockquote', 'list', 'listItem'],
  ...['table', 'tableRow', 'tableCell', 'link'],
]);

/** Links of the pipeline in the tests. */
const OUR_LINK = /^https:\/\/forge\.test\/[\w./%-]+(?:#L\d+)?$/;

const OUR_HTML =
  /^(?:<!-- edgewise:[\w.%-]*(?: stack=[\w.%-]*)? -->|<details>\n<summary><code>[^<>]*<\/code> [^<>]*<\/summary>|<\/details>)$/;
