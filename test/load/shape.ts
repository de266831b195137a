import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import { parseRateLimit, toLeastMs } from '../../src/model/rate-limit.ts';
import { countEdges, countPools, writeManifests } from '../bench/manifests.ts';

/** How resources are divided: evenly among stacks, and the stacks among accounts. */
export interface Shape {
  readonly stacks: number;
  readonly accounts: number;
  /** Of all stacks together. */
  readonly resources: number;
}

/** What is done with a repository, one after another. */
export const COMMANDS = ['plan, all new', 'apply', 'plan, unchanged'] as const;
export type Command = (typeof COMMANDS)[number];

/** Writes a repository: a folder for each stack, which says whose account it is in. */
export function writeRepository(root: string, { stacks, resources }: Shape, urls: readonly string[]): void {
  const edges = countEdges(resources / stacks);
  for (let index = 0; index < stacks; index += 1) {
    const name = `stack-${String(index).padStart(3, '0')}`;
    const folder = join(root, name);
    mkdirSync(folder, { recursive: true });
    writeManifests(folder, edges, { name, first: index * edges, baseUrl: urls[index % urls.length] ?? '' });
  }
}

/** A list is read page by page. */
const PAGE_SIZE = 100;

/**
 * The least requests that a command can take: each account is read once, each resource is written once, and what two applies could both have
 * created is listed once behind the writes.
 */
export function countLeast({ stacks, accounts, resources }: Shape, command: Command): number {
  const edges = countEdges(resources / stacks);
  const pools = countPools(edges);
  const perAccount = stacks / accounts;
  const [edgePages, poolPages] = [edges, pools].map((count) =>
    Math.max(1, Math.ceil((count * perAccount) / PAGE_SIZE)),
  );
  const reads = (command === 'plan, unchanged' ? (edgePages ?? 1) + (poolPages ?? 1) : 2) + OWNED_KINDS.length - 2;
  const writes = command === 'apply' ? (edges + pools) * perAccount + (poolPages ?? 1) : 0;
  return (reads + writes) * accounts;
}

/** What a limit of services makes of requests that are divided evenly among accounts. */
export function toMinutes(requests: number, { accounts }: Pick<Shape, 'accounts'>): number {
  const limit = parseRateLimit('120/60s');
  if (limit === undefined) throw new RangeError('120/60s is no rate limit');
  return toLeastMs(Math.ceil(requests / accounts), limit) / 60_000;
}
