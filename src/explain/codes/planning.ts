import type { DiagnosticCode } from '../../model/diagnostic.ts';
import {
  type ExampleLiveResources,
  type Explanation,
  formatManifestWithLines,
  renderMarkedMetadata,
} from '../explanation.ts';

const STACK = formatManifestWithLines('Stack', 'production');
const CREDENTIAL = formatManifestWithLines('Credential', 'agent', 'spec:', '  acl: ["bind:*.example.com"]');
const POOL = formatPool();

const TAKEN_POOL = formatManifestWithLines(
  'WeightedBackend',
  'taken',
  'spec:',
  '  backends:',
  '    bkdhr_blue: 1',
  'lifecycle:',
  '  renamed_from: { stack: production, name: taken }',
);

function formatPool(...more: readonly string[]): string {
  return formatManifestWithLines('WeightedBackend', 'pool', 'spec:', '  backends:', '    bkdhr_blue: 1', ...more);
}

function formatIngress(domain: string, ...more: readonly string[]): string {
  return formatManifestWithLines('AgentIngress', 'agents', 'spec:', `  domain: ${domain}`, ...more);
}

function formatRestriction(...lines: readonly string[]): string {
  return formatManifestWithLines(
    'IPRestriction',
    'api',
    'spec:',
    '  type: api',
    '  ip_policy_ids: [ipp_office]',
    ...lines,
  );
}

const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L';

function formatCertificate(from: string): string {
  return formatCertificateWithLines(`  valid_after: "${from}"`);
}

function formatCertificateWithLines(...lines: readonly string[]): string {
  return formatManifestWithLines(
    'SSHUserCertificate',
    'alice',
    'spec:',
    '  ssh_certificate_authority_id: sshca_bastion',
    `  public_key: ${PUBLIC_KEY}`,
    '  principals: [alice]',
    ...lines,
  );
}

/** A certificate of the stack `production` that is valid for a day. */
function createLiveCertificates(from: string): ExampleLiveResources {
  const certificate = {
    id: 'sucrt_alice',
    ssh_certificate_authority_id: 'sshca_bastion',
    public_key: PUBLIC_KEY,
    principals: ['alice'],
    valid_after: from,
    valid_until: new Date(Date.parse(from) + 86_400_000).toISOString(),
    metadata: renderMarkedMetadata('production', 'alice'),
  };
  return { SSHUserCertificate: [certificate] };
}

function createPlanExample(text: string, more: Partial<Explanation['bad']> = {}): Explanation['bad'] {
  return { command: 'plan', files: { 'edgewise.yaml': STACK, 'manifest.yaml': text }, ...more };
}

function createCorrection(text: string): Explanation['good'] {
  return { files: { 'manifest.yaml': text } };
}

/**
 * Creates live weighted backends. `marks`: maps the id of each weighted backend to the stack and the name in its mark.
 */
function createLivePools(
  marks: Readonly<Record<string, readonly [stack: string, name: string]>>,
): ExampleLiveResources {
  const pools = Object.entries(marks).map(([id, [stack, name]]) => ({
    id,
    backends: { bkdhr_blue: 1 },
    metadata: renderMarkedMetadata(stack, name),
  }));
  return { WeightedBackend: pools };
}

function createLiveIngress(domain: string, ourName?: string): ExampleLiveResources {
  const metadata = ourName === undefined ? '' : renderMarkedMetadata('production', ourName);
  return { AgentIngress: [{ id: 'agin_live', domain, metadata }] };
}

/** A weighted backend of the stack `production`, and an edge without a mark that uses the weighted backend. */
const USED_POOL: ExampleLiveResources = {
  ...createLivePools({ bkdwd_pool: ['production', 'pool'] }),
  TCPEdge: [{ id: 'edgtcp_other', backend: { backend_id: 'bkdwd_pool' } }],
};

/** A weighted backend of the stack `production`, and an edge of the stack `web` that uses the weighted backend. */
const USED_BY_WEB: ExampleLiveResources = {
  ...USED_POOL,
  TCPEdge: [{ id: 'edgtcp_web', backend: { backend_id: 'bkdwd_pool' }, metadata: renderMarkedMetadata('web', 'shop') }],
};

