import { createWorkspace, toManifest, type Workspace } from '../cli/workspace.ts';
import { toStack } from '../repository/tree.ts';

/**
 * Repositories of a few stacks, small enough to list every state. Each pool belongs to a stack. Each stack has an edge for each pool of another
 * stack that it sends traffic to, and a gate, which may have one of a few hostports.
 */
export interface Repository {
  /** Names of the stacks. */
  readonly stacks: readonly string[];
  /** The stack of each pool. A pool that is left out does not exist. */
  readonly homes: Readonly<Record<string, string>>;
  /** By stack: the pools that it sends traffic to. */
  readonly uses: Readonly<Record<string, readonly string[]>>;
  /** By stack: the port of its gate. Absent: it has no gate. */
  readonly ports?: Readonly<Record<string, number>>;
  /** By stack: the description of its pools and edges. */
  readonly texts?: Readonly<Record<string, string>>;
}

const NAMES = ['a', 'b', 'c', 'd'] as const;

/** References between stacks as pairs, without a circle. */
export type Graph = readonly (readonly [user: string, used: string])[];

/** Lists every graph without a circle of that many stacks. */
export function listGraphs(count: number): readonly Graph[] {
  const stacks = NAMES.slice(0, count);
  const edges = stacks.flatMap((user) => stacks.filter((used) => used !== user).map((used) => [user, used] as const));
  return listSubsets(edges).filter((graph) => !hasCircle(graph, stacks));
}

/** Lists one graph of each shape: graphs that differ only in names of stacks count once. The names differ from shape to shape. */
export function listShapes(count: number): readonly Graph[] {
  const shapes = Map.groupBy(listGraphs(count), (graph) => toShape(graph, NAMES.slice(0, count)));
  return [...shapes.values()].flatMap((graphs, index) => graphs.slice((index * 7) % graphs.length).slice(0, 1));
}

/** The same text for graphs that differ only in names. */
function toShape(graph: Graph, stacks: readonly string[]): string {
  const texts = listOrders(stacks).map((order) =>
    graph
      .map((pair) => pair.map((name) => order.indexOf(name)).join())
      .sort()
      .join(' '),
  );
  return texts.sort()[0] ?? '';
}

function listOrders(list: readonly string[]): readonly (readonly string[])[] {
  if (list.length === 0) return [[]];
  return list.flatMap((one) => listOrders(list.filter((other) => other !== one)).map((rest) => [one, ...rest]));
}

/** Every subset of a list. */
export function listSubsets<T>(list: readonly T[]): readonly (readonly T[])[] {
  return Array.from({ length: 2 ** list.length }, (_, bits) => list.filter((__, at) => (bits >> at) % 2 === 1));
}

function hasCircle(graph: Graph, stacks: readonly string[]): boolean {
  let left: readonly string[] = stacks;
  for (;;) {
    const free = left.filter((one) => !graph.some(([user, used]) => user === one && left.includes(used)));
    if (free.length === 0) return left.length > 0;
    left = left.filter((one) => !free.includes(one));
  }
}

/** Creates a repository in which each stack has a pool, `pool-a` of a, and sends traffic as the graph says. */
export function toRepository(count: number, graph: Graph): Repository {
  const stacks = NAMES.slice(0, count);
  return {
    stacks,
    homes: Object.fromEntries(stacks.map((name) => [`pool-${name}`, name])),
    uses: Object.fromEntries(
      stacks.map((name) => [name, graph.flatMap(([user, used]) => (user === name ? [`pool-${used}`] : []))]),
    ),
  };
}

/** Whether the references between stacks form no circle. */
export function hasNoCircle({ stacks, homes, uses }: Repository): boolean {
  const graph = stacks.flatMap((user) =>
    (uses[user] ?? []).flatMap((pool) => {
      const used = homes[pool];
      return used === undefined || used === user ? [] : [[user, used] as const];
    }),
  );
  return !hasCircle(graph, stacks);
}

/** Renders the files of a repository. Pools that belonged to another stack before are taken over. */
export function toFiles(repository: Repository, before?: Repository): Readonly<Record<string, string>> {
  return Object.fromEntries(
    repository.stacks.map((name) => [`live/${name}/edgewise.yaml`, renderStack(name, repository, before)]),
  );
}

