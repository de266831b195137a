import { normalizeSpec } from '../../src/kinds/normalize.ts';
import { getKind } from '../../src/kinds/tables/registry.ts';
import type { Change, Difference } from '../../src/model/change.ts';
import type { Plan, Write } from '../../src/model/plan.ts';
import type { Spec } from '../../src/model/state.ts';
import type { TextOptions } from '../../src/report/report.ts';

/** Plans made by hand, so that what a renderer makes of a plan is seen beside the plan itself. */

export const PLAIN: TextOptions = { color: false, width: 80, verbose: false };

/** A plan of nothing, with what a test wants to see in it. */
export function makePlan(parts: Partial<Plan> = {}): Plan {
  return {
    format: 1,
    tool: { name: 'edgewise', version: '1.0.0' },
    stack: 'production',
    baseUrl: 'https://api.example.com',
    mode: 'apply',
    settings: {
      versionHeader: 'Service-Version',
      pageSize: 100,
      concurrency: 8,
      rateLimit: 'none',
      guard: { maxDeletes: 5, maxDeleteShare: 0.3 },
    },
    targets: [],
    takeOver: [],
    inputs: [],
    externals: { 'External/blue': 'bkdhr_2aaa' },
    changes: [],
    writes: [],
    diagnostics: [],
    files: [],
    violations: [],
    requests: { read: 8, apply: parts.writes?.length ?? 0, leastMs: 0 },
    ...parts,
  };
}

/** A change of `Kind/name`. */
export function makeChange(address: string, action: Change['action'], parts: Partial<Change> = {}): Change {
  return { address, kind: address.slice(0, address.indexOf('/')), action, differences: [], ...parts };
}

/** A change of `Kind/name` that starts from a live resource. */
export function makeLiveChange(
  address: string,
  action: Change['action'],
  { id, spec, ...parts }: Partial<Change> & { readonly id: string; readonly spec?: Spec },
): Change {
  const live = { id, digest: 'digest', ...(spec !== undefined && { spec: toNormal(address, spec) }) };
  return makeChange(address, action, { live, ...parts });
}

/** A difference that the manifest made. */
export function makeDifference(path: string, parts: Partial<Difference> = {}): Difference {
  return { path, origin: 'manifest', forcesReplace: false, ...parts };
}

/** A write of `<verb> Kind/name`. */
export function makeWrite(id: string, parts: Partial<Write> = {}): Write {
  const address = id.slice(id.lastIndexOf(' ') + 1);
  const kind = address.slice(0, address.indexOf('/'));
  return { id, method: 'POST', path: '/edges/tcp', address, kind, needs: [], last: false, reason: 'because', ...parts };
}

/** The normal form of a spec. */
export function toNormal(address: string, spec: Spec): Spec {
  return normalizeSpec(getKind(address.slice(0, address.indexOf('/'))), spec);
}

const POOL = 'WeightedBackend/pool';
const EDGE = 'TCPEdge/postgres';