/** Creates an edge whose backend is a weighted backend of the stack `network`. */
function formatShopEdge(pool: string): string {
  return [
    formatManifestWithLines('External', 'pool', 'spec:', '  stack: network', `  resource: WeightedBackend/${pool}`),
    formatManifestWithLines(
      'TCPEdge',
      'shop',
      'spec:',
      '  hostports: ["1.tcp.example.net:20001"]',
      '  backend: { backend_id: External/pool }',
    ),
  ].join('---\n');
}

/** Creates an `IPRestriction` for each type. The first has the name `one`, the second `two`. */
function formatRestrictions(...types: readonly string[]): string {
  const documents = types.map((type, index) =>
    formatManifestWithLines(
      'IPRestriction',
      NAMES[index] ?? '',
      'spec:',
      `  type: ${type}`,
      '  ip_policy_ids: [ipp_office]',
    ),
  );
  return documents.join('---\n');
}

function createLiveRestrictions(...types: readonly string[]): ExampleLiveResources {
  const restrictions = types.map((type, index) => ({
    id: `ipx_${NAMES[index]}`,
    type,
    ip_policy_ids: ['ipp_office'],
    metadata: renderMarkedMetadata('production', NAMES[index] ?? ''),
  }));
  return { IPRestriction: restrictions };
}

const NAMES = ['one', 'two'] as const;

const OURS = ['production', 'pool'] as const;

