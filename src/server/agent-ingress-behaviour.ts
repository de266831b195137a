import { isJsonObject, isSameJson, type JsonObject } from '../model/json.ts';
import type { Spec } from '../model/state.ts';
import type { Behaviour } from './behaviour.ts';
import { toTimestamp } from './timestamp.ts';

const REGIONS = ['us', 'eu', 'ap'];
const NS_TARGETS = ['ns1.ingress.example.net', 'ns2.ingress.example.net'];
const JOB_MS = 60_000;
const RENEWAL_MS = 60 * 24 * 3_600_000;
const RETRY_MS = 3_600_000;

/** Domains, and a certificate job that moves on the server's clock: its state is computed when it is read. */
export const AGENT_INGRESS_BEHAVIOUR: Behaviour = {
  remember: ({ spec }, before, { now }) => {
    const policy = toPolicy(spec);
    if (policy === undefined) return {};
    const isKept = before !== undefined && isSameJson(toPolicy(before.spec) ?? null, policy);
    return isKept ? before.state : { requested_at: toTimestamp(now) };
  },
  recall: ({ createdAt, spec }) => (toPolicy(spec) === undefined ? {} : { requested_at: createdAt }),
  compute: ({ spec, state }, now) => {
    const domain = String(spec['domain']);
    return {
      ns_targets: NS_TARGETS,
      region_domains: REGIONS.map((region) => `${region}.${domain}`),
      certificate_management_status:
        toPolicy(spec) === undefined
          ? null
          : toStatus(domain, Date.parse(String(state['requested_at'])), now.getTime()),
    };
  },
};

function toPolicy(spec: Spec): JsonObject | undefined {
  const policy = spec['certificate_management_policy'];
  return isJsonObject(policy) ? policy : undefined;
}

function toStatus(domain: string, requestedAt: number, now: number): JsonObject {
  const age = Math.max(0, now - requestedAt);
  if (domain.toLowerCase().endsWith('.invalid')) return toDnsError(requestedAt, age);
  const round = Math.floor(age / (JOB_MS + RENEWAL_MS));
  const startedAt = requestedAt + round * (JOB_MS + RENEWAL_MS);
  const isRunning = requestedAt + age < startedAt + JOB_MS;
  const hasCertificate = round > 0 || !isRunning;
  return {
    renews_at: hasCertificate ? toTimestamp(startedAt + JOB_MS + RENEWAL_MS) : null,
    provisioning_job: isRunning
      ? { msg: 'The certificate is being provisioned.', started_at: toTimestamp(startedAt), retries_at: null }
      : null,
  };
}

/** Retried every hour without success. */
function toDnsError(requestedAt: number, age: number): JsonObject {
  const retries = Math.floor(age / RETRY_MS) + 1;
  return {
    renews_at: null,
    provisioning_job: {
      error_code: 'DNS_ERROR',
      msg: 'The NS records of the domain do not point to this service: set them to ns_targets.',
      started_at: toTimestamp(requestedAt),
      retries_at: toTimestamp(requestedAt + retries * RETRY_MS),
    },
  };
}
