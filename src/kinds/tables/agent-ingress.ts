import { isJsonArray, isJsonObject, type JsonObject } from '../../model/json.ts';
import { renderTimeSpan } from '../duration.ts';
import { field, listOf, objectOf, oneOf, setOf, text, textOfFormat, timestamp } from '../field.ts';
import { type BlockedServiceTask, defineKind } from '../kind.ts';
import { DESCRIPTION, IDENTITY_FIELDS, METADATA } from './standard-fields.ts';

const JOB = objectOf({
  error_code: field(
    text(),
    'Null unless provisioning fails. INTERNAL_ERROR is temporary; DNS_ERROR lasts until the NS records are correct.',
    { nullWhenUnset: true },
  ),
  msg: field(text(), 'The current status or error.'),
  started_at: field(timestamp, 'When the job started.'),
  retries_at: field(timestamp, 'When the job will be retried.'),
});

export const AGENT_INGRESS = defineKind({
  name: 'AgentIngress',
  role: 'owned',
  title: 'agent ingress',
  description: 'Regional agent-connection domains under a domain of your own, with optional certificate management.',
  words: {
    tunnel: '',
    ingress: '',
    endpoint: '',
    hostname: 'domain',
    dns: 'domain',
    tls: 'certificate_management_policy',
  },
  example: {
    spec: {
      description: 'Agents connect here',
      metadata: { team: 'platform' },
      domain: 'connect.example.com',
      certificate_management_policy: { authority: 'letsencrypt', private_key_type: 'ecdsa' },
    },
  },
  idPrefix: 'agin',
  path: '/agent_ingresses',
  listKey: 'ingresses',
  uri: 'path',
  checkHealth: checkProvisioning,
  describeState: describeCertificate,
  fields: {
    ...IDENTITY_FIELDS,
    description: DESCRIPTION,
    metadata: METADATA,
    domain: field(
      textOfFormat('domain'),
      'A domain that you own. The regional domains are below it. One ingress per domain.',
      {
        lifecycle: 'immutable',
        required: true,
        unique: true,
        carries: 'by-each',
        summary: { prefix: 'listens on' },
      },
    ),
    ns_targets: field(setOf(text()), 'Values for the NS records of the domain, which delegate it to the service.', {
      lifecycle: 'computed',
      replacedConsequence: 'set the NS records of the domain to them',
      createdTask: 'set the NS records of its domain to',
    }),
    region_domains: field(listOf(text()), 'Regional domains below the domain. More appear as regions are added.', {
      lifecycle: 'computed',
    }),
    certificate_management_policy: field(
      objectOf({
        authority: field(oneOf('letsencrypt'), 'Certificate authority to request certificates from.', {
          default: 'letsencrypt',
        }),
        private_key_type: field(oneOf('rsa', 'ecdsa'), 'Type of the private keys.', { default: 'rsa' }),
      }),
      'Automatic management of TLS certificates. Disabled by default.',
      { clear: 'null' },
    ),
    certificate_management_status: field(
      objectOf({
        renews_at: field(timestamp, 'When the next renewal will be requested.'),
        provisioning_job: field(JOB, 'Null unless a certificate is being provisioned or renewed.'),
      }),
      'State of the automatic certificate management. Null if it is disabled.',
      { lifecycle: 'computed' },
    ),
  },
});

/** Reports a certificate that cannot be provisioned. Source: section 2.3 of the API documentation. */
function checkProvisioning({
  certificate_management_status: status = null,
  ns_targets: targets = null,
}: JsonObject): readonly BlockedServiceTask[] {
  const job = isJsonObject(status) ? status['provisioning_job'] : undefined;
  if (!isJsonObject(job) || typeof job['error_code'] !== 'string' || job['error_code'] === '') return [];
  // Drop the final full stop of the service's message, because more text follows.
  const said = typeof job['msg'] === 'string' ? `: ${job['msg'].replace(/[.\s]+$/, '')}` : '';
  const message = `its certificate cannot be provisioned: ${job['error_code']}${said}`;
  const retry = typeof job['retries_at'] === 'string' ? `, at ${job['retries_at']}` : '';
  const servers = isJsonArray(targets) && targets.length > 0 ? ` (${targets.join(', ')})` : '';
  const remedy =
    job['error_code'] === 'DNS_ERROR'
      ? `Set the NS records of the domain to its ns_targets${servers}. Until then every attempt fails.`
      : `The service retries${retry}. If it keeps failing, contact the operator of the service.`;
  return [{ message, remedy, field: 'certificate_management_policy' }];
}

function describeCertificate(
  { certificate_management_status: status = null }: JsonObject,
  now: Date,
): readonly string[] {
  if (!isJsonObject(status)) return [];
  const { provisioning_job: job = null, renews_at: renewsAt } = status;
  if (isJsonObject(job)) return [job['error_code'] ? 'certificate fails' : 'certificate is being provisioned'];
  const leftMs = typeof renewsAt === 'string' ? Date.parse(renewsAt) - now.getTime() : Number.NaN;
  if (Number.isNaN(leftMs)) return [];
  return [leftMs > 0 ? `certificate renews in ${renderTimeSpan(leftMs)}` : 'certificate is due for renewal'];
}
