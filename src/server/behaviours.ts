import { getEmptyValue } from '../kinds/canonical.ts';
import type { FieldType } from '../kinds/field.ts';
import { FORMATS, findApiTypeOfSshKey } from '../kinds/formats.ts';
import type { Kind, SubmissionDetails } from '../kinds/kind.ts';
import { parseSshPublicKey, type SshPublicKey, type SshSigningKey } from '../kinds/ssh-key.ts';
import { ABUSE_REPORT, type HOSTNAME_STATUSES } from '../kinds/tables/abuse-report.ts';
import { AGENT_INGRESS } from '../kinds/tables/agent-ingress.ts';
import { CREDENTIAL } from '../kinds/tables/credential.ts';
import { KINDS } from '../kinds/tables/registry.ts';
import { DEFAULT_VALIDITY_MS, SSH_USER_CERTIFICATE, USER_CERTIFICATE } from '../kinds/tables/ssh-user-certificate.ts';
import { WEIGHTED_BACKEND } from '../kinds/tables/weighted-backend.ts';
import { assertDefined, assertNever } from '../model/errors.ts';
import { isJsonArray, isJsonObject, isSameJson, type Json, type JsonObject } from '../model/json.ts';
import type { Spec } from '../model/state.ts';
import type { ApiKey } from './admission.ts';
import { RequestError } from './failure.ts';
import type { IdGenerator, SshCertificateAuthorities } from './id-generator.ts';
import { type StoredResource, toTimestamp } from './store.ts';

export interface BehaviourTools {
  readonly now: Date;
  readonly identities: IdGenerator;
  readonly authorities: SshCertificateAuthorities;
  readonly abuseReportRules: readonly AbuseReportRule[];
}

/**
 * The rules of one kind that its table of fields cannot express. Each part is optional. A part rejects the request by
 * throwing `RequestError`.
 */
interface Behaviour {
  /** Throws if this caller may not create a resource with this spec. */
  readonly authorize?: (caller: ApiKey, spec: Spec) => void;
  /** Adds the values that the service chooses at creation. */
  readonly complete?: (spec: Spec, caller: ApiKey, now: Date) => Spec;
  /**
   * Returns the state to store in addition to the spec. Called for each change, and at creation, when `before` is
   * `undefined`.
   */
  readonly remember?: (
    resource: StoredResource,
    before: StoredResource | undefined,
    tools: BehaviourTools,
  ) => JsonObject;
  /**
   * Returns the state to store for a resource imported from another service. `computed`: the fields that the other
   * service computed.
   */
  readonly recall?: (resource: StoredResource, computed: JsonObject) => JsonObject;
  readonly compute?: (resource: StoredResource, now: Date) => JsonObject;
  /** Returns the one-time fields. Only the response to the creation contains them. */
  readonly reveal?: (resource: StoredResource, tools: BehaviourTools) => JsonObject;
  /** Returns the body of the response to a PATCH. `document`: the whole resource. `given`: the fields of the PATCH. */
  readonly showUpdate?: (document: JsonObject, given: Spec) => JsonObject;
}

const DAY_MS = 24 * 3_600_000;

/**
 * Creates the behaviour of kinds without special rules. It chooses values for fields whose default the service chooses,
 * and issues the one-time values at creation.
 */
function createDefaultBehaviour(kind: Kind): Behaviour {
  const chosen = kind.specFields.filter(([, { serviceDefault }]) => serviceDefault);
  const revealed = kind.oneTimeFields;
  return {
    complete: (spec, caller, now) => {
      if (chosen.length === 0) return spec;
      const start = new Date(String(spec[kind.validity?.after ?? ''] ?? now.toISOString()));
      const end = new Date(start.getTime() + DAY_MS);
      const entries = chosen.map(([name, { type }]): [string, Json] => [
        name,
        chooseValue(type, { caller, at: name === kind.validity?.until ? end : now }),
      ]);
      return { ...Object.fromEntries(entries.filter(([, value]) => value !== null)), ...spec };
    },
    compute: ({ id, spec }) => ({
      ...(kind.issued !== undefined && { [kind.issued.field]: `${kind.title} ${id}` }),
      ...(kind.submission !== undefined && createUndecided(kind.fields, kind.submission, spec)),
    }),
    reveal: ({ id }, { identities }) => Object.fromEntries(revealed.map((name) => [name, identities.toToken(id)])),
  };
}

