import { expect } from 'vitest';
import type { Change } from '../../src/model/change.ts';
import type { Plan } from '../../src/model/plan.ts';
import { MAX_COMMENT_LENGTH } from '../../src/report/markdown/sections.ts';
import {
  joinMarkdownCells,
  renderCodeSpan,
  renderCommentMarker,
  renderFence,
  toShortProse,
} from '../../src/report/markdown/text.ts';
import { FORMAT_CHECKS } from './format-checks.ts';
import { listBlocks, listCode, parseMarkdown, toPlainText } from './markdown-tree.ts';
import { renderMarkdownReport } from './render.ts';
import {
  createChange,
  createDifference,
  createLiveChange,
  createPlan,
  createWrite,
  PLAIN,
  toCreateIds,
  toNormal,
} from './sample-plans.ts';

/** Checks that text of users cannot break the Markdown around it, and that a comment is cut at whole blocks. */

export const SHA = '0123456789abcdef0123456789abcdef01234567';
export const PIPELINE = {
  commit: SHA,
  commitUrl: `https://forge.test/commit/${SHA}`,
  runUrl: 'https://forge.test/runs/42',
  filesUrl: `https://forge.test/blob/${SHA}/`,
};

/** One paragraph with text only, and URLs as code; also at the start of a line. */
export function expectProse(text: string): void {
  const alone = parseMarkdown(toShortProse(text)).children.map(({ type }) => type);
  expect(alone.filter((type) => type !== 'paragraph')).toEqual([]);
  const { children } = parseMarkdown(`x ${toShortProse(text)}`);
  expect(children).toHaveLength(1);
  expect(listBlocks(children).filter((type) => type !== 'inlineCode' && type !== 'text')).toEqual(['paragraph']);
  for (const code of listCode(children)) expect(code).toMatch(/^https?:\/\/\S+$/);
  expect(toPlainText(children)).not.toMatch(/[@#](?=[\w-])|www\.|https?:\/\//);
}

/** One piece of code, in a paragraph and in a cell of a table. */
export function expectOneCodeSpan(text: string): void {
  expect(listBlocks(parseMarkdown(`x ${renderCodeSpan(text)}`).children)).toEqual(['paragraph', 'text', 'inlineCode']);
  const table = parseMarkdown(
    `${joinMarkdownCells(['a', 'b'])}${joinMarkdownCells(['---', '---'])}${joinMarkdownCells([renderCodeSpan(text), toShortProse(text)])}`,
  );
  expect(listBlocks(table.children).slice(0, 9)).toEqual([
    ...['table', 'tableRow', 'tableCell', 'text', 'tableCell', 'text'],
    ...['tableRow', 'tableCell', 'inlineCode'],
  ]);
  const cell = listBlocks(table.children).slice(9);
  expect(cell.slice(0, 1)).toEqual(['tableCell']);
  expect(cell.slice(1).filter((type) => type !== 'text' && type !== 'inlineCode')).toEqual([]);
  expect(cell.length > 1).toBe(toShortProse(text).trim() !== '');
}

export function expectOneFence(lines: readonly string[]): void {
  const { children } = parseMarkdown(renderFence('diff', lines));
  expect(listBlocks(children)).toEqual(['code']);
}

export function expectOneMarker(text: string): void {
  const marker = renderCommentMarker('plan', text, {
    color: false,
    width: 0,
    verbose: false,
    compact: false,
  }).trimEnd();
  expect(listBlocks(parseMarkdown(marker).children)).toEqual(['html']);
  expect(marker.slice(4, -3)).not.toContain('--');
  expect(marker.indexOf('>')).toBe(marker.length - 1);
}

/** Links of a comment lead only to the forge, if the text is the name of a manifest file and of a team. */
export function expectForgeLinksOnly(text: string): void {
  const desired = toNormal('TCPEdge/a', { hostports: ['1.tcp.example.net:20001'] });
  const change = createChange('TCPEdge/a', 'create', {
    desired,
    place: { file: text, line: 3, column: 1 },
    team: text,
  });
  const made = { at: '2026-03-01T12:00:00.000Z', commit: SHA };
  const plan = createPlan({ changes: [change], made, teamLabel: 'team' });
  FORMAT_CHECKS.markdown(renderMarkdownReport({ about: 'plan', plan, blocking: [] }, { ...PLAIN, pipeline: PIPELINE }));
}

/** A plan of so many changes of each sort, which have a long text: this one, repeated to `length`. */
export interface HugePlan {
  readonly creates: number;
  readonly deletes: number;
  readonly updates: number;
  readonly text: string;
  readonly length: number;
}

export function expectWholeBlocks(sizes: HugePlan, verbose: boolean): void {
  const plan = createHugePlan(sizes);
  const text = renderMarkdownReport({ about: 'plan', plan, blocking: [] }, { ...PLAIN, verbose });
  expect(text.length).toBeLessThanOrEqual(MAX_COMMENT_LENGTH);
  const blocks = parseMarkdown(text).children;
  const html = blocks.flatMap((block) => (block.type === 'html' ? [block.value] : []));
  expect(html.filter((one) => one.startsWith('<details>')).length).toBe(
    html.filter((one) => one === '</details>').length,
  );
  expect(blocks.filter(({ type }) => !BLOCKS.has(type))).toEqual([]);
}

const BLOCKS: ReadonlySet<string> = new Set(['html', 'heading', 'paragraph', 'table', 'code', 'blockquote', 'list']);

function createHugePlan({ creates, deletes, updates, text, length }: HugePlan): Plan {
  const long = text.padEnd(length, '`@|</details> ');
  const make = (number: number, toChange: (index: number) => Change) =>
    Array.from({ length: number }, (_, index) => toChange(index));
  const changes = [
    ...make(deletes, (index) =>
      createLiveChange(`TCPEdge/d${index}`, 'delete', { id: 'edgtcp_2', reason: long, spec: { description: long } }),
    ),
    ...make(updates, (index) =>
      createLiveChange(`TCPEdge/u${index}`, 'update', {
        id: 'edgtcp_2',
        differences: [
          createDifference('description', { from: 'a', to: long, origin: index % 2 === 0 ? 'drift' : 'both' }),
        ],
      }),
    ),
    ...make(creates, (index) =>
      createChange(`TCPEdge/c${index}`, 'create', { desired: toNormal('TCPEdge/c', { description: long }) }),
    ),
  ];
  const writes = make(10, (index) => createChange(`TCPEdge/${index}`, 'create')).map(({ address }, index) =>
    createWrite('create', address, { dependsOn: index === 0 ? [] : toCreateIds('TCPEdge/0') }),
  );
  return createPlan({ changes, writes });
}
