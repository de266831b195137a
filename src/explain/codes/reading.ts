// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the variables of manifests look like that
import type { DiagnosticCode } from '../../model/diagnostic-codes.ts';
import { type Explanation, toDocument } from '../explanation.ts';

const POOL = toDocument('WeightedBackend', 'pool', 'spec:', '  backends:', '    bkdhr_blue: 90', '    bkdhr_green: 10');

/** The codes about files and their text. */
export const READING = {
  'file-unreadable': {
    meaning:
      'A path on the command line, or a file in a folder, does not exist or may not be read. Nothing is planned from the rest: what could not be read would look like something that was removed.',
    remedy: 'Correct the path, or let the user that edgewise runs as read the file.',
    bad: { command: 'validate manifest', files: { 'manifests/pool.yaml': POOL } },
    good: { command: 'validate manifests' },
  },
  'file-not-utf8': {
    meaning:
      'Manifests are UTF-8 text. A file in another encoding would be read as other letters than were meant, so it is refused at its first byte that is not UTF-8.',
    remedy: 'Save the file as UTF-8, in the editor or with `iconv -f ISO-8859-1 -t UTF-8`.',
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
      'A folder that was named has no *.yaml, *.yml or *.json in it, or a file that was named is empty. Without manifests there would be nothing that should exist, so edgewise takes it for a mistake.',
    remedy:
      'Name the folder that the manifests are in. Where they come from another command, see whether that one failed.',
    bad: { command: 'validate', files: { 'manifests.txt': POOL } },
    good: { files: { 'manifests.txt': null, 'manifests.yaml': POOL } },
  },
  'yaml-syntax': {
    meaning:
      'The text is not YAML 1.2 (which JSON is a part of), or has what manifests do not: tags of other programs, keys that are no text, one key twice. The other documents of the file are still checked.',
    remedy:
      'Mend the text where the caret is. Often it is the indentation, or a text with `: ` in it that needs quotes.',
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
      'Aliases (`*name`) stand for what an anchor (`&name`) marks. One that stands inside of what it stands for has no end, and aliases of aliases can make gigabytes of a few lines. Both are refused before they are filled in.',
    remedy: 'Write the value out where the alias stands.',
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
      'A text holds `${env:NAME}`, and the environment has no such variable. An empty one in its place could clear a setting unseen, so it is an error.',
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
      'What starts with `${env:` has to be `${env:NAME}` or `${env:NAME:-default}`, where a name has letters, digits and `_`, and a default no braces. Anything else would be sent to the service as it stands.',
    remedy: 'Write one of the two forms, or `$${env:` where the text itself is meant.',
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
