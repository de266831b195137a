import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createHeaders } from '../by-hand.ts';
import { createWorkspace, STACK, toEdge } from '../cli/workspace.ts';

/** Metrics of different stacks, as a file or a Pushgateway contains them. */
export interface MetricsSamples {
  readonly healthy: string;
  readonly drifted: string;
  /** A change of another user that is a danger. */
  readonly dangerous: string;
  readonly unapplied: string;
  readonly failed: string;
  readonly old: string;
  /** A certificate that expires soon, with its warning. */
  readonly ending: string;
}

/** The labels that each metric has. */
export type Metrics = ReadonlyMap<string, ReadonlySet<string>>;

const HOUR_MS = 3_600_000;
const WITH_EDGES = `${STACK}${toEdge('a', 20001)}${toEdge('b', 20002)}`;
const WITH_CERTIFICATE = `${WITH_EDGES}---
apiVersion: edgewise/v1
kind: SSHUserCertificate
metadata: { name: ci }
spec:
  ssh_certificate_authority_id: sshca_1
  public_key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHUoPzRJWuvSBQPtIqRxZ2ps5bJ0c0uWEb2Pb0xXqWQd
  principals: [ci]
`;

/** Writes metrics with the command line in several situations. */
export async function sampleMetrics(): Promise<MetricsSamples> {
  const now = Date.now();
  return {
    healthy: await writeMetrics(now, { apply: true }),
    drifted: await writeMetrics(now, { apply: true, byHand: { description: 'by hand' } }),
    dangerous: await writeMetrics(now, { apply: true, byHand: { hostports: [] } }),
    unapplied: await writeMetrics(now, {}),
    failed: await writeMetrics(now, { status: 401 }),
    old: await writeMetrics(now - 4 * HOUR_MS, { apply: true }),
    ending: await writeMetrics(now, { manifest: WITH_CERTIFICATE, apply: true, appliedMs: now - 23 * HOUR_MS }),
  };
}

/** Lists every metric that is ever written. */
export function listMetrics(samples: MetricsSamples): Metrics {
  const metrics = new Map<string, Set<string>>();
  for (const line of Object.values(samples).flatMap((text) => text.split('\n'))) {
    const [, name, labels = ''] = /^(\w+)(?:\{(.*)\})? /.exec(line) ?? [];
    if (name === undefined) continue;
    const known = metrics.get(name) ?? new Set();
    metrics.set(name, known);
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) known.add(label);
  }
  return metrics;
}

interface Circumstances {
  readonly manifest?: string;
  readonly apply?: boolean;
  readonly appliedMs?: number;
  /** The change of another user at the service. */
  readonly byHand?: object;
  /** The status with which the service responds to the comparison. */
  readonly status?: number;
}

async function writeMetrics(nowMs: number, circumstances: Circumstances): Promise<string> {
  const { manifest = WITH_EDGES, apply = false, appliedMs = nowMs, byHand, status } = circumstances;
  let clockMs = appliedMs;
  const now = (): Date => new Date(clockMs);
  const { folder, edgewise, server } = await createWorkspace({ 'edgewise.yaml': manifest }, { now });
  const change = (method: string, path: string, body: object) =>
    server.handle(new Request(`https://api.test${path}`, { method, headers: HEADERS, body: JSON.stringify(body) }));
  if (apply) await edgewise('apply edgewise.yaml --yes', { now });
  const [edge] = server.snapshot().resources['TCPEdge'] ?? [];
  if (byHand !== undefined) await change('PATCH', `/edges/tcp/${edge?.['id']}`, byHand);
  // A resource of another user, so that the account has unmanaged resources.
  await change('POST', '/edges/tcp', {});
  clockMs = nowMs;
  const refuse = async (): Promise<Response> => Response.json({ msg: 'no' }, { status: status ?? 500 });
  const options = {
    now,
    env: { EDGEWISE_API_KEY_PRODUCTION: 'dev' },
    ...(status !== undefined && { transport: refuse }),
  };
  await edgewise('drift edgewise.yaml --key-env EDGEWISE_API_KEY_PRODUCTION --report metrics=stack.prom', options);
  return readFile(join(folder, 'stack.prom'), 'utf8');
}

const HEADERS = createHeaders();
