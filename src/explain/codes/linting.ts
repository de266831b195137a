import type { LintCode } from '../../model/diagnostic-codes.ts';
import { type Explanation, toDocument, toStream } from '../explanation.ts';

/** A manifest before and after, both seen by lint. */
function toExamples(bad: string, good: string): Pick<Explanation, 'bad' | 'good'> {
  return { bad: { command: 'validate', files: { 'manifest.yaml': bad } }, good: { files: { 'manifest.yaml': good } } };
}

function toEdge(...lines: readonly string[]): string {
  return toDocument('TCPEdge', 'postgres', 'spec:', '  backend:', '    backend_id: bkdhr_blue', ...lines);
}

function toPolicy(expression: string, action: string): string {
  return toEdge(
    '  policy:',
    '    inbound:',
    `      expressions: ["${expression}"]`,
    '      actions:',
    `        type: ${action}`,
  );
}

function toPool(weight: number): string {
  return toDocument('WeightedBackend', 'pool', 'spec:', '  backends:', `    bkdhr_blue: ${weight}`);
}

function toCredential(...lines: readonly string[]): string {
  return toDocument('Credential', 'agent', ...lines);
}

function toCertificate(...more: readonly string[]): string {
  return toDocument(
    'SSHUserCertificate',
    'alice',
    'spec:',
    '  public_key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L',
    '  ssh_certificate_authority_id: sshca_bastion',
    ...more,
  );
}

function toRestriction(type: string, ...lines: readonly string[]): string {
  return toDocument('IPRestriction', type, 'spec:', `  type: ${type}`, '  ip_policy_ids: [ipp_office]', ...lines);
}

function toBreaker(...lines: readonly string[]): string {
  const fields = ['tripped_duration: 10', 'rolling_window: 60', 'num_buckets: 6', ...lines].map(
    (line) => `    ${line}`,
  );
  return toDocument(
    'HTTPSEdgeRoute',
    'cart',
    'spec:',
    '  edge_id: edghts_shop',
    '  id: edghtsrt_cart',
    '  circuit_breaker:',
    ...fields,
  );
}

const OFFICE = toDocument('External', 'office', 'spec:', '  id: ipp_office');

function toEndpoints(policy: string): string {
  return toDocument(
    'IPRestriction',
    'endpoints',
    'spec:',
    '  type: endpoints',
    '  enforced: true',
    `  ip_policy_ids: [${policy}]`,
  );
}