/**
 * Creates the computed fields of a submission that the service has not decided yet. Each entry of the submitted list
 * has its own status.
 */
function createUndecided(
  fields: Kind['fields'],
  { argumentField, status, parts }: SubmissionDetails,
  spec: Spec,
): JsonObject {
  const [open = ''] = Object.keys(parts.decisions);
  const words = spec[argumentField];
  const type = fields[status.field]?.type;
  return {
    [status.field]: type?.type === 'enum' ? (type.values[0] ?? null) : null,
    [parts.field]: isJsonArray(words) ? words.map((word) => ({ [parts.name]: word, [parts.status]: open })) : [],
  };
}

/** Returns a value that a service might choose for a field of this type. `null` if it would choose none. */
function chooseValue(type: FieldType, { caller, at }: { readonly caller: ApiKey; readonly at: Date }): Json {
  switch (type.type) {
    case 'text':
      return type.format === undefined ? '' : FORMATS[type.format].example;
    case 'enum':
      return type.values[0] ?? null;
    case 'boolean':
      return false;
    case 'number':
      return type.min;
    case 'timestamp':
      return toTimestamp(at);
    case 'reference':
      return type.prefixes.some((prefix) => caller.userId.startsWith(`${prefix}_`)) ? caller.userId : null;
    case 'list':
    case 'map':
    case 'object':
    case 'json':
    case 'metadata':
      return getEmptyValue(type);
    default:
      return assertNever(type);
  }
}

const YEAR_10000 = Date.UTC(10_000, 0);

/** Chooses the validity of the certificate, and signs the certificate at creation. */
const SSH_CERTIFICATE_BEHAVIOUR: Behaviour = {
  complete: (spec, _caller, now) => {
    parsePublicKey(spec);
    const after = parseTime(spec, 'valid_after') ?? new Date(toTimestamp(now));
    const until = parseTime(spec, 'valid_until') ?? computeDefaultUntil(after);
    return { ...spec, valid_after: toTimestamp(after), valid_until: toTimestamp(until) };
  },
  remember: (resource, before, tools) => before?.state ?? { certificate: sign(resource, tools) },
  recall: (_resource, { certificate = null }) => ({ certificate }),
  compute: ({ spec, state }) => ({
    key_type: findApiTypeOfSshKey(String(spec['public_key'])) ?? null,
    certificate: state['certificate'] ?? null,
  }),
};

function sign({ id, spec }: StoredResource, { identities, authorities }: BehaviourTools): string {
  const certificate = {
    publicKey: parsePublicKey(spec),
    keyId: id,
    principals: isJsonArray(spec['principals']) ? spec['principals'].map(String) : [],
    validAfter: new Date(String(spec['valid_after'])),
    validBefore: new Date(String(spec['valid_until'])),
    criticalOptions: toStringMap(spec['critical_options']),
    extensions: toStringMap(spec['extensions']),
    nonce: identities.derive(`nonce ${id}`),
  };
  return renderSshCertificate(certificate, authorities.getKey(String(spec['ssh_certificate_authority_id'])));
}

function parsePublicKey(spec: Spec): SshPublicKey {
  const key = parseSshPublicKey(String(spec['public_key']));
  if (key === undefined) throw createFieldError('public_key', 'is not a complete SSH public key');
  return key;
}

function createFieldError(field: string, message: string): RequestError {
  return new RequestError(`${field} ${message}`, { code: 'invalid_field', details: { field } });
}

function parseTime(spec: Spec, field: string): Date | undefined {
  const value = spec[field];
  if (typeof value !== 'string') return undefined;
  const time = new Date(value);
  if (time.getTime() >= 0 && time.getTime() < YEAR_10000) return time;
  throw createFieldError(field, 'must be between the years 1970 and 9999');
}

