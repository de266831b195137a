import { Graph, layout } from '@dagrejs/dagre';
import { clipToColumns, countColumns } from '../view/escape.ts';
import type { WriteView } from '../view/plan-view.ts';
import { formatCount } from '../view/wording.ts';
import { type Html, html } from './node.ts';

/** The maximum numbers of writes and dependencies in a graph. A larger graph takes seconds to lay out. */
const MAX_WRITES = 150;
const MAX_WAITS = 200;

/**
 * The size of a label: in pixels, the width of one column of its text, its height, and its side padding; then the
 * maximum number of columns of its text.
 */
const COLUMN = 7.25;
const HEIGHT = 26;
const PADDING = 10;
const MAX_COLUMNS = 44;

/**
 * The graph of dependencies between writes, drawn from left to right. Each write links to its row in the list of
 * requests. Undefined if no write depends on another.
 */
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
${placeGraph(drawn.map(createNode)).map((part, index) => renderPart(part, { byNumber, index }))}</div>
${rest.length === 0 ? '' : html`<p class="note">Not drawn: ${rest.join('; ')}.</p>\n`}`;
}

function listRest(alone: readonly WriteView[]): readonly string[] {
  const last = alone.filter((write) => write.last).length;
  const free = alone.length - last;
  return [
    ...(free === 0 ? [] : [`${formatCount(free, 'request')} without a dependency`]),
    ...(last === 0 ? [] : [`${formatCount(last, 'request')} after all others`]),
  ];
}

/** The writes that depend on another write, or that another write depends on. */
function listConnected(writes: readonly WriteView[]): readonly WriteView[] {
  const awaited = new Set(writes.flatMap(({ number, waitsFor }) => waitsFor.filter((one) => one !== number)));
  return writes.filter(({ number, waitsFor }) => awaited.has(number) || waitsFor.some((one) => one !== number));
}

function createNode({ number, waitsFor, ...write }: WriteView): UnplacedNode {
  return {
    id: number,
    width: countColumns(formatLabel(write)) * COLUMN + 2 * PADDING,
    height: HEIGHT,
    after: waitsFor,
  };
}

function formatLabel({ id }: Pick<WriteView, 'id'>): string {
  return clipToColumns(id, MAX_COLUMNS);
}

interface Drawing {
  readonly byNumber: ReadonlyMap<number, WriteView>;
  readonly index: number;
}

function renderPart({ width, height, nodes, edges }: PlacedGraph, { byNumber, index }: Drawing): Html {
  const box = `0 0 ${formatPixels(width)} ${formatPixels(height)}`;
  return html`<div tabindex="0" role="region" aria-label="Drawing ${index + 1}"><svg xmlns="http://www.w3.org/2000/svg" role="group" aria-label="Requests, each behind those that it waits for" width="${formatPixels(width)}" height="${formatPixels(height)}" viewBox="${box}">
${edges.map(renderEdge)}${nodes.map((node) => renderNode(node, byNumber.get(node.id)))}</svg></div>
`;
}

function renderNode({ x, y, width, height }: PlacedNode, write: WriteView | undefined): Html | undefined {
  if (write === undefined) return undefined;
  const label = formatLabel(write);
  return html`<a href="#write-${write.number}" class="${LOOKS.get(write.method) ?? 'no-op'}"><title>${write.id}: ${write.reason}</title><rect x="${formatPixels(x)}" y="${formatPixels(y)}" width="${formatPixels(width)}" height="${height}" rx="5"/><text x="${formatPixels(x + PADDING)}" y="${formatPixels(y + height / 2 + 4)}">${label}</text></a>
`;
}

/** Maps an HTTP method to the CSS class that sets the colour of the matching action. */
const LOOKS: ReadonlyMap<string, string> = new Map([
  ['POST', 'create'],
  ['PUT', 'update'],
  ['PATCH', 'update'],
  ['DELETE', 'delete'],
]);

/** An edge as a curve with an arrowhead. The curve is horizontal at its start, at its end, and at each bend. */
function renderEdge({ points: [start, ...rest] }: PlacedEdge): Html | undefined {
  const end = rest.at(-1);
  if (start === undefined || end === undefined) return undefined;
  const curves = rest.map((point, index) => formatCurve(rest[index - 1] ?? start, point));
  const way = `M${formatPixels(start.x)} ${formatPixels(start.y)}${curves.join('')}`;
  return html`<path d="${way}"/><path class="head" d="M${formatPixels(end.x)} ${formatPixels(end.y)}l-7 -3.5v7z"/>