/** The codes of lint rules. */
export const LINTING = {
  'cel-syntax': {
    meaning:
      'An expression of a policy is no CEL. The service may refuse it, or take it and let the rule apply to no traffic, which for a rule that denies means that it lets everybody in.',
    remedy: 'Mend the expression where the caret is.',
    ...toExamples(toPolicy("conn.client_ip = '192.0.2.1'", 'deny'), toPolicy("conn.client_ip == '192.0.2.1'", 'deny')),
  },
  'cel-variable': {
    meaning:
      'An expression of a policy names a variable that edgewise does not know for this traffic. Most often it is misspelt, or belongs to HTTP. An expression that cannot be computed holds for nobody.',
    remedy: 'Correct the name, or list it in `spec.lint.cel_variables` of the Stack if your service has it.',
    ...toExamples(toPolicy("conn.cleint_ip == '192.0.2.1'", 'deny'), toPolicy("conn.client_ip == '192.0.2.1'", 'deny')),
  },
  'unknown-action': {
    meaning:
      'A policy has an action that is not known to work on the traffic of its kind. The service stores any text, so that the mistake would show only in traffic.',
    remedy: 'Name one of the actions that the message lists.',
    ...toExamples(
      toPolicy("conn.client_ip == '192.0.2.1'", 'denny'),
      toPolicy("conn.client_ip == '192.0.2.1'", 'deny'),
    ),
  },
  'no-weight': {
    meaning: 'All weights of a backend are zero, or there are none: whatever reaches it goes nowhere.',
    remedy: 'Give one of the backends a weight above zero.',
    ...toExamples(toPool(0), toPool(1)),
  },
  'edge-without-backend': {
    meaning: 'An edge takes connections and has no enabled backend to pass them on to.',
    remedy: 'Add `spec.backend`, or enable it. Where somebody else sets it, say so: `lifecycle.ignore: [backend]`.',
    ...toExamples(
      toDocument('TCPEdge', 'postgres', 'spec:', '  hostports: ["1.tcp.example.net:20001"]'),
      toEdge('  hostports: ["1.tcp.example.net:20001"]'),
    ),
  },
  'credential-unrestricted': {
    meaning:
      'The token of a credential without an ACL, or with `*` in it, may bind any domain, address and label of the account. Who finds it can take over traffic.',
    remedy: 'List what the agent binds.',
    ...toExamples(
      toCredential('spec:', '  description: The agent of the shop'),
      toCredential('spec:', '  acl: ["bind:*.example.com"]'),
    ),
  },
  'certificate-without-principals': {
    meaning:
      'A certificate that names no principals is one for every user, says the interface. OpenSSH with TrustedUserCAKeys takes it for none.',
    remedy: 'List the users that its holder signs in as.',
    ...toExamples(toCertificate(), toCertificate('  principals: [alice]')),
  },
  'certificate-too-long': {
    meaning:
      'A certificate cannot be called back: who has the key gets in until it ends. This one is valid for longer than the Stack allows, which is 90 days when it does not say.',
    remedy:
      'Let short ones follow each other with `lifecycle.valid_for` and `renew_before`, or raise `spec.lint.max_validity` of the Stack.',
    ...toExamples(
      toCertificate('  principals: [alice]', 'lifecycle:', '  valid_for: 365d'),
      toCertificate('  principals: [alice]', 'lifecycle:', '  valid_for: 30d', '  renew_before: 5d'),
    ),
  },
  'restriction-not-enforced': {
    meaning: 'An IP restriction that is not enforced keeps nobody out: the service only warns.',
    remedy: 'Enforce it once its warnings show nobody who should get in. Until then, say in `lint.allow` why not.',
    ...toExamples(toRestriction('endpoints'), toRestriction('endpoints', '  enforced: true')),
  },
  'restriction-locks-out': {
    meaning:
      'An IP restriction that is enforced on the API, the dashboard or agents can shut out who applies it. A plan says so itself, as `lockout`, when it is about to write one.',
    remedy: 'Make sure that its IP policies allow the address that edgewise runs from, and say so in `lint.allow`.',
    ...toExamples(
      toRestriction('api', '  enforced: true'),
      toRestriction(
        'api',
        '  enforced: true',
        'lint:',
        '  allow:',
        '    restriction-locks-out: the policy holds the addresses of the runners',
      ),
    ),
  },
  'breaker-never-trips': {
    meaning:
      'What a circuit breaker leaves out is zero: a threshold of zero never trips it, without a window or buckets it counts nothing, and without a duration it is open at once.',
    remedy: 'Set what the message names, or disable the module.',
    ...toExamples(toBreaker(), toBreaker('volume_threshold: 20', 'error_threshold_percentage: 0.5')),
  },
  'repeated-value': {
    meaning:
      'A set holds a value twice, perhaps in two spellings that the service takes for one. One of them may have been meant to be another.',
    remedy: 'Remove one of them, or correct it.',
    ...toExamples(
      toEdge('  hostports: ["1.tcp.example.net:20001", "1.TCP.example.net:20001"]'),
      toEdge('  hostports: ["1.tcp.example.net:20001", "1.tcp.example.net:20002"]'),
    ),
  },
  'literal-id': {
    meaning:
      'An id is written out that an External, an HTTPSEdge or an HTTPSEdgeRoute of these manifests has a name for. When the id changes, one of the two places is forgotten.',
    remedy: 'Write the address in the place of the id.',
    ...toExamples(toStream(OFFICE, toEndpoints('ipp_office')), toStream(OFFICE, toEndpoints('External/office'))),
  },
  'suppression-unused': {
    meaning:
      '`lint.allow` excuses a manifest from a rule that finds nothing in it. Left there, it would hide what the rule finds later.',
    remedy: 'Remove the line.',
    ...toExamples(
      toCredential(
        'spec:',
        '  acl: ["bind:*.example.com"]',
        'lint:',
        '  allow:',
        '    credential-unrestricted: the agent of the administrators',
      ),
      toCredential('spec:', '  acl: ["bind:*.example.com"]'),
    ),
  },
} as const satisfies Record<LintCode, Explanation>;
