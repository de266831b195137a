// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the variables of manifests look like that

import type { LintCode } from '../../model/diagnostic.ts';
import { type Explanation, formatManifestWithLines, joinDocuments } from '../explanation.ts';

function createExamples(bad: string, good: string): Pick<Explanation, 'bad' | 'good'> {
  return { bad: { command: 'validate', files: { 'manifest.yaml': bad } }, good: { files: { 'manifest.yaml': good } } };
}

function formatEdge(...lines: readonly string[]): string {
  return formatManifestWithLines('TCPEdge', 'postgres', 'spec:', '  backend:', '    backend_id: bkdhr_blue', ...lines);
}

function formatPolicy(expression: string, action: string): string {
  return formatEdge(
    '  policy:',
    '    inbound:',
    `      expressions: ["${expression}"]`,
    '      actions:',
    `        type: ${action}`,
  );
}

function formatPool(weight: number): string {
  return formatManifestWithLines('WeightedBackend', 'pool', 'spec:', '  backends:', `    bkdhr_blue: ${weight}`);
}

function formatCredential(...lines: readonly string[]): string {
  return formatManifestWithLines('Credential', 'agent', ...lines);
}

function formatHeader(value: string): string {
  const ids = ['  edge_id: edghts_shop', '  id: edghtsrt_checkout'];
  const headers = ['  request_headers:', '    add:', `      authorization: "${value}"`];
  return formatManifestWithLines('HTTPSEdgeRoute', 'checkout', 'spec:', ...ids, ...headers);
}

function formatSink(text: string): string {
  const command = [
    'spec:',
    '  tokens:',
    '    default:',
    '      command:',
    '        - sh',
    '        - -c',
    `        - ${text}`,
  ];
  return formatManifestWithLines('Stack', 'shop', ...command);
}

function formatCertificate(...more: readonly string[]): string {
  return formatManifestWithLines(
    'SSHUserCertificate',
    'alice',
    'spec:',
    '  public_key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L',
    '  ssh_certificate_authority_id: sshca_bastion',
    ...more,
  );
}

function formatRestriction(type: string, ...lines: readonly string[]): string {
  return formatManifestWithLines(
    'IPRestriction',
    type,
    'spec:',
    `  type: ${type}`,
    '  ip_policy_ids: [ipp_office]',
    ...lines,
  );
}

function formatBreaker(...lines: readonly string[]): string {
  const fields = ['tripped_duration: 10', 'rolling_window: 60', 'num_buckets: 6', ...lines].map(
    (line) => `    ${line}`,
  );
  return formatManifestWithLines(
    'HTTPSEdgeRoute',
    'cart',
    'spec:',
    '  edge_id: edghts_shop',
    '  id: edghtsrt_cart',
    '  circuit_breaker:',
    ...fields,
  );
}

function formatFilter(...lines: readonly string[]): string {
  const head = ['spec:', '  edge_id: edghts_shop', '  id: edghtsrt_cart', '  user_agent_filter:'];
  return formatManifestWithLines('HTTPSEdgeRoute', 'cart', ...head, ...lines.map((line) => `    ${line}`));
}

function formatRestrictIps(line: string): string {
  const action = ['        type: restrict-ips', `        config: { ${line}, allow: ["203.0.113.0/24"] }`];
  return formatEdge('  policy:', '    inbound:', '      actions:', ...action);
}

const OFFICE = formatManifestWithLines('External', 'office', 'spec:', '  id: ipp_office');

function formatEndpoints(policy: string): string {
  return formatManifestWithLines(
    'IPRestriction',
    'endpoints',
    'spec:',
    '  type: endpoints',
    '  enforced: true',
    `  ip_policy_ids: [${policy}]`,
  );
}

