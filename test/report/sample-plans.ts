import { AS_WRITTEN, canonical } from '../../src/kinds/canonical.ts';
import { getKind } from '../../src/kinds/tables/registry.ts';
import type { Address } from '../../src/model/address.ts';
import type { Change, Difference } from '../../src/model/change.ts';
import { parsePath } from '../../src/model/field-path.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { MarkDraft } from '../../src/model/mark.ts';
import { PLAN_FORMAT, type Plan } from '../../src/model/plan.ts';
import type { Spec } from '../../src/model/state.ts';
import { toWriteId, type Write, type WriteId } from '../../src/model/write.ts';
import type { TextStyleOptions } from '../../src/report/report.ts';

/** Plans as literals, so that a test shows a plan beside its report. */

export const PLAIN: TextStyleOptions = { color: false, width: 80, verbose: false };

/** A plan without changes, with these members. */
export function createPlan(parts: Partial<Plan> = {}): Plan {
  return {
    format: PLAN_FORMAT,
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
    options: { rotate: [], retire: [] },
    targets: [],
    takeOver: [],
    inputs: [],
    externals: { 'External/blue': 'bkdhr_2aaa' },
    changes: [],
    writes: [],
    diagnostics: [],
    violations: [],
    requests: { read: 8, apply: parts.writes?.length ?? 0, leastMs: 0 },
    ...parts,
  };
}

/** A change of `Kind/name`. */
export function createChange(address: Address, action: Change['action'], parts: Partial<Change> = {}): Change {
  return { address, kind: toKindName(address), action, differences: [], ...parts };
}

/** A change of `Kind/name` that starts from a live resource. */
export function createLiveChange(
  address: Address,
  action: Change['action'],
  { id, spec, ...parts }: Partial<Change> & { readonly id: string; readonly spec?: Spec },
): Change {
  const live = { id, ...(spec !== undefined && { spec: toNormal(address, spec) }) };
  return createChange(address, action, { live, ...parts });
}

/** A difference that a manifest change caused. */
export function createDifference(path: string, parts: Partial<Difference> = {}): Difference {
  const [field] = parsePath(path) ?? [];
  const isOfSpec = typeof field === 'string' && field !== 'lifecycle' && field !== 'mark';
  return { ...(isOfSpec && { field }), path, origin: 'manifest', forcesReplace: false, ...parts };
}

/** Optional members of a write. */
export interface WriteParts extends Partial<Pick<Write, 'dependsOn' | 'last' | 'reason'>> {
  readonly resourceId?: string;
  readonly body?: JsonObject;
  readonly mark?: MarkDraft;
}

/** A write that does something to `Kind/name`. */
export function createWrite(
  purpose: 'create' | 'update' | 'adopt' | 'delete',
  address: Address,
  { resourceId = 'edgtcp_2a', body = {}, mark = MARK, ...parts }: WriteParts = {},
): Write {
  const target = purpose === 'create' ? {} : { ids: { id: resourceId } };
  const content = purpose === 'delete' ? {} : { body, mark };
  const base = { address, kind: toKindName(address), dependsOn: [], last: false, reason: 'because', ...parts };
  return { id: toWriteId({ purpose, address }), purpose, method: METHODS[purpose], ...target, ...content, ...base };
}

const METHODS = { create: 'POST', update: 'PATCH', adopt: 'PATCH', delete: 'DELETE' } as const;

/** The write ids of creates. */
export function toCreateIds(...addresses: readonly Address[]): readonly WriteId[] {
  return addresses.map((address) => toWriteId({ purpose: 'create', address }));
}

const MARK: MarkDraft = { stack: 's', name: 'a', protect: false, delivered: false, user: '', fields: {}, pending: {} };

function toKindName(address: Address): string {
  return address.slice(0, address.indexOf('/'));
}

/** The normal form of a spec. */
export function toNormal(address: Address, spec: Spec): Spec {
  return canonical(getKind(toKindName(address)), spec, AS_WRITTEN);
}

const POOL = 'WeightedBackend/pool';
const EDGE = 'TCPEdge/postgres';

