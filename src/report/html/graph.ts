import { toClipped, toColumns } from '../view/columns.ts';
import type { WriteView } from '../view/plan-view.ts';
import { toCount } from '../view/wording.ts';
import {
  type GraphNode,
  type PlacedEdge,
  type PlacedGraph,
  type PlacedNode,
  type Point,
  placeGraph,
} from './graph-layout.ts';
import { type Html, html } from './node.ts';

/** Most writes and most waits that are drawn: more take seconds to place, and nobody finds the way through them. */
const MAX_WRITES = 150;
const MAX_WAITS = 200;

/** Of a label in pixels: a column, the line, what stands beside it; and the most columns of one. */
const COLUMN = 7.25;
const HEIGHT = 26;
const PADDING = 10;
const MAX_COLUMNS = 44;

/** What waits for what, drawn from left to right, each write a link to its place in the list. Nothing when none waits. */
export function renderGraph(writes: readonly WriteView[]): Html | undefined {
  const drawn = listConnected(writes);
  if (drawn.length === 0) return undefined;
  return html`<section aria-labelledby="graph"><h2 id="graph">Dependencies</h2>
${isTooLarge(drawn) ? renderLeftOut(drawn.length) : renderParts(drawn, writes)}</section>
`;
}

function isTooLarge(drawn: readonly WriteView[]): boolean {
  const waits = drawn.reduce((sum, { waitsFor }) => sum + waitsFor.length, 0);
  return drawn.length > MAX_WRITES || waits > MAX_WAITS;
}

function renderLeftOut(number: number): Html {
  return html`<p class="note">${number} requests wait for each other, more than a drawing can show. The list of requests says what each waits for.</p>
`;
}

function renderParts(drawn: readonly WriteView[], writes: readonly WriteView[]): Html {
  const byNumber = new Map(drawn.map((write) => [write.number, write]));
  const rest = listRest(writes.filter(({ number }) => !byNumber.has(number)));
  return html`<div class="graph">
${placeGraph(drawn.map(toNode)).map((part, index) => renderPart(part, { byNumber, index }))}</div>
${rest.length === 0 ? '' : html`<p class="note">Not drawn: ${rest.join('; ')}.</p>\n`}`;
}

function listRest(alone: readonly WriteView[]): readonly string[] {
  const last = alone.filter((write) => write.last).length;
  const free = alone.length - last;
  return [
    ...(free === 0 ? [] : [`${toCount(free, 'request')} without a dependency`]),
    ...(last === 0 ? [] : [`${toCount(last, 'request')} after all others`]),
  ];
}

/** The writes that wait for another, or that another waits for. */
function listConnected(writes: readonly WriteView[]): readonly WriteView[] {
  const awaited = new Set(writes.flatMap(({ number, waitsFor }) => waitsFor.filter((one) => one !== number)));
  return writes.filter(({ number, waitsFor }) => awaited.has(number) || waitsFor.some((one) => one !== number));
}

function toNode({ number, waitsFor, ...write }: WriteView): GraphNode {
  return { id: number, width: toColumns(toLabel(write)) * COLUMN + 2 * PADDING, height: HEIGHT, after: waitsFor };
}

function toLabel({ id }: Pick<WriteView, 'id'>): string {
  return toClipped(id, MAX_COLUMNS);
}

interface Drawing {
  readonly byNumber: ReadonlyMap<number, WriteView>;
  readonly index: number;
}

function renderPart({ width, height, nodes, edges }: PlacedGraph, { byNumber, index }: Drawing): Html {
  const box = `0 0 ${toPixels(width)} ${toPixels(height)}`;
  return html`<div tabindex="0" role="region" aria-label="Drawing ${index + 1}"><svg xmlns="http://www.w3.org/2000/svg" role="group" aria-label="Requests, each behind those that it waits for" width="${toPixels(width)}" height="${toPixels(height)}" viewBox="${box}">
${edges.map(renderEdge)}${nodes.map((node) => renderNode(node, byNumber.get(node.id)))}</svg></div>
`;
}

function renderNode({ x, y, width, height }: PlacedNode, write: WriteView | undefined): Html | undefined {
  if (write === undefined) return undefined;
  const label = toLabel(write);
  return html`<a href="#write-${write.number}" class="${LOOKS.get(write.method) ?? 'no-op'}"><title>${write.id}: ${write.reason}</title><rect x="${toPixels(x)}" y="${toPixels(y)}" width="${toPixels(width)}" height="${height}" rx="5"/><text x="${toPixels(x + PADDING)}" y="${toPixels(y + height / 2 + 4)}">${label}</text></a>
`;
}

/** What a request does to a resource, as the colours of changes have it. */
const LOOKS: ReadonlyMap<string, string> = new Map([
  ['POST', 'create'],
  ['PUT', 'update'],
  ['PATCH', 'update'],
  ['DELETE', 'delete'],
]);

/** A line that is level at every point of its way, and the head of its arrow. */
function renderEdge({ points: [start, ...rest] }: PlacedEdge): Html | undefined {
  const end = rest.at(-1);
  if (start === undefined || end === undefined) return undefined;
  const curves = rest.map((point, index) => toCurve(rest[index - 1] ?? start, point));
  const way = `M${toPixels(start.x)} ${toPixels(start.y)}${curves.join('')}`;
  return html`<path d="${way}"/><path class="head" d="M${toPixels(end.x)} ${toPixels(end.y)}l-7 -3.5v7z"/>
`;
}

function toCurve(from: Point, to: Point): string {
  const middle = toPixels((from.x + to.x) / 2);
  return `C${middle} ${toPixels(from.y)} ${middle} ${toPixels(to.y)} ${toPixels(to.x)} ${toPixels(to.y)}`;
}

function toPixels(length: number): string {
  return String(Math.round(length * 10) / 10);
}
