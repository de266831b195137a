import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Documents in one file: as many as a person would still scroll through. */
const EDGES_PER_FILE = 50;

/** Edges that share a weighted backend. */
const EDGES_PER_POOL = 20;

/** Settings of one of several stacks with these manifests. */
export interface BenchStack {
  readonly name?: string;
  /** The number of its first edge: no two stacks of an account have the same edges. */
  readonly first?: number;
  readonly baseUrl?: string;
}

/** Writes the manifests of that many TCP edges, each with a backend and an IP restriction module, and of the weighted backends. */
export function writeManifests(
  folder: string,
  edges: number,
  { name = 'bench', first = 0, baseUrl }: BenchStack = {},
): void {
  const spec = baseUrl === undefined ? '' : `spec: { api: { base_url: "${baseUrl}" } }\n`;
  const stack = `apiVersion: edgewise/v1\nkind: Stack\nmetadata: { name: ${name} }\n${spec}`;
  writeFileSync(join(folder, 'edgewise.yaml'), stack);
  const documents = Array.from({ length: edges }, (_, index) => renderTenant(index, first));
  for (let start = 0; start < edges; start += EDGES_PER_FILE) {
    const file = join(folder, `edges-${String(start).padStart(5, '0')}.yaml`);
    writeFileSync(file, documents.slice(start, start + EDGES_PER_FILE).join('---\n'));
  }
}

/** Writes the manifests of that many credentials, whose tokens go to a folder beside them. */
export function writeCredentials(folder: string, count: number): void {
  const settings = 'spec: { tokens: { default: { directory: tokens } } }\n';
  const stack = `apiVersion: edgewise/v1\nkind: Stack\nmetadata: { name: bench }\n${settings}`;
  const documents = Array.from({ length: count }, (_, index) => renderCredential(toNumber(index)));
  writeFileSync(join(folder, 'edgewise.yaml'), [stack, ...documents].join('---\n'));
}

/** Returns the number of weighted backends for that many edges. */
export function countPools(edges: number): number {
  return Math.ceil(edges / EDGES_PER_POOL);
}

function renderTenant(index: number, first: number): string {
  const pool = toNumber(first + index - (index % EDGES_PER_POOL));
  const edge = renderEdge(toNumber(first + index), pool);
  return index % EDGES_PER_POOL === 0 ? `${renderPool(pool)}---\n${edge}` : edge;
}

function toNumber(index: number): string {
  return String(index).padStart(5, '0');
}

function renderCredential(number: string): string {
  return `apiVersion: edgewise/v1
kind: Credential
metadata: { name: agent-${number} }
spec: { description: Agent of tenant ${number} }
`;
}

function renderPool(number: string): string {
  return `apiVersion: edgewise/v1
kind: WeightedBackend
metadata: { name: pool-${number} }
spec:
  description: Old and new database servers of group ${number}
  metadata: { team: data, group: "${number}" }
  backends: { bkdtg_2q${number}BlueBlueBlueBlueBlue: 90, bkdtg_2q${number}GreenGreenGreenGree: 10 }
`;
}

function renderEdge(number: string, pool: string): string {
  return `apiVersion: edgewise/v1
kind: TCPEdge
metadata: { name: postgres-${number} }
spec:
  description: Postgres of tenant ${number}
  metadata: { team: data, tenant: "${number}" }
  hostports: ["${number}.tcp.example.net:5432"]
  backend: { backend_id: WeightedBackend/pool-${pool} }
  ip_restriction: { ip_policy_ids: [ipp_2qOfficeOfficeOfficeOfficeOf, ipp_2qBastionBastionBastionBast] }
`;
}