/** One change of each action, and a difference of each sort. */
export const EVERYTHING: Plan = createPlan({
  changes: [
    createLiveChange('TCPEdge/legacy', 'delete', {
      id: 'edgtcp_2aaa',
      reason: 'no longer in the manifests',
      spec: {
        description: 'The old one',
        hostports: ['1.tcp.example.net:20009'],
        backend: { backend_id: 'bkdwd_2aaa' },
      },
    }),
    createLiveChange('WeightedBackend/old-pool', 'delete', {
      id: 'bkdwd_2aaa',
      reason: 'no longer in the manifests',
      spec: { backends: { bkdhr_2aaa: 100 } },
    }),
    createLiveChange('SSHUserCertificate/alice', 'replace', {
      id: 'sucrt_2abc',
      differences: [
        createDifference('principals', { from: ['alice'], to: ['deploy'], forcesReplace: true }),
        createDifference('extensions.permit-pty', { from: '', forcesReplace: true }),
        createDifference('critical_options.force-command', { to: '', forcesReplace: true, origin: 'both' }),
      ],
    }),
    createLiveChange('Credential/agent', 'replace', {
      id: 'cr_2abc',
      reason: 'its token was never delivered, so nobody can have it',
      token: { directory: './tokens' },
      desired: toNormal('Credential/agent', { acl: ['bind:*.example.com'] }),
    }),
    createLiveChange('HTTPSEdgeRoute/api', 'update', {
      id: 'edghtsrt_2abc',
      differences: [
        createDifference('circuit_breaker', {
          from: { enabled: true, tripped_duration: 30, rolling_window: 60, num_buckets: 0, volume_threshold: 20 },
          origin: 'unknown',
        }),
        createDifference('request_headers', {
          to: { enabled: true, add: { 'x-environment': 'production', 'x.y': '' }, remove: ['x-debug'] },
          origin: 'unknown',
        }),
      ],
    }),
    createLiveChange(EDGE, 'update', {
      id: 'edgtcp_2def',
      protect: true,
      differences: [
        createDifference('description', { from: 'old', to: 'new', origin: 'both' }),
        createDifference('metadata.team', { from: 'data', to: 'platform' }),
        createDifference('hostports', {
          from: ['1.tcp.example.net:20001', '1.tcp.example.net:20003', '1.tcp.example.net:20004'],
          to: ['1.tcp.example.net:20002', '1.tcp.example.net:20003', '1.tcp.example.net:20004'],
        }),
        createDifference('backend.backend_id', { from: 'bkdwd_2aaa', to: POOL }),
        createDifference('policy.inbound[0].expressions', {
          from: ['conn.client_ip.startsWith("10.")'],
          to: ['conn.client_ip.startsWith("10.")', 'conn.geo.country_code == "NL"'],
          origin: 'drift',
        }),
        createDifference('policy.inbound[1]', {
          to: { name: 'deny the rest', expressions: [], actions: [{ type: 'deny', config: null }] },
        }),
        createDifference('lifecycle.protect', { from: false, to: true }),
      ],
    }),
    createLiveChange('IPRestriction/api', 'adopt', {
      id: 'ipx_2abc',
      differences: [createDifference('enforced', { from: false, to: true, origin: 'unknown' })],
    }),
    createChange(POOL, 'create', {
      desired: toNormal(POOL, { backends: { bkdhr_2aaa: 80, bkdhr_2bbb: 20 }, metadata: { team: 'data' } }),
    }),
    createChange('TCPEdge/redis', 'create', {
      desired: toNormal('TCPEdge/redis', {
        description: 'Redis\nfor everybody',
        hostports: ['1.tcp.example.net:20007'],
        backend: { backend_id: POOL },
        ip_restriction: { ip_policy_ids: ['ipp_2abc'], enabled: false },
        policy: { inbound: [{ actions: [{ type: 'restrict-ips', config: { ip_policies: ['ipp_2abc'] } }] }] },
      }),
    }),
    createLiveChange('TCPEdge/mysql', 'no-op', { id: 'edgtcp_2ghi' }),
    createLiveChange('TCPEdge/kafka', 'no-op', { id: 'edgtcp_2jkl' }),
  ],
  writes: [
    createWrite('create', POOL, { reason: 'creates the weighted backend' }),
    createWrite('update', EDGE, {
      resourceId: 'edgtcp_2def',
      dependsOn: toCreateIds(POOL),
      reason: 'sets description, metadata, hostports, backend, policy and records that the resource is protected',
    }),
    createWrite('delete', 'TCPEdge/legacy', {
      resourceId: 'edgtcp_2aaa',
      reason: 'no longer in the manifests',
    }),
    createWrite('delete', 'WeightedBackend/old-pool', {
      resourceId: 'bkdwd_2aaa',
      dependsOn: [
        toWriteId({ purpose: 'update', address: EDGE }),
        toWriteId({ purpose: 'delete', address: 'TCPEdge/legacy' }),
      ],
      reason: 'no longer in the manifests',
    }),
    createWrite('update', 'IPRestriction/api', {
      resourceId: 'ipx_2abc',
      last: true,
      reason: 'sets its mark and enforced',
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
      message:
        'This plan would delete 12 of 20 TCPEdge (60 %). More than 5 deletes of a kind need consent if they are also more than 30 % of it.',
      remedy: 'If that is intended, use --allow-deletes. spec.guard in the Stack sets the limits.',
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
