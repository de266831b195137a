import type { DiagnosticCode } from '../../model/diagnostic-codes.ts';
import { type Explanation, toDocument } from '../explanation.ts';

/** An example of one file. */
function inFile(text: string): Explanation['bad'] {
  return { command: 'validate', files: { 'edge.yaml': text } };
}

/** A file once it is mended. */
function mended(text: string): Explanation['good'] {
  return { files: { 'edge.yaml': text } };
}

function toEdge(...lines: readonly string[]): string {
  return toDocument('TCPEdge', 'postgres', 'spec:', ...lines);
}

const BACKEND = ['  backend:', '    backend_id: bkdhr_blue'] as const;
const PORT = '  hostports: ["1.tcp.example.net:20001"]';

/** The codes about what a document holds by itself. */
export const FIELDS = {
  'unknown-kind': {
    meaning:
      'Every document needs `apiVersion: edgewise/v1` and a kind that edgewise knows. `edgewise explain` lists the kinds. Manifests of other programs belong in another folder.',
    remedy: 'Correct the kind or the apiVersion, or move the document out of the folder.',
    bad: inFile(toDocument('TcpEdges', 'postgres', 'spec:', PORT, ...BACKEND)),
    good: mended(toEdge(PORT, ...BACKEND)),
  },
  'unknown-field': {
    meaning:
      'The kind has no field with this name at this place. If it were ignored, somebody would rely on a setting that has no effect, so it is an error.',
    remedy:
      'Correct the name. `edgewise explain TCPEdge` lists the fields of a kind. Remove fields that only the service sets.',
    bad: inFile(toEdge('  hostport: ["1.tcp.example.net:20001"]', ...BACKEND)),
    good: mended(toEdge(PORT, ...BACKEND)),
  },
  'missing-field': {
    meaning: 'A required field is missing. The help of the diagnostic says what the field is for.',
    remedy: 'Add the field.',
    bad: inFile(toEdge(PORT, '  backend:', '    enabled: true')),
    good: mended(toEdge(PORT, ...BACKEND)),
  },
  'wrong-type': {
    meaning:
      'The value is a number where text is expected, text where a list is expected, and so on. In YAML, the spelling decides the type: `5` is a number and `"5"` is text; `true` is a boolean and `yes` is text.',
    remedy: 'Write the value with the type that the message names: text in quotes, a list in brackets or with `- `.',
    bad: inFile(toEdge('  hostports: 1.tcp.example.net:20001', ...BACKEND)),
    good: mended(toEdge(PORT, ...BACKEND)),
  },
  'bad-value': {
    meaning:
      'The value has the right type, but the field does not allow it: a word that is not in its list, a hostport without a port, an invalid pattern, or two values that exclude each other.',
    remedy: 'Write a value in the form that the message names. `edgewise explain Kind.field` lists the allowed values.',
    bad: inFile(toEdge('  hostports: ["1.tcp.example.net"]', ...BACKEND)),
    good: mended(toEdge(PORT, ...BACKEND)),
  },
  'out-of-range': {
    meaning: 'A number is smaller or larger than the field allows, or a list has too few members.',
    remedy: 'Choose a value in the range that the message names.',
    bad: inFile(toDocument('WeightedBackend', 'pool', 'spec:', '  backends:', '    bkdhr_blue: 20000')),
    good: mended(toDocument('WeightedBackend', 'pool', 'spec:', '  backends:', '    bkdhr_blue: 10000')),
  },
  'too-long': {
    meaning:
      'The service limits the text to a number of UTF-8 bytes. Most characters beyond ASCII take two to four bytes. The mark is stored beside your own `spec.metadata` and counts towards its limit.',
    remedy: 'Shorten the text by the number of bytes in the message.',
    bad: inFile(toEdge(`  description: ${'Postgres of the data team. '.repeat(10).trim()}`, PORT, ...BACKEND)),
    good: mended(toEdge('  description: Postgres of the data team.', PORT, ...BACKEND)),
  },
  'bad-name': {
    meaning:
      'A name has 1 to 63 lower-case letters, digits, `.`, `_` and `-`, and starts and ends with a letter or a digit. It becomes part of the mark, of addresses and of file names.',
    remedy:
      'Choose a valid name. If the resource already exists under another name, state that name in `lifecycle.renamed_from`.',
    bad: inFile(toDocument('TCPEdge', 'Postgres Main', 'spec:', PORT, ...BACKEND)),
    good: mended(toDocument('TCPEdge', 'postgres-main', 'spec:', PORT, ...BACKEND)),
  },
  'reserved-metadata': {
    meaning:
      'The key `edgewise` in the metadata of a resource holds the mark, which says who owns the resource and what was last applied. A manifest that wrote this key would forge a mark.',
    remedy: 'Use another key.',
    bad: inFile(toEdge('  metadata:', '    edgewise: { team: data }', PORT, ...BACKEND)),
    good: mended(toEdge('  metadata:', '    team: data', PORT, ...BACKEND)),
  },
} as const satisfies Partial<Record<DiagnosticCode, Explanation>>;