function computeDefaultUntil(after: Date): Date {
  const until = new Date(after.getTime() + DEFAULT_VALIDITY_MS);
  if (until.getTime() < YEAR_10000) return until;
  throw createFieldError('valid_after', 'is too late: the default of valid_until would be after the year 9999');
}

function toStringMap(value: Json | undefined): Readonly<Record<string, string>> {
  const entries = Object.entries(isJsonObject(value) ? value : {});
  return Object.fromEntries(entries.map(([name, text]) => [name, String(text)]));
}

/** The content of an SSH user certificate, without its signature. */
interface SshCertificate {
  readonly publicKey: SshPublicKey;
  readonly keyId: string;
  /** User names that may log in with the certificate. Empty: all user names. */
  readonly principals: readonly string[];
  readonly validAfter: Date;
  readonly validBefore: Date;
  readonly criticalOptions: Readonly<Record<string, string>>;
  readonly extensions: Readonly<Record<string, string>>;
  /** Random bytes, so that two certificates with the same content differ. */
  readonly nonce: Buffer;
}

/**
 * Signs a user certificate, and returns it in OpenSSH authorized-keys format with serial 0 and the key id as comment.
 * Not encoded by sshpk, which cannot omit the principals. Source: OpenSSH PROTOCOL.certkeys.
 */
function renderSshCertificate(certificate: SshCertificate, authority: SshSigningKey): string {
  const key = certificate.publicKey.toBuffer('rfc4253', {});
  const nameLength = 4 + key.readUInt32BE(0);
  const type = `${key.toString('latin1', 4, nameLength)}-cert-v01@openssh.com`;
  const signed = Buffer.concat([
    encodeField(type),
    encodeField(certificate.nonce),
    key.subarray(nameLength),
    encodeUint64(0),
    encodeUint32(USER_CERTIFICATE),
    encodeField(certificate.keyId),
    encodeField(Buffer.concat(certificate.principals.map(encodeField))),
    encodeUint64(toUnixSeconds(certificate.validAfter)),
    encodeUint64(toUnixSeconds(certificate.validBefore)),
    encodeField(encodeOptions(certificate.criticalOptions, encodeField)),
    encodeField(
      encodeOptions(certificate.extensions, (value) => (value === '' ? Buffer.alloc(0) : encodeField(value))),
    ),
    encodeField(''),
    encodeField(authority.toPublic().toBuffer('rfc4253', {})),
  ]);
  const blob = Buffer.concat([signed, encodeField(createSignature(authority, signed))]);
  return `${type} ${blob.toString('base64')} ${certificate.keyId}`;
}

function createSignature(authority: SshSigningKey, bytes: Buffer): Buffer {
  const signer = authority.createSign('sha512');
  signer.update(bytes);
  return signer.sign().toBuffer('ssh');
}

/**
 * Encodes options sorted by name. `pack` encodes the value of an option. A flag is an option without a value, so its
 * data is empty.
 */
function encodeOptions(options: Readonly<Record<string, string>>, pack: (value: string) => Buffer): Buffer {
  const sorted = Object.entries(options).sort(([left], [right]) => (left < right ? -1 : 1));
  return Buffer.concat(sorted.flatMap(([name, value]) => [encodeField(name), encodeField(pack(value))]));
}

function encodeField(value: string | Buffer): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value, 'utf8') : value;
  return Buffer.concat([encodeUint32(bytes.length), bytes]);
}

function encodeUint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function encodeUint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

function toUnixSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}

/**
 * Only authorized keys may report abuse. When a report is submitted, the rules choose a decision for each host name,
 * and the time, by the server's clock, at which the decision becomes visible. The report's state contains both from the
 * start.
 */
const ABUSE_REPORT_BEHAVIOUR: Behaviour = {
  authorize: (caller) => {
    if (caller.mayReportAbuse) return;
    throw new RequestError('This API key is not authorized to report abuse', { code: 'forbidden' });
  },
  remember: ({ spec }, _before, { now, abuseReportRules }) => {
    const decisions = listHostnames(spec).flatMap((hostname) => {
      const decision = decideHostname(abuseReportRules, hostname);
      if (decision === undefined) return [];
      return { hostname, status: decision.status, at: toTimestamp(now.getTime() + decision.afterSeconds * 1000) };
    });
    return { decisions };
  },
  compute: ({ spec, state }, now) => {
    const decided = indexDecided(state, now);
    const hostnames = listHostnames(spec).map((hostname) => ({
      hostname,
      status: decided.get(hostname) ?? 'PENDING',
    }));
    return { status: computeReportStatus(hostnames.length, decided.size), hostnames };
  },
};

