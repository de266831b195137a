// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the variables of manifests look like that
import type { DiagnosticCode } from '../../model/diagnostic-codes.ts';
import { type Explanation, toDocument } from '../explanation.ts';

const POOL = toDocument('WeightedBackend', 'pool', 'spec:', '  backends:', '    bkdhr_blue: 90', '    bkdhr_green: 10');

/** A Stack whose manifests a command prints. */
function toRendered(command: string): string {
  return toDocument('Stack', 'shop', 'spec:', `  render: ${command}`);
}

/** The codes about files and their text. */
export const READING = {
  'file-unreadable': {
    meaning:
      'A path on the command line, or a file in a folder, does not exist or cannot be read. Edgewise does not plan from the rest, because resources in the unread file would look removed.',
    remedy: 'Correct the path, or make the file readable for the user that edgewise runs as.',
    bad: { command: 'validate manifest', files: { 'manifests/pool.yaml': POOL } },
    good: { command: 'validate manifests' },
  },
  'file-not-utf8': {
    meaning:
      'Manifests must be UTF-8 text. In another encoding, some characters would be read wrongly, so the file is refused at the first byte that is not UTF-8.',
    remedy: 'Save the file as UTF-8 in your editor, or convert it with `iconv -f ISO-8859-1 -t UTF-8`.',
    bad: {
      command: 'validate',
      files: {
        'pool.yaml': {
          latin1: toDocument(
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
        'pool.yaml': toDocument(
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
      '`spec.render` of the Stack names a command that prints the manifests. Edgewise runs what a repository says only when whoever starts it allows that. Files below the folder are not read instead: what is missing there would be deleted.',
    remedy:
      'Add `--render` where you trust the repository, or build the manifests first and give them on standard input, with `-`.',
    bad: { command: 'validate', files: { 'edgewise.yaml': toRendered('[cat, pool.in]'), 'pool.in': POOL } },
    good: { command: 'validate --render' },
  },
  'render-failed': {
    meaning:
      'The command of `spec.render` is not there, ended with another exit code than 0, took longer than two minutes, or printed more than 32 MiB. Nothing is planned from what it printed until then.',
    remedy:
      'Run the command in the folder of the Stack to see what is wrong. It gets the environment of edgewise without the API key.',
    bad: {
      command: 'validate --render',
      files: { 'edgewise.yaml': toRendered('[kustomise, build, .]'), 'pool.in': POOL },
    },
    good: { files: { 'edgewise.yaml': toRendered('[cat, pool.in]') } },
  },
  'yaml-syntax': {
    meaning:
      'The text is not valid YAML 1.2 or JSON, or it uses something that manifests do not allow: custom tags, keys that are not text, or a duplicate key. The other documents of the file are still checked.',
    remedy:
      'Correct the text at the caret. Common causes are wrong indentation, and text with `: ` in it that needs quotes.',
    bad: {
      command: 'validate',
      files: {
        'pool.yaml': toDocument(
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
        'pool.yaml': toDocument(
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
        'pool.yaml': toDocument(
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
        'pool.yaml': toDocument(
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
      'A text contains `${env:NAME}`, but the environment has no such variable. Using an empty value instead could clear a setting unnoticed, so it is an error. Variables that hold API keys, `EDGEWISE_API_KEY…`, count as unset: plans would show the key.',
    remedy: 'Set the variable, or give it a default: `${env:NAME:-default}`.',
    bad: {
      command: 'validate',
      files: { 'agents.yaml': toDocument('AgentIngress', 'agents', 'spec:', '  domain: ${env:REGION}.example.com') },
    },
    good: {
      files: {
        'agents.yaml': toDocument('AgentIngress', 'agents', 'spec:', '  domain: ${env:REGION:-eu}.example.com'),
      },
    },
  },
  'env-malformed': {
    meaning:
      '`${env:` must start `${env:NAME}` or `${env:NAME:-default}`. A name has letters, digits and `_`; a default has no braces. Anything else would be sent to the service unchanged.',
    remedy: 'Write one of the two forms, or `$${env:` to mean the text itself.',
    bad: {
      command: 'validate',
      files: { 'agents.yaml': toDocument('AgentIngress', 'agents', 'spec:', '  domain: ${env:REGION-eu}.example.com') },
    },
    good: {
      files: {
        'agents.yaml': toDocument('AgentIngress', 'agents', 'spec:', '  domain: ${env:REGION:-eu}.example.com'),
      },
    },
  },
} as const satisfies Partial<Record<DiagnosticCode, Explanation>>;
