import type { FieldType } from '../kinds/field.ts';
import { FORMATS, findKeyType } from '../kinds/formats.ts';
import type { Kind, Submission } from '../kinds/kind.ts';
import { getEmptyValue } from '../kinds/normalize.ts';
import { type Key, type PrivateKey, parseSshPublicKey } from '../kinds/ssh-key.ts';
import { ABUSE_REPORT, type HOSTNAME_STATUSES } from '../kinds/tables/abuse-report.ts';
import { AGENT_INGRESS } from '../kinds/tables/agent-ingress.ts';
import { CREDENTIAL } from '../kinds/tables/credential.ts';
import { DEFAULT_VALIDITY_MS, SSH_USER_CERTIFICATE } from '../kinds/tables/ssh-user-certificate.ts';
import { WEIGHTED_BACKEND } from '../kinds/tables/weighted-backend.ts';
import { assertNever } from '../model/errors.ts';
import { isJsonArray, isJsonObject, isSameJson, type Json, type JsonObject } from '../model/json.ts';
import type { Spec } from '../model/state.ts';
import type { ApiKey } from './admission.ts';
import { RequestError } from './failure.ts';
import type { CertificateAuthorities, IdGenerator } from './id-generator.ts';
import { formatTimestamp, type StoredResource } from './store.ts';

/** What a behaviour may use. */
export interface BehaviourContext {
  readonly now: Date;
  readonly identities: IdGenerator;
  readonly authorities: CertificateAuthorities;
  readonly abuseReportRules: readonly AbuseReportRule[];
}

/** What the server does for one kind that a table of fields cannot say. Each part is optional; a `Failure` refuses the request. */
interface Behaviour {
  /** Refuses what this caller may not create. */
  readonly authorize?: (caller: ApiKey, spec: Spec) => void;
  /** Fills in what the service chooses at creation. */
  readonly complete?: (spec: Spec, caller: ApiKey, now: Date) => Spec;
  /** What to keep beside the spec, at creation and after each change. */
  readonly remember?: (
    resource: StoredResource,
    before: StoredResource | undefined,
    tools: BehaviourContext,
  ) => JsonObject;
  /** What to keep beside the spec of a resource that another service made, from its computed fields. */
  readonly recall?: (resource: StoredResource, computed: JsonObject) => JsonObject;
  /** The computed fields, as of now. */
  readonly compute?: (resource: StoredResource, now: Date) => JsonObject;
  /** The one-time fields, for the response to the creation. */
  readonly reveal?: (resource: StoredResource, tools: BehaviourContext) => JsonObject;
  /** The response to a PATCH that gave these fields. */
  readonly showUpdate?: (document: JsonObject, given: Spec) => JsonObject;
}

const DAY_MS = 24 * 3_600_000;

/** The behaviour of every kind: it chooses and issues the values that a table leaves to the service, and shows one-time values once. */
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
      ...(kind.fileField !== undefined && { [kind.fileField]: `${kind.title} ${id}` }),
      ...(kind.submission !== undefined && toUndecided(kind.fields, kind.submission, spec)),
    }),
    reveal: ({ id }, { identities }) => Object.fromEntries(revealed.map((name) => [name, identities.toToken(id)])),
  };
}

/** What was submitted, before anything about it is decided: each word is a part. */
function toUndecided(fields: Kind['fields'], { words, status, parts }: Submission, spec: Spec): JsonObject {
  const [open = ''] = Object.keys(parts.decisions);
  const given = spec[words];
  const type = fields[status.field]?.type;
  return {
    [status.field]: type?.type === 'enum' ? (type.values[0] ?? null) : null,
    [parts.field]: isJsonArray(given) ? given.map((word) => ({ [parts.name]: word, [parts.status]: open })) : [],
  };
}

/** A value that a service might choose; null: it chooses none. */
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
      return formatTimestamp(at);
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