`;
}

function formatCurve(from: Point, to: Point): string {
  const middle = formatPixels((from.x + to.x) / 2);
  return `C${middle} ${formatPixels(from.y)} ${middle} ${formatPixels(to.y)} ${formatPixels(to.x)} ${formatPixels(to.y)}`;
}

function formatPixels(length: number): string {
  return String(Math.round(length * 10) / 10);
}

export interface UnplacedNode {
  readonly id: number;
  readonly width: number;
  readonly height: number;
  /** The ids of the nodes with an edge to this node. */
  readonly after: readonly number[];
}

/** The layout of a connected part of a graph, from left to right, in pixels from the part's upper left corner. */
interface PlacedGraph {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
}

/** A node with the position of its upper left corner. */
export interface PlacedNode extends UnplacedNode, Point {}

/** An edge from the right side of one node to the left side of another node. It bends around the nodes in between. */
interface PlacedEdge {
  readonly points: readonly Point[];
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Spaces in pixels: around a drawing, between nodes of the same rank, and between ranks. */
const MARGIN = 12;
const GAP = 8;
const RANK_GAP = 56;

/** Lays out each connected part of the graph. Omits isolated nodes. The same nodes always get the same positions. */
export function placeGraph(nodes: readonly UnplacedNode[]): readonly PlacedGraph[] {
  return listParts(nodes).map(placePart);
}

/** The connected parts with more than one node. The nodes of each part keep the order of `nodes`. */
function listParts(nodes: readonly UnplacedNode[]): readonly (readonly UnplacedNode[])[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const neighbours = new Map<number, number[]>(nodes.map(({ id }) => [id, []]));
  for (const { id, after } of nodes) {
    for (const before of after.filter((one) => one !== id && byId.has(one))) {
      neighbours.get(id)?.push(before);
      neighbours.get(before)?.push(id);
    }
  }
  const seen = new Set<number>();
  const parts = nodes.map(({ id }) => collect(id, neighbours, seen));
  return parts.filter(({ size }) => size > 1).map((part) => nodes.filter(({ id }) => part.has(id)));
}

/** Returns `start` and all nodes connected with it, and adds them to `seen`. Returns nothing if `seen` has `start`. */
function collect(
  start: number,
  neighbours: ReadonlyMap<number, readonly number[]>,
  seen: Set<number>,
): ReadonlySet<number> {
  const found = new Set<number>();
  const open = seen.has(start) ? [] : [start];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    seen.add(id);
    found.add(id);
    open.push(...(neighbours.get(id) ?? []).filter((next) => !found.has(next)));
  }
  return found;
}

function placePart(nodes: readonly UnplacedNode[]): PlacedGraph {
  const graph = new Graph();
  graph.setGraph({
    rankdir: 'LR',
    rankalign: 'top',
    nodesep: GAP,
    ranksep: RANK_GAP,
    marginx: MARGIN,
    marginy: MARGIN,
  });
  for (const { id, width, height } of nodes) graph.setNode(String(id), { width, height });
  for (const { id, after } of nodes) {
    const known = after.filter((before) => before !== id && graph.hasNode(String(before)));
    for (const before of known) graph.setEdge(String(before), String(id), {});
  }
  layout(graph);
  const { width = 0, height = 0 }: { readonly width?: number; readonly height?: number } = graph.graph();
  const placed = new Map(nodes.map((node) => [String(node.id), toPlacedNode(node, graph.node(String(node.id)))]));
  const found: readonly { readonly v: string; readonly w: string }[] = graph.edges();
  const edges = found.flatMap((edge): readonly PlacedEdge[] => {
    const [from, to] = [placed.get(edge.v), placed.get(edge.w)];
    const { points = [] }: { readonly points?: readonly Point[] } = graph.edge(edge);
    return from === undefined || to === undefined ? [] : [toPlacedEdge(from, to, points)];
  });
  return { width, height, nodes: [...placed.values()], edges };
}

function toPlacedNode(node: UnplacedNode, { x = 0, y = 0 }: Partial<Point>): PlacedNode {
  return { ...node, x: x - node.width / 2, y: y - node.height / 2 };
}

/**
 * Dagre bends each edge at every rank and halfway between ranks. Omits the bends halfway between ranks, because
 * `renderEdge` would make the curve horizontal there.
 */
function toPlacedEdge(from: PlacedNode, to: PlacedNode, bends: readonly Point[]): PlacedEdge {
  const start = { x: from.x + from.width, y: from.y + from.height / 2 };
  const end = { x: to.x, y: to.y + to.height / 2 };
  const between = bends.slice(1, -1).filter((_, index) => index % 2 === 1);
  return { points: [start, ...between, end] };
}