/** One change of each action, and a difference of each sort. */
export const EVERYTHING: Plan = makePlan({
  changes: [
    makeLiveChange('TCPEdge/legacy', 'delete', {
      id: 'edgtcp_2aaa',
      reason: 'not in the manifests any more',
      spec: {
        description: 'The old one',
        hostports: ['1.tcp.example.net:20009'],
        backend: { backend_id: 'bkdwd_2aaa' },
      },
    }),
    makeLiveChange('WeightedBackend/old-pool', 'delete', {
      id: 'bkdwd_2aaa',
      reason: 'not in the manifests any more',
      spec: { backends: { bkdhr_2aaa: 100 } },
    }),
    makeLiveChange('SSHUserCertificate/alice', 'replace', {
      id: 'sucrt_2abc',
      differences: [
        makeDifference('principals', { from: ['alice'], to: ['deploy'], forcesReplace: true }),
        makeDifference('extensions.permit-pty', { from: '', forcesReplace: true }),
        makeDifference('critical_options.force-command', { to: '', forcesReplace: true, origin: 'both' }),
      ],
    }),
    makeLiveChange('Credential/agent', 'replace', {
      id: 'cr_2abc',
      reason: 'its token was never delivered, so nobody can have it',
      notes: ['its token goes to the folder ./tokens'],
      desired: toNormal('Credential/agent', { acl: ['bind:*.example.com'] }),
    }),
    makeLiveChange('HTTPSEdgeRoute/api', 'update', {
      id: 'edghtsrt_2abc',
      differences: [
        makeDifference('circuit_breaker', {
          from: { enabled: true, tripped_duration: 30, rolling_window: 60, num_buckets: 0, volume_threshold: 20 },
          origin: 'unknown',
        }),
        makeDifference('request_headers', {
          to: { enabled: true, add: { 'x-environment': 'production', 'x.y': '' }, remove: ['x-debug'] },
          origin: 'unknown',
        }),
      ],
    }),
    makeLiveChange(EDGE, 'update', {
      id: 'edgtcp_2def',
      protect: true,
      differences: [
        makeDifference('description', { from: 'old', to: 'new', origin: 'both' }),
        makeDifference('metadata.team', { from: 'data', to: 'platform' }),
        makeDifference('hostports', {
          from: ['1.tcp.example.net:20001', '1.tcp.example.net:20003', '1.tcp.example.net:20004'],
          to: ['1.tcp.example.net:20002', '1.tcp.example.net:20003', '1.tcp.example.net:20004'],
        }),
        makeDifference('backend.backend_id', { from: 'bkdwd_2aaa', to: POOL }),
        makeDifference('policy.inbound[0].expressions', {
          from: ['conn.client_ip.startsWith("10.")'],
          to: ['conn.client_ip.startsWith("10.")', 'conn.geo.country_code == "NL"'],
          origin: 'drift',
        }),
        makeDifference('policy.inbound[1]', {
          to: { name: 'deny the rest', expressions: [], actions: [{ type: 'deny', config: null }] },
        }),
        makeDifference('lifecycle.protect', { from: false, to: true }),
      ],
    }),
    makeLiveChange('IPRestriction/api', 'adopt', {
      id: 'ipx_2abc',
      differences: [makeDifference('enforced', { from: false, to: true, origin: 'unknown' })],
    }),
    makeChange(POOL, 'create', {
      desired: toNormal(POOL, { backends: { bkdhr_2aaa: 80, bkdhr_2bbb: 20 }, metadata: { team: 'data' } }),
    }),
    makeChange('TCPEdge/redis', 'create', {
      desired: toNormal('TCPEdge/redis', {
        description: 'Redis\nfor everybody',
        hostports: ['1.tcp.example.net:20007'],
        backend: { backend_id: POOL },
        ip_restriction: { ip_policy_ids: ['ipp_2abc'], enabled: false },
        policy: { inbound: [{ actions: [{ type: 'restrict-ips', config: { ip_policies: ['ipp_2abc'] } }] }] },
      }),
    }),
    makeLiveChange('TCPEdge/mysql', 'no-op', { id: 'edgtcp_2ghi' }),
    makeLiveChange('TCPEdge/kafka', 'no-op', { id: 'edgtcp_2jkl' }),
  ],
  writes: [
    makeWrite(`create ${POOL}`, { path: '/backends/weighted', reason: 'makes the weighted backend' }),
    makeWrite(`update ${EDGE}`, {
      method: 'PATCH',
      path: '/edges/tcp/edgtcp_2def',
      needs: [`create ${POOL}`],
      reason: 'sets description, metadata, hostports, backend, policy and records that the resource is protected',
    }),
    makeWrite('delete TCPEdge/legacy', {
      method: 'DELETE',
      path: '/edges/tcp/edgtcp_2aaa',
      reason: 'not in the manifests any more',
    }),
    makeWrite('delete WeightedBackend/old-pool', {
      method: 'DELETE',
      path: '/backends/weighted/bkdwd_2aaa',
      needs: [`update ${EDGE}`, 'delete TCPEdge/legacy'],
      reason: 'not in the manifests any more',
    }),
    makeWrite('update IPRestriction/api', {
      method: 'PATCH',
      path: '/ip_restrictions/ipx_2abc',
      last: true,
      reason: 'marks it as ours and sets enforced',
    }),
  ],
  settings: {
    versionHeader: 'Service-Version',
    pageSize: 100,
    concurrency: 8,
    rateLimit: 'none',
    guard: { maxDeletes: 5, maxDeleteShare: 0.3 },
  },
  diagnostics: [
    {
      code: 'lockout',
      severity: 'warning',
      message: 'IPRestriction/api will be enforced, and may lock the caller of this very apply out',
      remedy: 'Check that its IP policies hold the address that edgewise runs on.',
      address: 'IPRestriction/api',
    },
  ],
  violations: [
    {
      rule: 'delete-share',
      message: 'This plan would delete 12 of 20 TCPEdge (60 %). More than 5 that are also over 30 % need consent.',
      remedy: 'If that is meant, use --allow-deletes. The limits are spec.guard in the Stack.',
      addresses: Array.from({ length: 12 }, (_, index) => `TCPEdge/legacy-${index + 1}`),
    },
    {
      rule: 'protect',
      message: 'TCPEdge/legacy is protected, and this plan would delete it.',
      remedy:
        'Set lifecycle.protect: false in its manifest and apply that first, or allow it with --allow-protected TCPEdge/legacy.',
      addresses: ['TCPEdge/legacy'],
    },
  ],
});
