import type { DiagnosticCode } from '../../model/diagnostic.ts';
import { toFieldDigest } from '../../model/mark.ts';
import {
  type ExampleLiveResources,
  type Explanation,
  formatManifestWithLines,
  joinDocuments,
  renderMarkedMetadata,
} from '../explanation.ts';

const STACK = formatManifestWithLines('Stack', 'production');
const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L';

function formatCertificate(...more: readonly string[]): string {
  return formatManifestWithLines(
    'SSHUserCertificate',
    'alice',
    'spec:',
    `  public_key: ${KEY}`,
    '  ssh_certificate_authority_id: sshca_bastion',
    '  principals: [alice]',
    ...more,
  );
}

function createLiveCertificate(after: string, until: string): ExampleLiveResources {
  const certificate = {
    id: 'sucrt_alice',
    created_at: after,
    public_key: KEY,
    ssh_certificate_authority_id: 'sshca_bastion',
    principals: ['alice'],
    valid_after: after,
    valid_until: until,
    metadata: renderMarkedMetadata('production', 'alice'),
  };
  return { SSHUserCertificate: [certificate] };
}

function formatIngress(domain: string): string {
  return formatManifestWithLines(
    'AgentIngress',
    'agents',
    'spec:',
    `  domain: ${domain}`,
    '  certificate_management_policy: {}',
  );
}

