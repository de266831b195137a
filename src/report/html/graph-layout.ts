import { Graph, layout } from '@dagrejs/dagre';

/** Something to place: its size, and what it comes after. */
export interface GraphNode {
  readonly id: number;
  readonly width: number;
  readonly height: number;
  /** Ids of the nodes that it comes after. */
  readonly after: readonly number[];
}

/** Where a connected part of a graph is drawn, from left to right. Lengths in pixels, places from its upper left corner. */
export interface PlacedGraph {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
}

/** A node, by its upper left corner. */
export interface PlacedNode extends GraphNode, Point {}

/** An edge: from the right side of one node to the left side of another, past what lies between. */
export interface PlacedEdge {
  readonly points: readonly Point[];
}

/** A place. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Room around a drawing, between neighbours, and between what comes first and what comes after. */
const MARGIN = 12;
const GAP = 8;
const RANK_GAP = 56;

/** Places every part of the graph in which something comes after something; what stands alone is left out. The same nodes give the same places. */
export function placeGraph(nodes: readonly GraphNode[]): readonly PlacedGraph[] {
  return listParts(nodes).map(placePart);
}

/** The connected parts, each in the order of the nodes. */
function listParts(nodes: readonly GraphNode[]): readonly (readonly GraphNode[])[] {
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

/** The nodes that are connected with one, unless they were seen before. */
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

function placePart(nodes: readonly GraphNode[]): PlacedGraph {
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

function toPlacedNode(node: GraphNode, { x = 0, y = 0 }: Partial<Point>): PlacedNode {
  return { ...node, x: x - node.width / 2, y: y - node.height / 2 };
}

/** The layout bends each edge at every rank and halfway between two; only the ranks matter to curves that leave and arrive level. */
function toPlacedEdge(from: PlacedNode, to: PlacedNode, bends: readonly Point[]): PlacedEdge {
  const start = { x: from.x + from.width, y: from.y + from.height / 2 };
  const end = { x: to.x, y: to.y + to.height / 2 };
  const between = bends.slice(1, -1).filter((_, index) => index % 2 === 1);
  return { points: [start, ...between, end] };
}