/** Chooses the time of validity, and signs at creation. */
const SSH_CERTIFICATE_BEHAVIOUR: Behaviour = {
  complete: (spec, _caller, now) => {
    parsePublicKey(spec);
    const after = parseTime(spec, 'valid_after') ?? new Date(formatTimestamp(now));
    const until = parseTime(spec, 'valid_until') ?? toDefaultUntil(after);
    return { ...spec, valid_after: formatTimestamp(after), valid_until: formatTimestamp(until) };
  },
  remember: (resource, before, tools) => before?.state ?? { certificate: sign(resource, tools) },
  recall: (_resource, { certificate = null }) => ({ certificate }),
  compute: ({ spec, state }) => ({
    key_type: findKeyType(String(spec['public_key'])) ?? null,
    certificate: state['certificate'] ?? null,
  }),
};

function sign({ id, spec }: StoredResource, { identities, authorities }: BehaviourContext): string {
  const certificate = {
    publicKey: parsePublicKey(spec),
    keyId: id,
    principals: isJsonArray(spec['principals']) ? spec['principals'].map(String) : [],
    validAfter: new Date(String(spec['valid_after'])),
    validBefore: new Date(String(spec['valid_until'])),
    criticalOptions: toTexts(spec['critical_options']),
    extensions: toTexts(spec['extensions']),
    nonce: identities.derive(`nonce ${id}`),
  };
  return renderSshCertificate(certificate, authorities.getKey(String(spec['ssh_certificate_authority_id'])));
}

function parsePublicKey(spec: Spec): Key {
  const key = parseSshPublicKey(String(spec['public_key']));
  if (key === undefined) throw refuse('public_key', 'is not a complete SSH public key');
  return key;
}

function refuse(field: string, message: string): RequestError {
  return new RequestError(`${field} ${message}`, { code: 'invalid_field', details: { field } });
}

function parseTime(spec: Spec, field: string): Date | undefined {
  const value = spec[field];
  if (typeof value !== 'string') return undefined;
  const time = new Date(value);
  if (time.getTime() >= 0 && time.getTime() < YEAR_10000) return time;
  throw refuse(field, 'must be between the years 1970 and 9999');
}

function toDefaultUntil(after: Date): Date {
  const until = new Date(after.getTime() + DEFAULT_VALIDITY_MS);
  if (until.getTime() < YEAR_10000) return until;
  throw refuse('valid_after', 'is too late: the default of valid_until would be after the year 9999');
}

function toTexts(value: Json | undefined): Readonly<Record<string, string>> {
  const entries = Object.entries(isJsonObject(value) ? value : {});
  return Object.fromEntries(entries.map(([name, text]) => [name, String(text)]));
}

/** What an SSH user certificate says. */
interface SshCertificate {
  readonly publicKey: Key;
  readonly keyId: string;
  /** Empty: valid for any user name. */
  readonly principals: readonly string[];
  readonly validAfter: Date;
  readonly validBefore: Date;
  readonly criticalOptions: Readonly<Record<string, string>>;
  readonly extensions: Readonly<Record<string, string>>;
  /** Makes two certificates that say the same different. */
  readonly nonce: Buffer;
}

const USER_CERTIFICATE = 1;

/**
 * A signed user certificate in OpenSSH authorized-keys format, with serial 0 and its key id as the comment. sshpk's own writer cannot leave the principals out.
 * Source: OpenSSH PROTOCOL.certkeys.
 */
function renderSshCertificate(certificate: SshCertificate, authority: PrivateKey): string {
  const key = certificate.publicKey.toBuffer('rfc4253', {});
  const nameLength = 4 + key.readUInt32BE(0);
  const type = `${key.toString('latin1', 4, nameLength)}-cert-v01@openssh.com`;
  const signed = Buffer.concat([
    toField(type),
    toField(certificate.nonce),
    key.subarray(nameLength),
    toUint64(0),
    toUint32(USER_CERTIFICATE),
    toField(certificate.keyId),
    toField(Buffer.concat(certificate.principals.map(toField))),
    toUint64(toSeconds(certificate.validAfter)),
    toUint64(toSeconds(certificate.validBefore)),
    toField(toOptions(certificate.criticalOptions, toField)),
    toField(toOptions(certificate.extensions, (value) => (value === '' ? Buffer.alloc(0) : toField(value)))),
    toField(''),
    toField(authority.toPublic().toBuffer('rfc4253', {})),
  ]);
  const blob = Buffer.concat([signed, toField(toSignature(authority, signed))]);
  return `${type} ${blob.toString('base64')} ${certificate.keyId}`;
}

