import { KEY_VARIABLE } from '../../model/api-key.ts';
import { toPrintable } from '../../model/printable.ts';
import type { StackFolder, StackListing } from '../../model/stack-tree.ts';
import type { TextOptions } from '../report.ts';
import { describeStacks, listUnownedLines } from '../view/stack-words.ts';
import { toPaint } from './layout.ts';
import { type Column, toTable } from './table.ts';

/** The stacks of a tree as a table, and below it how many there are. Ends with a line break. */
export function renderStacksText(listing: StackListing, { color }: Pick<TextOptions, 'color'>): string {
  const paint = toPaint(color);
  const { stacks, changes } = listing;
  const columns: readonly Column<StackFolder>[] = [
    ['STACK', ({ name }) => toPrintable(name === '' ? '(no name)' : name)],
    ['FOLDER', ({ folder }) => toPrintable(folder)],
    ['SERVICE', ({ baseUrl = '' }) => toPrintable(baseUrl)],
    ...(stacks.every(({ keyEnv }) => keyEnv === undefined) ? [] : [KEY]),
    ...(changes === undefined ? [] : [['WHY', (stack: StackFolder) => toPrintable(toWhy(stack, listing))] as const]),
  ];
  const [heading = '', ...lines] = stacks.length === 0 ? [] : toTable(stacks, columns);
  const table = stacks.length === 0 ? [] : [paint('strong', heading), ...lines, ''];
  const words = [describeStacks(listing), ...listUnownedLines(listing)].map((line) => `${toPrintable(line)}\n`);
  return `${table.map((line) => `${line}\n`).join('')}${words.join('')}`;
}

/** The variable that holds the key of its account. */
const KEY: Column<StackFolder> = ['KEY', ({ keyEnv = KEY_VARIABLE }) => toPrintable(keyEnv)];

/** Files that a line names. */
const MAX_NAMED = 2;

function toWhy(stack: StackFolder, { changes }: StackListing): string {
  const { files = [], through = [] } = changes?.changed.find((change) => change.stack.folder === stack.folder) ?? {};
  const more = files.length > MAX_NAMED ? [`${files.length - MAX_NAMED} more`] : [];
  const needs = through.length === 0 ? [] : [`depends on ${through.join(', ')}`];
  return [...files.slice(0, MAX_NAMED), ...more, ...needs].join(', ');
}
