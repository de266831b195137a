// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the variables of manifests look like that

import type { DiagnosticCode } from '../../model/diagnostic.ts';
import { type Explanation, formatManifestWithLines, joinDocuments } from '../explanation.ts';

const POOL = formatManifestWithLines(
  'WeightedBackend',
  'pool',
  'spec:',
  '  backends:',
  '    bkdhr_blue: 90',
  '    bkdhr_green: 10',
);

/** Creates a `Stack` whose manifests are printed by a command. */
function formatRenderedStack(command: string): string {
  return formatManifestWithLines('Stack', 'shop', 'spec:', `  render: ${command}`);
}

/** Codes about files and their text. */
export const READING_EXPLANATIONS = {
  'file-unreadable': {
    meaning:
      'A path on the command line, or a file in a folder, does not exist or cannot be read. Edgewise does not plan from the rest, because resources in the unread file would look removed.',
    remedy: 'Correct the path, or make the file readable for the user that edgewise runs as.',
    bad: { command: 'validate manifest', files: { 'manifests/pool.yaml': POOL } },
    good: { command: 'validate manifests' },
  },
  'path-refused': {
    meaning:
      'Files and folders that manifests name (policies, public keys, certificate authorities, inputs, folders for tokens, files to write) must be in the repository: below the nearest folder with `.git` above the manifests, or below the folder of `--root`. Edgewise resolves symbolic links first. It refuses a link that leads out of the repository, a path inside `.git`, and any link in the path of a file that it writes. It does not open a refused file, because its content may be a secret. Without a repository, the working folder counts as the repository. Defaults above the manifests are refused if they, their `.git` or a folder on the way belong to another user, or if every user can write to them.',
    remedy:
      'Move the file into the repository. Where several checkouts belong together, name the folder that holds them with `--root`. A token folder elsewhere is named with `--token-directory`, a certificate authority with `--ca-file`, a policy with `--policies`.',
    bad: {
      command: 'validate stack',
      files: {
        'stack/edgewise.yaml': formatManifestWithLines('Stack', 'shop', 'spec:', '  policies: [../../rules.yaml]'),
      },
    },
    good: {
      files: {
        'stack/edgewise.yaml': formatManifestWithLines('Stack', 'shop', 'spec:', '  policies: [../rules.yaml]'),
        'rules.yaml': formatManifestWithLines(
          'Policy',
          'any',
          'spec:',
          '  require: change.address != ""',
          '  message: Everything is allowed.',
        ),
      },
    },
  },
  'file-not-utf8': {
    meaning:
      'Manifests must be UTF-8 text. In another encoding, some characters would be read wrongly, so the file is refused at the first byte that is not UTF-8.',
    remedy: 'Save the file as UTF-8 in your editor, or convert it with `iconv -f ISO-8859-1 -t UTF-8`.',
    bad: {
      command: 'validate',
      files: {
        'pool.yaml': {
          latin1: formatManifestWithLines(
            'WeightedBackend',
            'pool',
            'spec:',
            '  description: Café',
            '  backends:',
            '    bkdhr_blue: 1',
          ),
        },
      },
    },
    good: {
      files: {
        'pool.yaml': formatManifestWithLines(
          'WeightedBackend',
          'pool',
          'spec:',
          '  description: Café',
          '  backends:',
          '    bkdhr_blue: 1',
        ),
      },
    },
  },
  'no-manifests': {
    meaning:
      'A given folder contains no *.yaml, *.yml or *.json file, or a given file is empty. Without manifests everything would be deleted, so edgewise treats this as a mistake.',
    remedy: 'Give the folder that contains the manifests. If another command produces them, check whether it failed.',
    bad: { command: 'validate', files: { 'manifests.txt': POOL } },
    good: { files: { 'manifests.txt': null, 'manifests.yaml': POOL } },
  },
  'render-not-allowed': {
    meaning:
      '`spec.render` of the Stack names a command that prints the manifests. Edgewise runs a command from the repository only with `--render`. Without it, edgewise reads no manifests of this stack: the files in its folder may be incomplete, and resources that are missing there would be deleted.',
    remedy:
      'If you trust the repository, add `--render`. Otherwise, build the manifests first and give them on standard input, with `-`.',
    bad: { command: 'validate', files: { 'edgewise.yaml': formatRenderedStack('[cat, pool.in]'), 'pool.in': POOL } },
    good: { command: 'validate --render' },
  },
  'render-failed': {
    meaning:
      'The command of `spec.render` does not exist, ended with another exit code than 0, took longer than two minutes, or printed more than 32 MiB. Edgewise plans nothing from a part of its output.',
    remedy:
      'Run the command in the folder of the Stack to see what is wrong. It gets the environment of edgewise without the API key.',
    bad: {
      command: 'validate --render',
      files: { 'edgewise.yaml': formatRenderedStack('[kustomise, build, .]'), 'pool.in': POOL },
    },
    good: { files: { 'edgewise.yaml': formatRenderedStack('[cat, pool.in]') } },
  },
  'yaml-syntax': {
    meaning:
      'The text is not valid YAML 1.2 or JSON, or it uses something that manifests do not allow: custom tags, keys that are not text, or a duplicate key. The other documents of the file are still checked.',
    remedy:
      'Correct the text at the caret. Common causes are wrong indentation, and text with `: ` in it that needs quotes.',
    bad: {
      command: 'validate',
      files: {
        'pool.yaml': formatManifestWithLines(
          'WeightedBackend',
          'pool',
          'spec:',
          '  description: Blue: nearly all',
          '  backends:',
          '    bkdhr_blue: 1',
        ),
      },
    },
    good: {
      files: {
        'pool.yaml': formatManifestWithLines(
          'WeightedBackend',
          'pool',
          'spec:',
          '  description: "Blue: nearly all"',
          '  backends:',
          '    bkdhr_blue: 1',
        ),
      },
    },
  },
  'yaml-aliases': {
    meaning:
      'An alias (`*name`) stands for the value at its anchor (`&name`). An alias inside its own anchor never ends, and aliases of aliases can expand a few lines to gigabytes. Both are refused before they are expanded.',
    remedy: 'Write the value instead of the alias.',
    bad: {
      command: 'validate',
      files: {
        'pool.yaml': formatManifestWithLines(
          'WeightedBackend',
          'pool',
          'spec: &pool',
          '  backends:',
          '    bkdhr_blue: 1',
          '  metadata: *pool',
        ),
      },
    },
    good: {
      files: {
        'pool.yaml': formatManifestWithLines(
          'WeightedBackend',
          'pool',
          'spec:',
          '  backends:',
          '    bkdhr_blue: 1',
          '  metadata:',
          '    team: data',
        ),
      },
    },
  },
  'env-unset': {
    meaning:
      'A text contains `${env:NAME}`, but the environment has no such variable. Using an empty value instead could clear a setting unnoticed, so it is an error.',
    remedy: 'Set the variable, or give it a default: `${env:NAME:-default}`.',
    bad: {
      command: 'validate --env REGION',
      files: {
        'agents.yaml': formatManifestWithLines(
          'AgentIngress',
          'agents',
          'spec:',
          '  domain: ${env:REGION}.example.com',
        ),
      },
    },
    good: {
      files: {
        'agents.yaml': formatManifestWithLines(
          'AgentIngress',
          'agents',
          'spec:',
          '  domain: ${env:REGION:-eu}.example.com',
        ),
      },
    },
  },
  'env-not-offered': {
    meaning:
      'A text contains `${env:NAME}`, and the run does not let manifests read this variable. The environment of a pipeline is full of tokens, and a plan shows what it reads; so manifests read only the variables that the user of edgewise offers, by name or by prefix. Variables for API keys and for tokens (`EDGEWISE_API_KEY…`, `GITHUB_TOKEN`, `GH_TOKEN`, `EDGEWISE_GITLAB_TOKEN`, `GITLAB_TOKEN`) are never offered.',
    remedy:
      'Offer the variable with `--env NAME`, all that start alike with `--env PREFIX_*`, or either in `EDGEWISE_ENV`. Or give it a default: `${env:NAME:-default}`.',
    bad: {
      command: 'validate',
      files: {
        'agents.yaml': formatManifestWithLines(
          'AgentIngress',
          'agents',
          'spec:',
          '  domain: ${env:REGION}.example.com',
        ),
      },
    },
    good: {
      files: {
        'agents.yaml': formatManifestWithLines(
          'AgentIngress',
          'agents',
          'spec:',
          '  domain: ${env:REGION:-eu}.example.com',
        ),
      },
    },
  },
  'secret-misplaced': {
    meaning:
      'A `${secret:NAME}` stands in a field that edgewise shows, compares and stores as text, so it would not stay secret. It can stand in values of `request_headers.add`, and in members of the `config` of a policy action whose names look like those of secrets.',
    remedy: 'Move the secret to such a field. If the value is no secret, write `${env:NAME}`.',
    bad: {
      command: 'validate',
      files: {
        'pool.yaml': formatManifestWithLines(
          'WeightedBackend',
          'pool',
          'spec:',
          '  description: ${secret:TEAM}',
          '  backends:',
          '    bkdhr_blue: 1',
        ),
      },
    },
    good: {
      files: {
        'pool.yaml': formatManifestWithLines(
          'WeightedBackend',
          'pool',
          'spec:',
          '  description: ${env:TEAM:-data}',
          '  backends:',
          '    bkdhr_blue: 1',
        ),
      },
    },
  },
  'env-malformed': {
    meaning:
      'Every `${env:` must be part of a reference: `${env:NAME}` or `${env:NAME:-default}`. A name has letters, digits and `_`; a default has no braces. Anything else would be sent to the service unchanged.',
    remedy: 'Write one of the two forms, or `$${env:` for the literal text.',
    bad: {
      command: 'validate',
      files: {
        'agents.yaml': formatManifestWithLines(
          'AgentIngress',
          'agents',
          'spec:',
          '  domain: ${env:REGION-eu}.example.com',
        ),
      },
    },
    good: {
      files: {
        'agents.yaml': formatManifestWithLines(
          'AgentIngress',
          'agents',
          'spec:',
          '  domain: ${env:REGION:-eu}.example.com',
        ),
      },
    },
  },
} as const satisfies Partial<Record<DiagnosticCode, Explanation>>;