function toSignature(authority: PrivateKey, bytes: Buffer): Buffer {
  const signer = authority.createSign('sha512');
  signer.update(bytes);
  return signer.sign().toBuffer('ssh');
}

/** Sorted by name, the value packed once more; an extension without a value is a flag, and has no data. */
function toOptions(options: Readonly<Record<string, string>>, pack: (value: string) => Buffer): Buffer {
  const sorted = Object.entries(options).sort(([left], [right]) => (left < right ? -1 : 1));
  return Buffer.concat(sorted.flatMap(([name, value]) => [toField(name), toField(pack(value))]));
}

function toField(value: string | Buffer): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value, 'utf8') : value;
  return Buffer.concat([toUint32(bytes.length), bytes]);
}

function toUint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function toUint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

function toSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}

/**
 * Only authorized keys may report. The rules settle at submission what will be decided about each host name, and when; that is kept
 * with the report, and shows once the server's clock has come to it.
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
      return { hostname, status: decision.status, at: formatTimestamp(now.getTime() + decision.afterSeconds * 1000) };
    });
    return { decisions };
  },
  compute: ({ spec, state }, now) => {
    const decided = listDecided(state, now);
    const hostnames = listHostnames(spec).map((hostname) => ({
      hostname,
      status: decided.get(hostname) ?? 'PENDING',
    }));
    return { status: toReportStatus(hostnames.length, decided.size), hostnames };
  },
};

/** Each host name once, in the order of the URLs. */
function listHostnames({ urls }: Spec): readonly string[] {
  const hostnames = (isJsonArray(urls) ? urls : []).map((url) => new URL(String(url)).hostname);
  return [...new Set(hostnames)];
}

/** The host names whose time has come, with what was decided. */
function listDecided({ decisions }: JsonObject, now: Date): ReadonlyMap<string, string> {
  const all = (isJsonArray(decisions) ? decisions : []).filter(isJsonObject);
  const decided = all.filter(({ at }) => Date.parse(String(at)) <= now.getTime());
  return new Map(decided.map(({ hostname, status }) => [String(hostname), String(status)]));
}

function toReportStatus(hostnames: number, decided: number): string {
  if (decided === 0) return 'PENDING';
  return decided < hostnames ? 'PARTIALLY_PROCESSED' : 'PROCESSED';
}

const REGIONS = ['us', 'eu', 'ap'];
const NS_TARGETS = ['ns1.ingress.example.net', 'ns2.ingress.example.net'];
const JOB_MS = 60_000;
const RENEWAL_MS = 60 * 24 * 3_600_000;
const RETRY_MS = 3_600_000;

/** Domains, and a certificate job that moves on the server's clock: its state is computed when it is read. */
const AGENT_INGRESS_BEHAVIOUR: Behaviour = {
  remember: ({ spec }, before, { now }) => {
    const policy = toPolicy(spec);
    if (policy === undefined) return {};
    const isKept = before !== undefined && isSameJson(toPolicy(before.spec) ?? null, policy);
    return isKept ? before.state : { requested_at: formatTimestamp(now) };
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
  const name = domain.toLowerCase();
  if (name.endsWith('.invalid')) return toDnsError(requestedAt, age);
  if (!name.startsWith('retried.')) return toRenewals(requestedAt, age);
  return age < JOB_MS ? toInternalError(requestedAt) : toRenewals(requestedAt + JOB_MS, age - JOB_MS);
}

/** A job that takes its time and succeeds, and another one for each renewal. */
function toRenewals(requestedAt: number, age: number): JsonObject {
  const round = Math.floor(age / (JOB_MS + RENEWAL_MS));
  const startedAt = requestedAt + round * (JOB_MS + RENEWAL_MS);
  const isRunning = requestedAt + age < startedAt + JOB_MS;
  const hasCertificate = round > 0 || !isRunning;
  return {
    renews_at: hasCertificate ? formatTimestamp(startedAt + JOB_MS + RENEWAL_MS) : null,
    provisioning_job: isRunning
      ? { msg: 'The certificate is being provisioned.', started_at: formatTimestamp(startedAt), retries_at: null }
      : null,
  };
}

/** Passes by itself: the next attempt, after a minute, succeeds. */
function toInternalError(requestedAt: number): JsonObject {
  return {
    renews_at: null,
    provisioning_job: {
      error_code: 'INTERNAL_ERROR',
      msg: 'The certificate authority did not answer.',
      started_at: formatTimestamp(requestedAt),
      retries_at: formatTimestamp(requestedAt + JOB_MS),
    },
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
      started_at: formatTimestamp(requestedAt),
      retries_at: formatTimestamp(requestedAt + retries * RETRY_MS),
    },
  };
}