function renderStack(name: string, repository: Repository, before: Repository | undefined): string {
  const { homes, uses, ports = {}, texts = {} } = repository;
  const description = texts[name] ?? '';
  const pools = Object.keys(homes).filter((pool) => homes[pool] === name);
  const origins = new Map(Object.entries(before?.homes ?? {}));
  const used = uses[name] ?? [];
  const port = ports[name];
  return [
    toStack(name),
    ...pools.map((pool) => {
      const origin = origins.get(pool);
      const isTaken = origin !== undefined && origin !== name;
      const lifecycle = isTaken ? { lifecycle: { renamed_from: { stack: origin, name: pool } } } : {};
      return toManifest('WeightedBackend', pool, { description, backends: { bkdhr_1: 1 } }, lifecycle);
    }),
    ...used.flatMap((pool) => {
      const home = homes[pool];
      const id = home === name ? `WeightedBackend/${pool}` : `External/${pool}`;
      return [
        ...(home === name || home === undefined
          ? []
          : [toManifest('External', pool, { stack: home, resource: `WeightedBackend/${pool}` })]),
        toManifest('TCPEdge', `to-${pool}`, { description, backend: { backend_id: id } }),
      ];
    }),
    ...(port === undefined ? [] : [toManifest('TCPEdge', 'gate', { hostports: [`1.tcp.example.net:${port}`] })]),
  ].join('');
}

/** Creates a workspace in which a repository is applied. */
export async function createRepositoryWorkspace(repository: Repository): Promise<Workspace> {
  const workspace = await createWorkspace(toFiles(repository));
  await applyUntilDone(workspace, 1);
  return workspace;
}

/**
 * Applies all stacks until nothing is left to do. Returns the number of applies. Throws if that takes more than `most`, if an apply makes no
 * write, or if one ends without its report. `isSaved`: from plan files.
 */
export async function applyUntilDone(
  { edgewise, recorder }: Workspace,
  most: number,
  { isSaved = false }: { readonly isSaved?: boolean } = {},
): Promise<number> {
  const shown: string[] = [];
  for (let round = 1; round <= most; round += 1) {
    recorder.take();
    if (isSaved) await edgewise('plan -R live -o plans --allow-deletes');
    const what = isSaved ? '-R live --approved plans' : '-R live';
    const { stdout, exitCode, stderr } = await edgewise(`apply ${what} --yes --allow-deletes`);
    shown.push(`exit code ${exitCode}\n${stdout}${stderr}`);
    if (!/^\d+ stacks? below live\./m.test(stdout)) throw new Error(`There is no report:\n${shown.join('\n')}`);
    if ((await edgewise('plan -R live --detailed-exitcode --no-rehearsal')).exitCode === 0) return round;
    if (recorder.take().every(({ method }) => method === 'GET')) break;
  }
  throw new Error(`Something is left:\n${shown.join('\n')}`);
}

/** Describes the live state without ids: each resource as `stack/name`, with its pool and its port. */
export function describeLive({ server }: Workspace): readonly string[] {
  const { TCPEdge: edges = [], WeightedBackend: pools = [] } = server.snapshot().resources ?? {};
  const names = new Map([...edges, ...pools].map(({ id, metadata }) => [id, readMark(metadata)]));
  return [
    ...pools.map(({ id }) => String(names.get(id))),
    ...edges.map(({ id, backend, hostports }) => {
      const { backend_id: used } = toObject(backend);
      const ports = Array.isArray(hostports) ? hostports.join(' ') : '';
      return `${names.get(id)} -> ${names.get(String(used)) ?? ports}`;
    }),
  ].sort();
}

/** Describes a repository in the same way. */
export function describeWanted({ stacks, homes, uses, ports = {} }: Repository): readonly string[] {
  return [
    ...Object.entries(homes).map(([pool, home]) => `${home}/${pool}`),
    ...stacks.flatMap((name) => (uses[name] ?? []).map((pool) => `${name}/to-${pool} -> ${homes[pool]}/${pool}`)),
    ...stacks.flatMap((name) =>
      ports[name] === undefined ? [] : [`${name}/gate -> 1.tcp.example.net:${ports[name]}`],
    ),
  ].sort();
}

function readMark(metadata: unknown): string {
  const { stack, name } = toObject(toObject(JSON.parse(String(metadata)))['edgewise']);
  return `${stack}/${name}`;
}

function toObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