export const LINT_EXPLANATIONS = {
  'cel-syntax': {
    meaning:
      'An expression of a policy is not valid CEL. The service may reject it, or accept it and apply the rule to no traffic. A `deny` rule then lets everybody in. Lint knows CEL with optional fields, but without messages (`Name{field: 1}`) and names that start with a dot. It does not check types or functions.',
    remedy: 'Correct the expression at the caret.',
    ...createExamples(
      formatPolicy("conn.client_ip = '192.0.2.1'", 'deny'),
      formatPolicy("conn.client_ip == '192.0.2.1'", 'deny'),
    ),
  },
  'cel-variable': {
    meaning:
      'An expression of a policy uses a variable that edgewise does not know for this traffic. Most often the name is misspelt or belongs to HTTP. An expression that cannot be evaluated matches no traffic.',
    remedy: 'Correct the name. If your service has the variable, list it in `spec.lint.cel_variables` of the Stack.',
    ...createExamples(
      formatPolicy("conn.cleint_ip == '192.0.2.1'", 'deny'),
      formatPolicy("conn.client_ip == '192.0.2.1'", 'deny'),
    ),
  },
  'unknown-action': {
    meaning:
      'A policy has an action that edgewise does not know for this traffic. The service accepts any text here, so the mistake would only show in traffic.',
    remedy: 'Use one of the actions that the message lists.',
    ...createExamples(
      formatPolicy("conn.client_ip == '192.0.2.1'", 'denny'),
      formatPolicy("conn.client_ip == '192.0.2.1'", 'deny'),
    ),
  },
  'no-weight': {
    meaning: 'All weights of a backend are zero, or it has none. Its traffic goes nowhere.',
    remedy: 'Give one of the backends a weight above zero.',
    ...createExamples(formatPool(0), formatPool(1)),
  },
  'edge-without-backend': {
    meaning: 'An edge accepts connections but has no enabled backend to forward them to.',
    remedy: 'Add `spec.backend`, or enable it. If another tool sets it, add `lifecycle.ignore: [backend]`.',
    ...createExamples(
      formatManifestWithLines('TCPEdge', 'postgres', 'spec:', '  hostports: ["1.tcp.example.net:20001"]'),
      formatEdge('  hostports: ["1.tcp.example.net:20001"]'),
    ),
  },
  'credential-unrestricted': {
    meaning:
      'Without an ACL, or with `*` in it, the token of a credential may bind any domain, address and label of the account. Anyone who finds the token can take over traffic.',
    remedy: 'List the domains, addresses and labels that the agent binds in `spec.acl`.',
    ...createExamples(
      formatCredential('spec:', '  description: The agent of the shop'),
      formatCredential('spec:', '  acl: ["bind:*.example.com"]'),
    ),
  },
  'certificate-without-principals': {
    meaning:
      'According to the API documentation, a certificate without principals is valid for every user. OpenSSH with TrustedUserCAKeys accepts it for no user.',
    remedy: 'List the user names with which the holder signs in, in `spec.principals`.',
    ...createExamples(formatCertificate(), formatCertificate('  principals: [alice]')),
  },
  'certificate-too-long': {
    meaning:
      'A certificate cannot be revoked: its holder has access until it expires. This one is valid for longer than the Stack allows; the default is 90 days.',
    remedy:
      'Set `lifecycle.valid_for` and `renew_before`, so that certificates are short-lived and renewed, or raise `spec.lint.max_validity` of the Stack.',
    ...createExamples(
      formatCertificate('  principals: [alice]', 'lifecycle:', '  valid_for: 365d'),
      formatCertificate('  principals: [alice]', 'lifecycle:', '  valid_for: 30d', '  renew_before: 5d'),
    ),
  },
  'restriction-not-enforced': {
    meaning: 'An IP restriction that is not enforced blocks no request: the service only warns.',
    remedy:
      'Read the warnings of the service. Once none of them is about a user who should have access, set `enforced: true`. Until then, give the reason in `lint.allow`.',
    ...createExamples(formatRestriction('endpoints'), formatRestriction('endpoints', '  enforced: true')),
  },
  'restriction-locks-out': {
    meaning:
      'An IP restriction that is enforced on the API, the dashboard or agents can lock out the user who applies it. A plan that writes one always warns as `lockout`, so for plans only the severity `error` has an effect.',
    remedy:
      'Make sure that its IP policies allow the address that edgewise runs from. Then add the finding to `lint.allow`.',
    ...createExamples(
      formatRestriction('api', '  enforced: true'),
      formatRestriction(
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
      'With thresholds of zero, a circuit breaker never trips. Without a window or buckets it counts nothing. Without a duration it closes again at once.',
    remedy: 'Change the fields that the message names, or disable the module.',
    ...createExamples(
      formatBreaker('volume_threshold: 0'),
      formatBreaker('volume_threshold: 20', 'error_threshold_percentage: 0.5'),
    ),
  },
  'filter-without-effect': {
    meaning:
      'A request is allowed if any allow pattern matches, or if no deny pattern matches. So a filter with allow patterns alone admits every user agent, a pattern in both lists is allowed, and an empty pattern matches every user agent.',
    remedy: 'Deny what is not allowed, keep each pattern in one list, and remove empty patterns.',
    ...createExamples(formatFilter('allow: ["^Mozilla/"]'), formatFilter('allow: ["^Mozilla/"]', 'deny: [".*"]')),
  },
  'action-config': {
    meaning:
      'The config of a policy action has a member that the action does not know, or a value that it cannot use; or an action is after `deny`, which ends the connection. The service stores any config, so the mistake would only show in traffic.',
    remedy: 'Correct what the message names.',
    ...createExamples(formatRestrictIps('enforced: false'), formatRestrictIps('enforce: false')),
  },
  'unknown-extension': {
    meaning:
      'An extension of an SSH user certificate is not one that sshd knows. sshd ignores it, so the holder lacks a permission. Extensions of others contain an `@`.',
    remedy: 'Correct the name.',
    ...createExamples(
      formatCertificate('  principals: [alice]', '  extensions: { permit-pty: "", permit-agent-forwading: "" }'),
      formatCertificate('  principals: [alice]', '  extensions: { permit-pty: "", permit-agent-forwarding: "" }'),
    ),
  },
  'no-terminal': {
    meaning:
      'The manifest lists the extensions of an SSH user certificate without `permit-pty`. A list replaces the default, which contains it. The holder can sign in, and gets no terminal.',
    remedy: 'Add `permit-pty`. If the holder needs no terminal, give that as the reason in `lint.allow`.',
    ...createExamples(
      formatCertificate('  principals: [alice]', '  extensions: { permit-port-forwarding: "" }'),
      formatCertificate('  principals: [alice]', '  extensions: { permit-pty: "", permit-port-forwarding: "" }'),
    ),
  },
  'number-rewritten': {
    meaning:
      'A number in metadata or in the config of an action is sent as another text than the manifest has: `1.10` as 1.1, `0x1F` as 31, `012345678901` as 12345678901. Versions and account numbers are then wrong.',
    remedy: 'Put the number in quotes.',
    ...createExamples(formatEdge('  metadata: { version: 1.10 }'), formatEdge('  metadata: { version: "1.10" }')),
  },
  'unknown-placeholder': {
    meaning:
      'A text contains `${NAME}`. Edgewise fills in `${env:NAME}` and `${secret:NAME}` only, so this text is sent as it is written.',
    remedy: 'Write `${env:NAME}`, and offer the variable to manifests. To send the text itself, write `$${NAME}`.',
    ...createExamples(
      formatEdge('  description: Shop of ${ENVIRONMENT}'),
      formatEdge('  description: Shop of $${ENVIRONMENT}'),
    ),
  },
  'left-to-service': {
    meaning:
      'The service chooses the values that a module leaves out, and edgewise does not compare them. A module has no mark, so nothing remembers that a value was set before: if you remove it from the manifest, it stays at the service.',
    remedy: 'Set all values that the message names. A plan names those that are live.',
    ...createExamples(
      formatBreaker('error_threshold_percentage: 0.5'),
      formatBreaker('volume_threshold: 20', 'error_threshold_percentage: 0.5'),
    ),
  },
  'repeated-value': {
    meaning:
      'A set contains a value twice, perhaps in two spellings that the service treats as equal. One of them may be a mistake for another value.',
    remedy: 'Remove one of them, or correct it.',
    ...createExamples(
      formatEdge('  hostports: ["1.tcp.example.net:20001", "1.TCP.example.net:20001"]'),
      formatEdge('  hostports: ["1.tcp.example.net:20001", "1.tcp.example.net:20002"]'),
    ),
  },
  'literal-id': {
    meaning:
      'The manifests write out an id although an External, HTTPSEdge or HTTPSEdgeRoute document gives it a name. When the id changes, one of the two places is easily forgotten. Lint sends no request, so it knows only these ids.',
    remedy: 'Write the address instead of the id.',
    ...createExamples(
      joinDocuments(OFFICE, formatEndpoints('ipp_office')),
      joinDocuments(OFFICE, formatEndpoints('External/office')),
    ),
  },
  'placeholder-in-shell': {
    meaning:
      'The command of a token sink runs a script, for example in a shell, and the script contains `{name}`, `{address}`, `{id}` or `{stack}`. The inserted value could run as code, which could read the token. Edgewise checks each of these values, but a script should not depend on that.',
    remedy:
      'Use the variable with the same value, in double quotes: `"$EDGEWISE_NAME"`, `"$EDGEWISE_ADDRESS"`, `"$EDGEWISE_ID"`, `"$EDGEWISE_STACK"`. Or give the placeholder as an argument of its own.',
    ...createExamples(
      formatSink(`'vault kv put "secret/{name}" token=-'`),
      formatSink(`'vault kv put "secret/$EDGEWISE_NAME" token=-'`),
    ),
  },
  'secret-in-manifest': {
    meaning:
      'A manifest contains a secret. A warning: a header or a member of a policy action is named like a secret (authorization, cookie, token, key, secret or password), and its value is in clear, where everyone who can read the repository can read it. No output shows it. An error: the manifest contains the API key, or the token that `post` uses, or names a variable or file that does.',
    remedy:
      'Put the value into an environment variable, and write `${secret:NAME}`. Never write the API key into a manifest. If a secret was committed, replace it.',
    ...createExamples(formatHeader('Bearer 4f1c9a'), formatHeader('Bearer ${secret:UPSTREAM_KEY}')),
  },
  'suppression-unused': {
    meaning:
      '`lint.allow` exempts a manifest from a rule that finds nothing in it. The line would hide later findings.',
    remedy: 'Remove the line.',
    ...createExamples(
      formatCredential(
        'spec:',
        '  acl: ["bind:*.example.com"]',
        'lint:',
        '  allow:',
        '    credential-unrestricted: the agent of the administrators',
      ),
      formatCredential('spec:', '  acl: ["bind:*.example.com"]'),
    ),
  },
} as const satisfies Record<LintCode, Explanation>;