/** A PATCH that leaves `backends` out keeps them, and its response shows none. Source: section 4.8 of the interface. */
const WEIGHTED_BACKEND_BEHAVIOUR: Behaviour = {
  showUpdate: (document, given) => ('backends' in given ? document : { ...document, backends: {} }),
};

/** A credential belongs to its caller unless an admin says otherwise. */
const CREDENTIAL_BEHAVIOUR: Behaviour = {
  authorize: (caller, { owner_id: owner }) => {
    if (owner === undefined || owner === caller.userId || caller.isAdmin) return;
    throw new RequestError('owner_id names another owner, which only an admin may do', {
      code: 'forbidden',
      details: { field: 'owner_id' },
    });
  },
};

const BEHAVIOURS: ReadonlyMap<string, Behaviour> = new Map([
  [ABUSE_REPORT.name, ABUSE_REPORT_BEHAVIOUR],
  [AGENT_INGRESS.name, AGENT_INGRESS_BEHAVIOUR],
  [CREDENTIAL.name, CREDENTIAL_BEHAVIOUR],
  [SSH_USER_CERTIFICATE.name, SSH_CERTIFICATE_BEHAVIOUR],
  [WEIGHTED_BACKEND.name, WEIGHTED_BACKEND_BEHAVIOUR],
]);

/** The behaviour of a kind: the default one with the special parts of this kind. */
export function getBehaviour(kind: Kind): Behaviour {
  return { ...createDefaultBehaviour(kind), ...BEHAVIOURS.get(kind.name) };
}

/** The decision about a reported host name. */
export interface AbuseReportRule {
  /** A host name, which includes all names below it; `*`: any. */
  readonly hostname: string;
  /** `PENDING`: it is never decided. */
  readonly status: (typeof HOSTNAME_STATUSES)[number];
  /** From the submission to the decision. Default: 30. */
  readonly after_seconds?: number;
}

/** The decision about a host name, and its delay. */
interface AbuseReportDecision {
  readonly status: string;
  readonly afterSeconds: number;
}

const DEFAULT_AFTER_SECONDS = 30;

/** What holds unless a seed says otherwise: a name that leads nowhere is soon ignored, any other is banned. */
export const DEFAULT_ABUSE_REPORT_RULES: readonly AbuseReportRule[] = [
  { hostname: 'invalid', status: 'IGNORE', after_seconds: 10 },
  { hostname: '*', status: 'BANNED' },
];

/** What the first rule that is about a host name decides; `undefined`: nothing, ever. */
function decideHostname(rules: readonly AbuseReportRule[], hostname: string): AbuseReportDecision | undefined {
  const rule = rules.find((candidate) => isAbout(candidate, hostname));
  if (rule === undefined || rule.status === 'PENDING') return undefined;
  return { status: rule.status, afterSeconds: rule.after_seconds ?? DEFAULT_AFTER_SECONDS };
}

function isAbout(rule: AbuseReportRule, hostname: string): boolean {
  const [suffix, name] = [toPlainName(rule.hostname), toPlainName(hostname)];
  return suffix === '*' || name === suffix || name.endsWith(`.${suffix}`);
}

/** Without case, and without the dot of the root. */
function toPlainName(hostname: string): string {
  return hostname.toLowerCase().replace(/\.$/, '');
}