/** Returns each host name of the reported URLs once, in the order of the URLs. */
function listHostnames({ urls }: Spec): readonly string[] {
  const hostnames = (isJsonArray(urls) ? urls : []).map((url) => new URL(String(url)).hostname);
  return [...new Set(hostnames)];
}

/** Maps each host name to its decision. Leaves out decisions whose time is still in the future. */
function indexDecided({ decisions }: JsonObject, now: Date): ReadonlyMap<string, string> {
  const all = (isJsonArray(decisions) ? decisions : []).filter(isJsonObject);
  const decided = all.filter(({ at }) => Date.parse(String(at)) <= now.getTime());
  return new Map(decided.map(({ hostname, status }) => [String(hostname), String(status)]));
}

function computeReportStatus(hostnames: number, decided: number): string {
  if (decided === 0) return 'PENDING';
  return decided < hostnames ? 'PARTIALLY_PROCESSED' : 'PROCESSED';
}

const REGIONS = ['us', 'eu', 'ap'];
const NS_TARGETS = ['ns1.ingress.example.net', 'ns2.ingress.example.net'];
/**
 * A job takes a minute, so that a client sees both states. A certificate is renewed after 60 days, as is
 * usual for certificates of 90. A failed job is retried after an hour.
 */
const JOB_MS = 60_000;
const RENEWAL_MS = 60 * 24 * 3_600_000;
const RETRY_MS = 3_600_000;

/** Computes the domains, and the status of the certificate. The status depends on the server's clock at each read. */
const AGENT_INGRESS_BEHAVIOUR: Behaviour = {
  remember: ({ spec }, before, { now }) => {
    const policy = findPolicy(spec);
    if (policy === undefined) return {};
    const isKept = before !== undefined && isSameJson(findPolicy(before.spec) ?? null, policy);
    return isKept ? before.state : { requested_at: toTimestamp(now) };
  },
  recall: ({ createdAt, spec }) => (findPolicy(spec) === undefined ? {} : { requested_at: createdAt }),
  compute: ({ spec, state }, now) => {
    const domain = String(spec['domain']);
    return {
      ns_targets: NS_TARGETS,
      region_domains: REGIONS.map((region) => `${region}.${domain}`),
      certificate_management_status:
        findPolicy(spec) === undefined
          ? null
          : computeCertificateStatus(domain, Date.parse(String(state['requested_at'])), now.getTime()),
    };
  },
};

function findPolicy(spec: Spec): JsonObject | undefined {
  const policy = spec['certificate_management_policy'];
  return isJsonObject(policy) ? policy : undefined;
}

function computeCertificateStatus(domain: string, requestedAt: number, now: number): JsonObject {
  const age = Math.max(0, now - requestedAt);
  const name = domain.toLowerCase();
  if (name.endsWith('.invalid')) return createDnsError(requestedAt, age);
  if (!name.startsWith('retried.')) return computeRenewals(requestedAt, age);
  return age < JOB_MS ? createInternalError(requestedAt) : computeRenewals(requestedAt + JOB_MS, age - JOB_MS);
}

/**
 * The status of a certificate whose first job and renewals succeed, each after `JOB_MS`. `age`: milliseconds since the
 * request.
 */
