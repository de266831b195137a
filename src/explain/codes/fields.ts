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
      'Every document starts with `apiVersion: edgewise/v1` and a kind of edgewise. `edgewise explain` lists the kinds. Manifests of other programs belong into another folder.',
    remedy: 'Correct the kind or the apiVersion, or move the document out of the folder.',
    bad: inFile(toDocument('TcpEdges', 'postgres', 'spec:', PORT, ...BACKEND)),
    good: mended(toEdge(PORT, ...BACKEND)),
  },
  'unknown-field': {
    meaning:
      'The kind has no field of that name at that place. A field that is passed over in silence would be a setting that somebody believes in, so it is an error.',
    remedy:
      'Correct the name. `edgewise explain TCPEdge` lists the fields of a kind; fields that the service gives its values are not stated.',
    bad: inFile(toEdge('  hostport: ["1.tcp.example.net:20001"]', ...BACKEND)),
    good: mended(toEdge(PORT, ...BACKEND)),
  },
  'missing-field': {
    meaning: 'A field that the kind requires is not there. The help of the diagnostic says what it is for.',
    remedy: 'Add the field.',
    bad: inFile(toEdge(PORT, '  backend:', '    enabled: true')),
    good: mended(toEdge(PORT, ...BACKEND)),
  },
  'wrong-type': {
    meaning:
      'The value is a number where a text belongs, a text where a list belongs, and so on. YAML decides by how a value is written: `5` is a number and `"5"` a text, `yes` is a text and `true` is not.',
    remedy:
      'Write the value as the type that the message names: in quotes for a text, in brackets or with `- ` for a list.',
    bad: inFile(toEdge('  hostports: 1.tcp.example.net:20001', ...BACKEND)),
    good: mended(toEdge(PORT, ...BACKEND)),
  },
  'bad-value': {
    meaning:
      'The value has the right type and still is none that the field can have: a word that is not in the list, a hostport without a port, a pattern that cannot be read, two values that exclude each other.',
    remedy: 'Write a value of the form that the message names. `edgewise explain Kind.field` says which there are.',
    bad: inFile(toEdge('  hostports: ["1.tcp.example.net"]', ...BACKEND)),
    good: mended(toEdge(PORT, ...BACKEND)),
  },
  'out-of-range': {
    meaning: 'A number is smaller or larger than the field allows, or a list has fewer members than it must have.',
    remedy: 'Choose a value in the range that the message names.',
    bad: inFile(toDocument('WeightedBackend', 'pool', 'spec:', '  backends:', '    bkdhr_blue: 20000')),
    good: mended(toDocument('WeightedBackend', 'pool', 'spec:', '  backends:', '    bkdhr_blue: 10000')),
  },
  'too-long': {
    meaning:
      'The service stores so many bytes of UTF-8 and no more; most letters beyond ASCII take two to four. The mark of edgewise stands in `spec.metadata` beside what the manifest says there, and counts.',
    remedy: 'Shorten the text by as much as the message says.',
    bad: inFile(toEdge(`  description: ${'Postgres of the data team. '.repeat(10).trim()}`, PORT, ...BACKEND)),
    good: mended(toEdge('  description: Postgres of the data team.', PORT, ...BACKEND)),
  },
  'bad-name': {
    meaning:
      'A name is 1 to 63 lower-case letters, digits, `.`, `_` and `-` that start and end with a letter or a digit. It becomes a part of the mark, of addresses and of file names.',
    remedy:
      'Choose such a name. For something that exists already under the old one, say that with `lifecycle.renamed_from`.',
    bad: inFile(toDocument('TCPEdge', 'Postgres Main', 'spec:', PORT, ...BACKEND)),
    good: mended(toDocument('TCPEdge', 'postgres-main', 'spec:', PORT, ...BACKEND)),
  },
  'reserved-metadata': {
    meaning:
      'Under the key `edgewise` of its metadata a resource bears the mark: whose it is, and what was last applied. A manifest that wrote there would forge a mark.',
    remedy: 'Use another key.',
    bad: inFile(toEdge('  metadata:', '    edgewise: { team: data }', PORT, ...BACKEND)),
    good: mended(toEdge('  metadata:', '    team: data', PORT, ...BACKEND)),
  },
} as const satisfies Partial<Record<DiagnosticCode, Explanation>>;
