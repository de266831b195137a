import type { DiagnosticCode } from '../../model/diagnostic-codes.ts';
import { type Explanation, type LiveResources, toDocument, toMarked } from '../explanation.ts';

const STACK = toDocument('Stack', 'production');
const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L';

function toPool(weight: number): string {
  return toDocument('WeightedBackend', 'pool', 'spec:', '  backends:', `    bkdhr_blue: ${weight}`);
}

function toCertificate(...more: readonly string[]): string {
  return toDocument(
    'SSHUserCertificate',
    'alice',
    'spec:',
    `  public_key: ${KEY}`,
    '  ssh_certificate_authority_id: sshca_bastion',
    '  principals: [alice]',
    ...more,
  );
}

function toLiveCertificate(after: string, until: string): LiveResources {
  const certificate = {
    id: 'sucrt_alice',
    created_at: after,
    public_key: KEY,
    ssh_certificate_authority_id: 'sshca_bastion',
    principals: ['alice'],
    valid_after: after,
    valid_until: until,
    metadata: toMarked('production', 'alice'),
  };
  return { SSHUserCertificate: [certificate] };
}

function toIngress(domain: string): string {
  return toDocument('AgentIngress', 'agents', 'spec:', `  domain: ${domain}`, '  certificate_management_policy: {}');
}

function toLiveIngress(domain: string): LiveResources {
  const metadata = toMarked('production', 'agents');
  const ingress = {
    id: 'agin_live',
    created_at: '2026-03-01T11:00:00Z',
    domain,
    certificate_management_policy: {},
    metadata,
  };
  return { AgentIngress: [ingress] };
}

function inStack(text: string): Readonly<Record<string, string>> {
  return { 'edgewise.yaml': STACK, 'manifest.yaml': text };
}

const LIVE_POOL: LiveResources = {
  WeightedBackend: [{ id: 'bkdwd_pool', backends: { bkdhr_blue: 1 }, metadata: toMarked('production', 'pool') }],
};

/** The codes about what becomes of resources in time, and what others do meanwhile. */
export const RUNNING = {
  'service-trouble': {
    meaning:
      'The manifest is valid and the service accepted it, but the service fails to do what it asks for, for example to obtain a certificate for a domain. No write by edgewise can solve that.',
    remedy:
      'Follow the help of the diagnostic, for example set the NS records of the domain. The next plan checks again.',
    bad: { command: 'plan', files: inStack(toIngress('agents.invalid')), live: toLiveIngress('agents.invalid') },
    good: { files: inStack(toIngress('agents.example.com')), live: toLiveIngress('agents.example.com') },
  },
  'validity-ends': {
    meaning:
      'A live certificate has expired or will soon, and no apply replaces it in time. If its manifest states no end, an apply replaces it only after its end. If the manifest states the end, a new certificate would end at the same time, so nothing is replaced.',
    remedy:
      'Set `lifecycle.renew_before`, so that an apply before the end replaces it, or replace it now with --rotate. Instead of a stated end, use `lifecycle.valid_for`, so that each new certificate ends later than the one before.',
    bad: {
      command: 'plan',
      files: inStack(toCertificate()),
      live: toLiveCertificate('2026-02-28T13:00:00Z', '2026-03-01T13:00:00Z'),
    },
    good: { files: { 'manifest.yaml': toCertificate('lifecycle:', '  renew_before: 4h') } },
  },
  'changed-meanwhile': {
    meaning:
      'After the plan and before a write, somebody else changed a field that the plan does not touch. The write left that field alone, and its response shows the difference.',
    remedy: 'Plan again. The field appears as drift: apply to revert it, or copy it into the manifest.',
    bad: {
      command: 'apply --yes',
      files: inStack(toPool(2)),
      live: LIVE_POOL,
      meanwhile: {
        before: 'PATCH /backends/weighted/bkdwd_pool',
        request: 'PATCH /backends/weighted/bkdwd_pool',
        body: '{ "description": "changed by hand" }',
      },
    },
    good: { meanwhile: null },
  },
  'made-twice': {
    meaning:
      'The service allows two such resources, so it refused neither apply. After its writes, each apply checks for duplicates. The apply that created the later one deletes it, so one resource stays.',
    remedy: 'Run only one apply of a stack at a time. Pipelines have a setting for that, such as a concurrency group.',
    bad: {
      command: 'apply --yes',
      files: inStack(toPool(1)),
      meanwhile: {
        before: 'POST /backends/weighted',
        request: 'POST /backends/weighted',
        body: JSON.stringify({
          backends: { bkdhr_blue: 1 },
          metadata: toMarked('production', 'pool'),
        }),
      },
    },
    good: { meanwhile: null },
  },
} as const satisfies Partial<Record<DiagnosticCode, Explanation>>;