function computeRenewals(requestedAt: number, age: number): JsonObject {
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

/** The status after a temporary error. The next attempt, after `JOB_MS`, succeeds. */
function createInternalError(requestedAt: number): JsonObject {
  return {
    renews_at: null,
    provisioning_job: {
      error_code: 'INTERNAL_ERROR',
      msg: 'The certificate authority did not answer.',
      started_at: toTimestamp(requestedAt),
      retries_at: toTimestamp(requestedAt + JOB_MS),
    },
  };
}

/**
 * The status after a permanent error. The service retries every hour without success. `age`: milliseconds since the
 * request.
 */
function createDnsError(requestedAt: number, age: number): JsonObject {
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

/** A PATCH without `backends` keeps the backends, but the response has none. Source: section 4.8 of the API. */
const WEIGHTED_BACKEND_BEHAVIOUR: Behaviour = {
  showUpdate: (document, given) => ('backends' in given ? document : { ...document, backends: {} }),
};

/** A credential belongs to the caller. Only an admin may set another user. */
const CREDENTIAL_BEHAVIOUR: Behaviour = {
  authorize: (caller, { owner_id: user }) => {
    if (user === undefined || user === caller.userId || caller.isAdmin) return;
    throw new RequestError('only an admin may set owner_id to another user', {
      code: 'forbidden',
      details: { field: 'owner_id' },
    });
  },
};

const SPECIAL_BEHAVIOURS: ReadonlyMap<string, Behaviour> = new Map([
  [ABUSE_REPORT.name, ABUSE_REPORT_BEHAVIOUR],
  [AGENT_INGRESS.name, AGENT_INGRESS_BEHAVIOUR],
  [CREDENTIAL.name, CREDENTIAL_BEHAVIOUR],
  [SSH_USER_CERTIFICATE.name, SSH_CERTIFICATE_BEHAVIOUR],
  [WEIGHTED_BACKEND.name, WEIGHTED_BACKEND_BEHAVIOUR],
]);

const BEHAVIOURS: ReadonlyMap<string, Behaviour> = new Map(
  KINDS.map((kind) => [kind.name, { ...createDefaultBehaviour(kind), ...SPECIAL_BEHAVIOURS.get(kind.name) }]),
);

/** Returns the behaviour of a kind: the default behaviour, except for the parts that SPECIAL_BEHAVIOURS replaces. */
export function getBehaviour(kind: Kind): Behaviour {
  return assertDefined(BEHAVIOURS.get(kind.name), `behaviour of ${kind.name}`);
}

/** A rule that decides about host names in abuse reports. */
export interface AbuseReportRule {
  /** A host name. The rule also matches all names below it. `*`: any host name. */
  readonly hostname: string;
  /** `PENDING`: no decision is ever made. */
  readonly status: (typeof HOSTNAME_STATUSES)[number];
  /** Seconds from the submission to the decision. Default: 30. */
  readonly after_seconds?: number;
}

interface AbuseReportDecision {
  readonly status: string;
  readonly afterSeconds: number;
}

/** Long enough to see a pending report first. */
const DEFAULT_AFTER_SECONDS = 30;

/**
 * The rules of a server whose seed has no rules. Host names below `invalid` are ignored after 10 seconds, all others
 * are banned.
 */
export const DEFAULT_ABUSE_REPORT_RULES: readonly AbuseReportRule[] = [
  { hostname: 'invalid', status: 'IGNORE', after_seconds: 10 },
  { hostname: '*', status: 'BANNED' },
];

/** Returns the decision of the first rule that matches a host name. `undefined` if no decision is ever made. */
function decideHostname(rules: readonly AbuseReportRule[], hostname: string): AbuseReportDecision | undefined {
  const rule = rules.find((candidate) => isAbout(candidate, hostname));
  if (rule === undefined || rule.status === 'PENDING') return undefined;
  return { status: rule.status, afterSeconds: rule.after_seconds ?? DEFAULT_AFTER_SECONDS };
}

function isAbout(rule: AbuseReportRule, hostname: string): boolean {
  const [suffix, name] = [toPlainName(rule.hostname), toPlainName(hostname)];
  return suffix === '*' || name === suffix || name.endsWith(`.${suffix}`);
}

/** Converts a host name to the form that it has in URLs, without the dot of the root domain at its end. */
function toPlainName(hostname: string): string {
  const name = hostname.includes(':') && !hostname.startsWith('[') ? `[${hostname}]` : hostname;
  return (URL.parse(`http://${name}`)?.hostname ?? hostname).replace(/\.$/, '');
}