/** Codes of planning. Edgewise reports them before it writes anything. */
export const PLANNING_EXPLANATIONS = {
  'unknown-target': {
    meaning:
      '--target limits a plan to some addresses. An unknown address would limit it to nothing, and a pipeline with a misspelt address would always seem to succeed.',
    remedy: 'Correct the address: Kind/name, as in the manifests or an earlier plan.',
    bad: createPlanExample(POOL, { command: 'plan --target WeightedBackend/pol' }),
    good: { command: 'plan --target WeightedBackend/pool' },
  },
  'rotate-refused': {
    meaning:
      '--rotate replaces a credential or an SSH user certificate although its manifest did not change. No other kind can be rotated.',
    remedy: 'Name a credential or an SSH user certificate that the manifests describe.',
    bad: createPlanExample(POOL, { command: 'plan --rotate WeightedBackend/pool' }),
    good: { command: 'plan' },
  },
  'token-sink-missing': {
    meaning:
      'The token of a credential is only in the response to its creation and can never be read again. Without a token sink the credential would be useless, so apply refuses such a plan.',
    remedy: 'Set `spec.tokens` in the Stack, or apply with --token-directory or --token-command.',
    bad: createPlanExample(CREDENTIAL),
    good: {
      files: {
        'edgewise.yaml': formatManifestWithLines(
          'Stack',
          'production',
          'spec:',
          '  tokens:',
          '    default: { directory: tokens }',
        ),
      },
    },
  },
  'cross-stack-reference-missing': {
    meaning:
      'An `External` stands for a resource of another stack, which is found by its mark. No live resource of that kind has a mark with that stack and name, and no other stack of this run creates one; or this run deletes or renames it.',
    remedy:
      'Apply the other stack first, or both in one run with `-R`. If the other stack is already applied, correct its name or the address.',
    bad: createPlanExample(formatShopEdge('pool'), { live: createLivePools({ bkdwd_pool: ['network', 'pools'] }) }),
    good: createCorrection(formatShopEdge('pools')),
  },
  'kept-for-hand-over': {
    meaning:
      'A resource of this stack is no longer in a manifest, so it would be deleted. But another stack of the folder takes it over, or may take it over. Edgewise cannot know that, because of one of these: the variable of its API key is not set or holds another key, its manifests have a mistake, its command was not run, or its own document is missing. A delete cannot be undone, so the resource is kept until that is known.',
    remedy:
      'Correct what the message names, and plan again. If no stack should take the resource over, remove the `lifecycle.renamed_from` that names it.',
    bad: {
      command: 'plan -R .',
      files: { 'a/edgewise.yaml': STACK, 'a/pool.yaml': POOL, 'b/pool.yaml': TAKEN_POOL },
      live: createLivePools({ bkdwd_pool: ['production', 'pool'], bkdwd_taken: ['production', 'taken'] }),
    },
    good: { files: { 'b/edgewise.yaml': formatManifestWithLines('Stack', 'web') } },
  },
  'taken-elsewhere': {
    meaning:
      'A resource of this stack is no longer in a manifest, so it would be deleted. The manifests of another stack of the same repository say that it moves there, with `lifecycle.renamed_from`. This run is for this stack alone, so it does not wait for that. A manifest that has a mistake and names both the stack and the resource counts as one that may take it over. Edgewise does not look at other repositories, or at manifests that a command prints.',
    remedy:
      'Apply the other stack first, or both in one run with `-R`: then only the mark moves, and nothing is deleted. If each stack has its own job, list the resource in `spec.handed_over` of the old stack.',
    bad: {
      command: 'plan a --root . --allow-deletes',
      files: {
        'a/edgewise.yaml': STACK,
        'a/pool.yaml': POOL,
        'b/edgewise.yaml': `${formatManifestWithLines('Stack', 'web')}---\n${TAKEN_POOL}`,
      },
      live: createLivePools({ bkdwd_pool: ['production', 'pool'], bkdwd_taken: ['production', 'taken'] }),
    },
    good: { command: 'plan -R .' },
  },
  'used-elsewhere': {
    meaning:
      'The plan deletes or replaces a resource, and a live resource of another stack refers to its id. The service rejects the delete of a resource that is in use, and after a replace the other stack still refers to the old one.',
    remedy: 'Change the other stack first, so that it refers to something else. Then apply this one.',
    bad: {
      command: 'plan --no-rehearsal --allow-deletes',
      files: { 'edgewise.yaml': STACK, 'manifest.yaml': formatIngress('agents.example.com') },
      live: USED_BY_WEB,
    },
    good: { files: { 'pool.yaml': POOL } },
  },
  'adopt-missing': {
    meaning:
      '`lifecycle.adopt` names an id that no resource of this kind has. Either the id is wrong, or the resource was adopted long ago and deleted since. The manifest still describes what should exist, so the plan creates it.',
    remedy: 'Correct a wrong id before you apply. If the resource was deleted, remove the line.',
    bad: createPlanExample(formatPool('lifecycle:', '  adopt: bkdwd_pool')),
    good: createCorrection(POOL),
  },
  'adopt-refused': {
    meaning:
      'The resource already has a mark: of another stack, or of another address in this stack. Adopting it would take it away from there.',
    remedy:
      'If it was renamed in this stack, use `lifecycle.renamed_from` instead. If another stack manages it, agree with its owner: the document moves here, with `lifecycle.renamed_from: { stack: OLD, name: NAME }`. `--take-over` is for emergencies: the other stack may still describe the resource. To apply everything that does not depend on it, use `--skip-rejected`, or `--exclude` with its address.',
    bad: createPlanExample(formatPool('lifecycle:', '  adopt: bkdwd_pool'), {
      live: createLivePools({ bkdwd_pool: ['staging', 'pool'] }),
    }),
    good: { command: 'plan --take-over staging' },
  },
  'adopt-replaces': {
    meaning:
      'An immutable field differs between the manifest and the live resource. To apply the manifest, the resource would have to be deleted and created again. Adopting must not do that.',
    remedy: 'Write the live value into the manifest and adopt the resource. Change the value afterwards if necessary.',
    bad: createPlanExample(formatIngress('agents.example.com', 'lifecycle:', '  adopt: agin_live'), {
      live: createLiveIngress('connect.example.com'),
    }),
    good: createCorrection(formatIngress('connect.example.com', 'lifecycle:', '  adopt: agin_live')),
  },
  'take-over-unused': {
    meaning:
      '--take-over names a stack whose resources this one may take over, but no manifest describes any of them. If the name is misspelt, new resources are created beside the existing ones.',
    remedy:
      'Correct the name of the stack. If the resource has another name in that stack, write its id in `lifecycle.adopt`. Remove the flag when all resources are taken over.',
    bad: {
      ...createPlanExample(POOL, { live: createLivePools({ bkdwd_pool: ['staging', 'pool'] }) }),
      command: 'plan --take-over stagign',
    },
    good: { command: 'plan --take-over staging' },
  },
  'unset-field-kept': {
    meaning:
      'The manifest set this field when it was last applied, and no longer sets it. The service chooses the value only when it creates a resource, and its choice depends on who sends the request. So the resource keeps its value. After the next apply the field counts as unmanaged. If a certificate is valid for much longer than usual, the removed line may have been `lifecycle.valid_for`.',
    remedy:
      'To keep the value, set it in the manifest. Another value replaces the resource. To let the service choose again, replace it with --rotate.',
    bad: createPlanExample(CREDENTIAL, {
      live: {
        Credential: [
          {
            id: 'cr_live',
            acl: ['bind:*.example.com'],
            owner_id: 'usr_bot',
            metadata: renderMarkedMetadata('production', 'agent', { delivered: true, fields: { owner_id: '28_t9O' } }),
          },
        ],
      },
    }),
    good: createCorrection(
      formatManifestWithLines('Credential', 'agent', 'spec:', '  acl: ["bind:*.example.com"]', '  owner_id: usr_bot'),
    ),
  },
  'adopt-suggested': {
    meaning:
      'The plan creates a resource, but the account already has one with the same fields that no stack owns. Either its mark was removed, or it was created by hand before the manifest existed.',
    remedy: 'Adopt it with the line that the warning shows. If you want a second one, apply.',
    bad: createPlanExample(POOL, { live: { WeightedBackend: [{ id: 'bkdwd_byhand', backends: { bkdhr_blue: 1 } }] } }),
    good: createCorrection(formatPool('lifecycle:', '  adopt: bkdwd_byhand')),
  },
  'renamed-from-missing': {
    meaning:
      'The manifest gives the former name of its resource, but no resource of the stack has the former name or the new one. So the plan creates a resource. If the former name is misspelt, the plan also deletes the resource that it should rename. After the rename, the line has no effect and causes no warning.',
    remedy:
      'If the name is misspelt, correct it: then the resource is kept. If the resource does not exist in this account, you can remove the line or leave it.',
    bad: createPlanExample(formatIngress('agents.example.com', 'lifecycle:', '  renamed_from: conect')),
    good: createCorrection(formatIngress('agents.example.com')),
  },
  'rename-suggested': {
    meaning:
      'A new `metadata.name` means a new resource with a new id; the old one is deleted. Here the new resource claims all unique values (hostport, type or domain) of one that is no longer in the manifests. Most likely it is the same resource with a new name.',
    remedy:
      'If it is, write the old name in `lifecycle.renamed_from`. Then the plan changes only the name in its mark.',
    bad: {
      command: 'plan --no-rehearsal',
      files: { 'edgewise.yaml': `${STACK}---\n${POOL}`, 'manifest.yaml': formatIngress('agents.example.com') },
      live: { ...createLivePools({ bkdwd_pool: OURS }), ...createLiveIngress('agents.example.com', 'connect') },
    },
    good: createCorrection(formatIngress('agents.example.com', 'lifecycle:', '  renamed_from: connect')),
  },
  'claimed-elsewhere': {
    meaning:
      'The value must be unique at the service. It is claimed by a resource of another owner, or by a resource of this stack that the plan does not change. The service would reject the write, so the plan breaks a safety rule, and everything else waits too. With `-R` it is a warning if another stack of the run gives the value up: the write comes after that.',
    remedy:
      'Choose another value, or remove it from the other resource. A resource that no stack manages can be adopted. If another stack manages it, agree with its owner: the document moves here, with `lifecycle.renamed_from: { stack: OLD, name: NAME }`. `--take-over` is for emergencies: the other stack may still describe the resource.',
    bad: createPlanExample(formatIngress('agents.example.com'), {
      live: createLiveIngress('agents.example.com'),
    }),
    good: createCorrection(formatIngress('agents.example.com', 'lifecycle:', '  adopt: agin_live')),
  },
  'certificate-not-valid-yet': {
    meaning:
      'The certificate begins in the future, and the manifest does not ask for that. A machine whose clock was wrong has created it, or a user at the service. Until then, sshd refuses it.',
    remedy: 'Replace it with --rotate, or wait.',
    bad: createPlanExample(formatCertificateWithLines('lifecycle:', '  renew_before: 1h'), {
      live: createLiveCertificates('2026-03-02T00:00:00Z'),
    }),
    good: { live: createLiveCertificates('2026-03-01T00:00:00Z') },
  },
  'clock-skew': {
    meaning:
      'Responses of the service show its time. If the clock of this machine differs by more than a minute, the clock of the service counts: ages (`rotate_after`), ends (`renew_before`) and the start of new certificates are times of the service. If the clocks differ by more than a day, or if the service shows different times, it is unknown which one is right. Then nothing is replaced that is not due by both, and no certificate with `valid_for` is created.',
    remedy:
      'Set the clock of this machine, such as with NTP. If it is right, a proxy or the service shows a wrong time.',
    bad: createPlanExample(POOL, { faults: 'rules: [{ on: "*", fault: wrong_date, seconds: 7200 }]\n' }),
    good: { faults: null },
  },
  'rehearsal-failed': {
    meaning:
      'Before a plan is shown, edgewise applies it to a copy of the account in memory. On the copy, a write failed, or a second plan still found changes. This is only a warning: the service may accept the write, or edgewise may have assumed a wrong value. A write that every service rejects breaks the safety rule `rejected-write` instead.',
    remedy: 'Correct what the message names, or apply the plan and see whether the service accepts it.',
    bad: createPlanExample(formatCertificate('9999-12-31T12:00:00Z')),
    good: createCorrection(formatCertificate('2030-01-01T00:00:00Z')),
  },
  'write-left-out': {
    meaning:
      'The service will reject a write, and the plan was made with --skip-rejected. So the change is left out, and with it every change that depends on it. The plan does everything else. What is left out is planned again next time.',
    remedy:
      'Correct what the message names as the reason. To send the write anyway, use --allow-rejected ADDRESS instead of --skip-rejected.',
    bad: createPlanExample(formatIngress('agents.example.com'), { command: 'plan --skip-rejected', live: USED_POOL }),
    good: { files: { 'manifest.yaml': formatIngress('agents.example.com'), 'pool.yaml': POOL } },
  },
  excluded: {
    meaning:
      '--exclude leaves a resource out of a plan, so that it stays as it is. Everything that depends on it is left out too: resources that refer to it, and writes that would have to wait for its writes. What is left out is planned again without the flag.',
    remedy: 'Plan without --exclude once the reason is gone.',
    bad: createPlanExample(POOL, { command: 'plan --exclude WeightedBackend/pool' }),
    good: { command: 'plan' },
  },
  'rehearsal-gap': {
    meaning:
      'Before a plan is shown, edgewise applies it to a copy of the account in memory. During some of its writes, something is missing that exists before and after the apply. For example, a hostport that moves belongs to no edge, an edge has no backend, or a restriction is off.',
    remedy:
      'Apply the plan in a maintenance window. A unique value is always vacated before another resource takes it.',
    bad: createPlanExample(formatRestrictions('dashboard', 'endpoints'), {
      live: createLiveRestrictions('endpoints', 'dashboard'),
    }),
    good: createCorrection(formatRestrictions('endpoints', 'dashboard')),
  },
  'mark-invalid': {
    meaning:
      'The metadata of a live resource has the key of the mark, but its content is not a valid mark: it was edited. Edgewise cannot tell who owns the resource, so it neither changes nor deletes it.',
    remedy: 'Correct the metadata by hand, or adopt the resource, which writes a new mark.',
    bad: createPlanExample(POOL, { live: createLivePools({ bkdwd_edited: ['production', 'my pool'] }) }),
    good: { live: createLivePools({ bkdwd_edited: OURS }) },
  },
  'duplicate-mark': {
    meaning:
      'Two live resources have the same mark: one was copied together with its metadata, or a replace was interrupted. One is kept and the other is deleted; the plan shows which.',
    remedy:
      'If the plan deletes the resource that you want to keep, remove the mark from the metadata of the other one before you apply. Otherwise, there is nothing to do.',
    bad: createPlanExample(POOL, { live: createLivePools({ bkdwd_first: OURS, bkdwd_second: OURS }) }),
    good: { live: createLivePools({ bkdwd_first: OURS }) },
  },
  lockout: {
    meaning:
      'An IP restriction that is enforced on the API, the dashboard or agents may lock out the pipeline that applies it. Edgewise could not undo that. So it is written last, and the plan warns.',
    remedy:
      'Make sure that its IP policies allow the address that edgewise runs from. Apply it without `enforced` first and watch its warnings.',
    bad: createPlanExample(formatRestriction('  enforced: true')),
    good: createCorrection(
      formatRestriction(
        '  enforced: false',
        'lint:',
        '  allow:',
        '    restriction-not-enforced: its warnings are watched for a week first',
      ),
    ),
  },
} as const satisfies Partial<Record<DiagnosticCode, Explanation>>;