function createFileExample(text: string): Explanation['bad'] {
  return { command: 'validate', files: { 'edge.yaml': text } };
}

function createCorrection(text: string): Explanation['good'] {
  return { files: { 'edge.yaml': text } };
}

function formatEdge(...lines: readonly string[]): string {
  return formatManifestWithLines('TCPEdge', 'postgres', 'spec:', ...lines);
}

const BACKEND = ['  backend:', '    backend_id: bkdhr_blue'] as const;
const PORT = '  hostports: ["1.tcp.example.net:20001"]';

/** Codes about single documents. */
export const DOCUMENT_EXPLANATIONS = {
  'unknown-kind': {
    meaning:
      'Every document needs `apiVersion: edgewise/v1` and a kind that edgewise knows. `edgewise explain` lists the kinds. Manifests of other programs belong in another folder.',
    remedy: 'Correct the kind or the apiVersion, or move the document out of the folder.',
    bad: createFileExample(formatManifestWithLines('TcpEdges', 'postgres', 'spec:', PORT, ...BACKEND)),
    good: createCorrection(formatEdge(PORT, ...BACKEND)),
  },
  'unknown-field': {
    meaning:
      'The kind has no field with this name at this place. If it were ignored, its author would rely on a field without effect, so it is an error.',
    remedy:
      'Correct the name. `edgewise explain TCPEdge` lists the fields of a kind. Remove fields that only the service sets.',
    bad: createFileExample(formatEdge('  hostport: ["1.tcp.example.net:20001"]', ...BACKEND)),
    good: createCorrection(formatEdge(PORT, ...BACKEND)),
  },
  'missing-field': {
    meaning: 'A required field is missing. The help of the diagnostic says what the field is for.',
    remedy: 'Add the field.',
    bad: createFileExample(formatEdge(PORT, '  backend:', '    enabled: true')),
    good: createCorrection(formatEdge(PORT, ...BACKEND)),
  },
  'wrong-type': {
    meaning:
      'The value is a number where text is expected, text where a list is expected, and so on. In YAML, the spelling decides the type: `5` is a number and `"5"` is text; `true` is a boolean and `yes` is text.',
    remedy: 'Write the value with the type that the message names: text in quotes, a list in brackets or with `- `.',
    bad: createFileExample(formatEdge('  hostports: 1.tcp.example.net:20001', ...BACKEND)),
    good: createCorrection(formatEdge(PORT, ...BACKEND)),
  },
  'bad-value': {
    meaning:
      'The value has the right type, but the field does not allow it: a word that is not in its list, a hostport without a port, an invalid pattern, or two values that are mutually exclusive.',
    remedy: 'Write a value in the form that the message names. `edgewise explain Kind.field` lists the allowed values.',
    bad: createFileExample(formatEdge('  hostports: ["1.tcp.example.net"]', ...BACKEND)),
    good: createCorrection(formatEdge(PORT, ...BACKEND)),
  },
  'out-of-range': {
    meaning: 'A number is smaller or larger than the field allows, or a list has too few members.',
    remedy: 'Choose a value in the range that the message names.',
    bad: createFileExample(
      formatManifestWithLines('WeightedBackend', 'pool', 'spec:', '  backends:', '    bkdhr_blue: 20000'),
    ),
    good: createCorrection(
      formatManifestWithLines('WeightedBackend', 'pool', 'spec:', '  backends:', '    bkdhr_blue: 10000'),
    ),
  },
  'too-long': {
    meaning:
      'The service limits the text to a number of UTF-8 bytes. Most characters beyond ASCII take two to four bytes. The mark is stored beside your own `spec.metadata` and counts towards its limit.',
    remedy: 'Shorten the text by the number of bytes in the message.',
    bad: createFileExample(
      formatEdge(`  description: ${'Postgres of the data team. '.repeat(10).trim()}`, PORT, ...BACKEND),
    ),
    good: createCorrection(formatEdge('  description: Postgres of the data team.', PORT, ...BACKEND)),
  },
  'bad-name': {
    meaning:
      'A name has 1 to 63 lower-case letters, digits, `.`, `_` and `-`, and starts and ends with a letter or a digit. It becomes part of the mark, of addresses and of file names.',
    remedy:
      'Choose a valid name. If the resource already exists under another name, write that name in `lifecycle.renamed_from`.',
    bad: createFileExample(formatManifestWithLines('TCPEdge', 'Postgres Main', 'spec:', PORT, ...BACKEND)),
    good: createCorrection(formatManifestWithLines('TCPEdge', 'postgres-main', 'spec:', PORT, ...BACKEND)),
  },
  'reserved-metadata': {
    meaning:
      'The key `edgewise` in the metadata of a resource holds the mark, which says who owns the resource and what was last applied. A manifest that wrote this key would forge a mark.',
    remedy: 'Use another key.',
    bad: createFileExample(formatEdge('  metadata:', '    edgewise: { team: data }', PORT, ...BACKEND)),
    good: createCorrection(formatEdge('  metadata:', '    team: data', PORT, ...BACKEND)),
  },
} as const satisfies Partial<Record<DiagnosticCode, Explanation>>;