function createLiveIngress(domain: string): ExampleLiveResources {
  const metadata = renderMarkedMetadata('production', 'agents');
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

const LIVE_POOL: ExampleLiveResources = {
  WeightedBackend: [
    { id: 'bkdwd_pool', backends: { bkdhr_blue: 1 }, metadata: renderMarkedMetadata('production', 'pool') },
  ],
};

const WEIGHTS = { bkdhr_blue: 1 };
const APPLIED = { fields: { backends: toFieldDigest(WEIGHTS) } };
const APPLIED_POOL: ExampleLiveResources = {
  WeightedBackend: [
    { id: 'bkdwd_pool', backends: WEIGHTS, metadata: renderMarkedMetadata('production', 'pool', APPLIED) },
  ],
};

/** Codes about live resources, concurrent changes, and settings of untrusted manifests. */
export const LIVE_STATE_EXPLANATIONS = {
  'resource-unhealthy': {
    meaning:
      'The manifest is valid and the service accepted it, but the service fails to do what it asks for, for example to obtain a certificate for a domain. No write by edgewise can solve that.',
    remedy:
      'Follow the help of the diagnostic, for example set the NS records of the domain. The next plan checks again.',
    bad: {
      command: 'plan',
      files: inStack(formatIngress('agents.invalid')),
      live: createLiveIngress('agents.invalid'),
    },
    good: { files: inStack(formatIngress('agents.example.com')), live: createLiveIngress('agents.example.com') },
  },
  'not-shown': {
    meaning:
      'A service may leave a field out of its responses. If any response about that kind shows the field, its absence elsewhere means that it is empty. If none does, or if the field cannot be empty, its live value is unknown: it counts as last applied, and only a changed manifest is written. Modules of HTTPS edges have no mark: a part of them with a value other than empty or the default is written by each apply.',
    remedy:
      'Check the field at the service, or update the service. To leave the field to others, list it in `lifecycle.ignore`.',
    bad: {
      command: 'plan',
      files: inStack(formatPool('pool', 1)),
      live: APPLIED_POOL,
      faults: 'rules: [{ on: GET /backends/weighted, fault: left_out, fields: [backends] }]\n',
    },
    good: { faults: null },
  },
  'certificate-expiring': {
    meaning:
      'A live certificate has expired or will soon, and no apply replaces it in time. Unless the manifest sets its end, an apply replaces it only after that end. If the manifest sets the end, a new certificate would end at the same time, so nothing is replaced.',
    remedy:
      'Set `lifecycle.renew_before`, so that an apply before the end replaces it, or replace it now with --rotate. Instead of a fixed end, use `lifecycle.valid_for`, so that each new certificate ends later than the one before.',
    bad: {
      command: 'plan',
      files: inStack(formatCertificate()),
      live: createLiveCertificate('2026-02-28T13:00:00Z', '2026-03-01T13:00:00Z'),
    },
    good: { files: { 'manifest.yaml': formatCertificate('lifecycle:', '  renew_before: 4h') } },
  },
  'stored-otherwise': {
    meaning:
      'The response to a write shows a description, or your part of the metadata, in another form than it was sent: trimmed, in lower case, or otherwise rewritten. It is neither empty nor the old value. The mark of the resource remembers what was sent and what came back, with one more request. From then on, both count as equal; a change of either is a difference again.',
    remedy: 'Nothing has to be done. To avoid the request, write the text as the service stores it.',
    bad: {
      command: 'apply --yes',
      files: inStack(formatPool('pool', 1, '  description: Blue Pool')),
      faults: 'rules: [{ on: "*", fault: normalise, forms: [lower_case] }]\n',
    },
    good: { files: inStack(formatPool('pool', 1, '  description: blue pool')) },
  },
  'changed-since-plan': {
    meaning:
      'After the plan and before a write, another user changed a field that the plan does not touch. The write left that field alone, and its response shows the difference.',
    remedy: 'Plan again. The field appears as drift: apply to revert it, or copy it into the manifest.',
    bad: {
      command: 'apply --yes',
      files: inStack(formatPool('pool', 2)),
      live: LIVE_POOL,
      concurrentRequest: {
        before: 'PATCH /backends/weighted/bkdwd_pool',
        request: 'PATCH /backends/weighted/bkdwd_pool',
        body: '{ "description": "changed by hand" }',
      },
    },
    good: { concurrentRequest: null },
  },
  'created-twice': {
    meaning:
      'The service allows two such resources, so it refused neither apply. After its writes, each apply checks for duplicates. The apply that created the later one deletes it, so one resource stays.',
    remedy: 'Run only one apply of a stack at a time. Pipelines have a setting for that, such as a concurrency group.',
    bad: {
      command: 'apply --yes',
      files: inStack(formatPool('pool', 1)),
      concurrentRequest: {
        before: 'POST /backends/weighted',
        request: 'POST /backends/weighted',
        body: JSON.stringify({
          backends: { bkdhr_blue: 1 },
          metadata: renderMarkedMetadata('production', 'pool'),
        }),
      },
    },
    good: { concurrentRequest: null },
  },
  'concurrent-apply': {
    meaning:
      'The service rejected a creation, and lists a resource with the same mark that was not there when the plan was made: another apply of this stack is under way, or has just ended. If a pipeline created it, its mark names the pipeline. All other writes of this run are safe.',
    remedy:
      'Run apply again when the other one has ended. Run only one apply of a stack at a time: docs/pipelines.md shows how for each CI system.',
    bad: {
      command: 'apply --yes',
      files: inStack(formatEdge('postgres', 20_001)),
      concurrentRequest: {
        before: 'POST /edges/tcp',
        request: 'POST /edges/tcp',
        body: JSON.stringify({
          hostports: ['1.tcp.example.net:20001'],
          metadata: renderMarkedMetadata('production', 'postgres'),
        }),
      },
    },
    good: { concurrentRequest: null },
  },
  'untrusted-setting': {
    meaning:
      'The manifests are not merged yet (`--untrusted`), and their Stack sets one of these to another value than the flags and variables of the run: the URL of the service, its certificate authorities, the version header, the variable of the API key, or the rate limit. A pull request could send the key to its author that way. So flags and variables decide, and the Stack may only repeat their values.',
    remedy:
      'Remove the line, or set it to the value that the run uses. If the pipeline should use the new value, change its flag or variable.',
    bad: {
      command: 'plan --untrusted',
      files: {
        'edgewise.yaml': formatManifestWithLines(
          'Stack',
          'production',
          'spec:',
          '  api:',
          '    base_url: https://elsewhere.example.com',
        ),
      },
    },
    good: { files: { 'edgewise.yaml': formatManifestWithLines('Stack', 'production') } },
  },
} as const satisfies Partial<Record<DiagnosticCode, Explanation>>;

function formatDefaults(...lines: readonly string[]): string {
  return ['apiVersion: edgewise/v1', 'kind: Defaults', ...lines, ''].join('\n');
}

function formatPool(name: string, weight = 1, ...more: readonly string[]): string {
  return formatManifestWithLines('WeightedBackend', name, 'spec:', '  backends:', `    bkdhr_blue: ${weight}`, ...more);
}

function formatEdge(name: string, port: number, backend = 'bkdhr_blue'): string {
  return formatManifestWithLines(
    'TCPEdge',
    name,
    'spec:',
    `  hostports: ["1.tcp.example.net:${port}"]`,
    '  backend:',
    `    backend_id: ${backend}`,
  );
}

export const DOCUMENT_CONFLICT_EXPLANATIONS = {
  'duplicate-address': {
    meaning:
      'Kind and name form an address, such as TCPEdge/postgres. An address stands for one resource. With two documents, the order of the files would decide which one applies.',
    remedy: 'Rename or remove one of them.',
    bad: { command: 'validate', files: { 'a.yaml': formatPool('pool'), 'b.yaml': formatPool('pool') } },
    good: { files: { 'b.yaml': formatPool('pool-b') } },
  },
  'duplicate-claim': {
    meaning:
      'Some values must be unique: a hostport, the domain of an ingress, the type of an IP restriction, an id to adopt, a former name, a file that something is written to. The service would reject the second resource, or both would take the value from each other. With `-R`, this holds for the documents of all stacks of one account. A document for an HTTPS edge or route describes all of its modules: a second document would remove the modules of the first.',
    remedy:
      'Remove the value from one of the documents. Put the modules of one edge or route into one document. Give each stack a folder of its own for tokens.',
    bad: {
      command: 'validate',
      files: { 'edges.yaml': joinDocuments(formatEdge('postgres', 20001), formatEdge('mysql', 20001)) },
    },
    good: { files: { 'edges.yaml': joinDocuments(formatEdge('postgres', 20001), formatEdge('mysql', 20002)) } },
  },
  'renamed-from-in-use': {
    meaning:
      '`lifecycle.renamed_from` gives the mark of an existing resource a new name. That is impossible while another document still describes the old name.',
    remedy: 'Remove the document with the old name. If this is a new resource, remove the line instead.',
    bad: {
      command: 'validate',
      files: {
        'pools.yaml': joinDocuments(formatPool('new', 1, 'lifecycle:', '  renamed_from: old'), formatPool('old')),
      },
    },
    good: { files: { 'pools.yaml': formatPool('new', 1, 'lifecycle:', '  renamed_from: old') } },
  },
  'dangling-reference': {
    meaning:
      'A reference is Kind/name, and a document must describe that address. For a resource that this stack does not manage, add an `External` document.',
    remedy: 'Correct the name, add the document, or write a literal id.',
    bad: {
      command: 'validate',
      files: { 'edge.yaml': joinDocuments(formatEdge('postgres', 20001, 'WeightedBackend/pol'), formatPool('pool')) },
    },
    good: {
      files: { 'edge.yaml': joinDocuments(formatEdge('postgres', 20001, 'WeightedBackend/pool'), formatPool('pool')) },
    },
  },
  'wrong-reference': {
    meaning:
      'The field accepts references to certain kinds only. This is the id (its prefix shows the kind) or the address of another kind. The service would reject it in the middle of an apply.',
    remedy:
      'Use a kind or prefix that the message lists. `edgewise explain Kind.field` shows what a field may refer to.',
    bad: { command: 'validate', files: { 'edge.yaml': formatEdge('postgres', 20001, 'ipp_office') } },
    good: { files: { 'edge.yaml': formatEdge('postgres', 20001, 'bkdhr_blue') } },
  },
  'circular-reference': {
    meaning: 'References lead from one document to the next and back to the first, so no id can be found.',
    remedy: 'Write a literal id in one of the documents.',
    bad: {
      command: 'validate',
      files: {
        'names.yaml': joinDocuments(
          formatManifestWithLines('External', 'office', 'spec:', '  id: External/headquarters'),
          formatManifestWithLines('External', 'headquarters', 'spec:', '  id: External/office'),
        ),
      },
    },
    good: {
      files: {
        'names.yaml': joinDocuments(
          formatManifestWithLines('External', 'office', 'spec:', '  id: External/headquarters'),
          formatManifestWithLines('External', 'headquarters', 'spec:', '  id: ipp_office'),
        ),
      },
    },
  },
  'no-stack': {
    meaning:
      'The name of the stack is part of every mark. By it a later run knows which resources the stack owns. There is no default name, because two repositories with the same name would delete the resources of each other.',
    remedy: 'Add a `Stack` document with a unique name. It can also hold settings.',
    bad: { command: 'plan', files: { 'pool.yaml': formatPool('pool') } },
    good: { files: { 'edgewise.yaml': STACK } },
  },
  'kind-not-enabled': {
    meaning:
      'Only the kinds in `spec.kinds` of the Stack are read from the service. A manifest of another kind could not be compared with anything.',
    remedy: 'Add the kind to `spec.kinds`, or remove the document.',
    bad: {
      command: 'validate',
      files: {
        'edgewise.yaml': formatManifestWithLines('Stack', 'production', 'spec:', '  kinds: [TCPEdge]'),
        'pool.yaml': formatPool('pool'),
      },
    },
    good: {
      files: {
        'edgewise.yaml': formatManifestWithLines('Stack', 'production', 'spec:', '  kinds: [TCPEdge, WeightedBackend]'),
      },
    },
  },
  'multiple-defaults': {
    meaning:
      'A stack takes each setting from the nearest Defaults document above it that sets it. If one folder has two, neither is nearer.',
    remedy: 'Put the settings into one of them, and remove the other.',
    bad: {
      command: 'validate',
      files: {
        'edgewise.yaml': STACK,
        'defaults.yaml': formatDefaults('spec:', '  owner_label: team'),
        'more.yaml': formatDefaults('spec:', '  guard: { max_deletes: 2 }'),
        'pool.yaml': formatPool('pool'),
      },
    },
    good: {
      files: {
        'defaults.yaml': formatDefaults('spec:', '  owner_label: team', '  guard: { max_deletes: 2 }'),
        'more.yaml': null,
      },
    },
  },
  'multiple-stacks': {
    meaning:
      'A run has exactly one stack. Its name goes into the marks and its settings apply. Most often the given path contains two folders that are separate stacks.',
    remedy: 'Remove one of the Stack documents, or run every folder as a stack of its own with `-R`.',
    bad: {
      command: 'validate',
      files: {
        'edgewise.yaml': STACK,
        'stack.yaml': formatManifestWithLines('Stack', 'staging'),
        'pool.yaml': formatPool('pool'),
      },
    },
    good: { files: { 'stack.yaml': null } },
  },
  'duplicate-stack': {
    meaning:
      'The name of a stack is part of the mark on everything that it owns. If two stacks at one service had one name, each would treat the resources of the other as its own, and delete them.',
    remedy: 'Rename one of them before its first apply; afterwards use `--take-over` with the old name.',
    bad: {
      command: 'stacks',
      files: {
        'network/edgewise.yaml': STACK,
        'network/pool.yaml': formatPool('pool'),
        'web/edgewise.yaml': STACK,
      },
    },
    good: { files: { 'web/edgewise.yaml': formatManifestWithLines('Stack', 'web') } },
  },
} as const satisfies Partial<Record<DiagnosticCode, Explanation>>;