const STACK = formatManifestWithLines('Stack', 'production');
const EDGE = formatManifestWithLines('TCPEdge', 'postgres', 'spec:', '  backend: { backend_id: bkdhr_blue }');
const OWNED = EDGE.replace('  name: postgres\n', '  name: postgres\n  labels: { team: data }\n');

/** Creates a policy about a label that names the owner of each resource. */
function formatPolicy(require: string, ...more: readonly string[]): string {
  return formatManifestWithLines(
    'Policy',
    'owned',
    'spec:',
    `  require: ${require}`,
    `  message: Say in the label team whose \${change.address} is.`,
    ...more,
  );
}

function createPolicyExample(...documents: readonly string[]): Explanation['bad'] {
  return { command: 'validate .', files: { 'edgewise.yaml': joinDocuments(STACK, ...documents) } };
}

function createExamples(bad: readonly string[], good: readonly string[]): Pick<Explanation, 'bad' | 'good'> {
  return {
    bad: createPolicyExample(...bad),
    good: { files: createPolicyExample(...good).files as Record<string, string> },
  };
}

const RULE = formatPolicy(`'"team" in labels'`);
const ADVICE = formatPolicy(`'"team" in labels'`, '  severity: warning');

export const POLICY_EXPLANATIONS = {
  'policy-expression': {
    meaning:
      'The rule of a policy, or a part of its message, is not a CEL expression, names a variable or a field that does not exist, or compares values of types that cannot be compared. Edgewise finds this when it reads the policy, before a change meets the rule.',
    remedy: 'Correct the expression at the caret. `docs/policies.md` lists the names that it may use, and their types.',
    ...createExamples([formatPolicy(`'"team" in lables'`), OWNED], [RULE, OWNED]),
  },
  'policy-refused': {
    meaning:
      'A policy of severity `error` refuses a resource, or it could not be evaluated. No flag allows it. `plan` and `apply` report it as a violation. `validate` reports it if the rule needs no live values.',
    remedy: 'Change the manifest so that the rule holds, or ask the owner of the policy.',
    ...createExamples([RULE, EDGE], [RULE, OWNED]),
  },
  'policy-warning': {
    meaning: 'A policy of severity `warning` warns about a resource. The plan can still be applied.',
    remedy: 'Change the manifest so that the rule holds, or ask the owner of the policy.',
    ...createExamples([ADVICE, EDGE], [ADVICE, OWNED]),
  },
  'policy-missing': {
    meaning:
      'A PolicyTest names a policy that is in none of the files that were read. Its cases would test nothing, so this is an error.',
    remedy: 'Correct the name, or give the path of the policy too.',
    bad: {
      command: 'test-policy policies.yaml',
      files: { 'policies.yaml': joinDocuments(RULE, formatPolicyTest('owner')) },
    },
    good: { files: { 'policies.yaml': joinDocuments(RULE, formatPolicyTest('owned')) } },
  },
} as const satisfies Partial<Record<DiagnosticCode, Explanation>>;

function formatPolicyTest(policy: string): string {
  return formatManifestWithLines(
    'PolicyTest',
    'owned',
    'spec:',
    `  policy: ${policy}`,
    '  cases:',
    '    - name: without a label',
    '      given: { change: { kind: TCPEdge, action: create } }',
    '      expect: refuse',
  );
}
