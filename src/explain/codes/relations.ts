import type { DiagnosticCode } from '../../model/diagnostic-codes.ts';
import { type Explanation, toDocument, toStream } from '../explanation.ts';

const STACK = toDocument('Stack', 'production');

function toPool(name: string, ...more: readonly string[]): string {
  return toDocument('WeightedBackend', name, 'spec:', '  backends:', '    bkdhr_blue: 1', ...more);
}

function toEdge(name: string, port: number, backend = 'bkdhr_blue'): string {
  return toDocument(
    'TCPEdge',
    name,
    'spec:',
    `  hostports: ["1.tcp.example.net:${port}"]`,
    '  backend:',
    `    backend_id: ${backend}`,
  );
}

/** The codes about documents that do not go together. */
export const RELATIONS = {
  'duplicate-address': {
    meaning:
      'Kind and name form an address, such as TCPEdge/postgres. An address stands for one resource. With two documents, the order of the files would decide which one applies.',
    remedy: 'Rename or remove one of them.',
    bad: { command: 'validate', files: { 'a.yaml': toPool('pool'), 'b.yaml': toPool('pool') } },
    good: { files: { 'b.yaml': toPool('pool-b') } },
  },
  'duplicate-claim': {
    meaning:
      'Some values must be unique: a hostport, the domain of an ingress, the type of an IP restriction, an id to adopt, a former name, a file that something is written to. The service would refuse the second resource, or both would take the value from each other. With `-R`, this holds for the documents of all stacks of one account. A document for an HTTPS edge or route is the whole truth about its modules: a second document would remove the modules of the first.',
    remedy:
      'Remove the value from one of the documents. Put the modules of one edge or route into one document. Give each stack a folder of its own for tokens.',
    bad: { command: 'validate', files: { 'edges.yaml': toStream(toEdge('postgres', 20001), toEdge('mysql', 20001)) } },
    good: { files: { 'edges.yaml': toStream(toEdge('postgres', 20001), toEdge('mysql', 20002)) } },
  },
  'renamed-from-standing': {
    meaning:
      '`lifecycle.renamed_from` gives the mark of an existing resource a new name. That is impossible while another document still describes the old name.',
    remedy: 'Remove the document with the old name. If this is a new resource, remove the line instead.',
    bad: {
      command: 'validate',
      files: { 'pools.yaml': toStream(toPool('new', 'lifecycle:', '  renamed_from: old'), toPool('old')) },
    },
    good: { files: { 'pools.yaml': toPool('new', 'lifecycle:', '  renamed_from: old') } },
  },
  'dangling-reference': {
    meaning:
      'A reference is Kind/name, and a document must describe that address. For a resource that this stack does not manage, add an `External` document.',
    remedy: 'Correct the name, add the document, or write a literal id.',
    bad: {
      command: 'validate',
      files: { 'edge.yaml': toStream(toEdge('postgres', 20001, 'WeightedBackend/pol'), toPool('pool')) },
    },
    good: { files: { 'edge.yaml': toStream(toEdge('postgres', 20001, 'WeightedBackend/pool'), toPool('pool')) } },
  },
  'wrong-reference': {
    meaning:
      'The field accepts references to certain kinds only. This is the id (its prefix shows the kind) or the address of another kind. The service would refuse it in the middle of an apply.',
    remedy:
      'Use a kind or prefix that the message lists. `edgewise explain Kind.field` shows what a field may refer to.',
    bad: { command: 'validate', files: { 'edge.yaml': toEdge('postgres', 20001, 'ipp_office') } },
    good: { files: { 'edge.yaml': toEdge('postgres', 20001, 'bkdhr_blue') } },
  },
  'circular-reference': {
    meaning: 'References lead from one document to the next and back to the first, so no id can be found.',
    remedy: 'Write a literal id in one of the documents.',
    bad: {
      command: 'validate',
      files: {
        'names.yaml': toStream(
          toDocument('External', 'office', 'spec:', '  id: External/headquarters'),
          toDocument('External', 'headquarters', 'spec:', '  id: External/office'),
        ),
      },
    },
    good: {
      files: {
        'names.yaml': toStream(
          toDocument('External', 'office', 'spec:', '  id: External/headquarters'),
          toDocument('External', 'headquarters', 'spec:', '  id: ipp_office'),
        ),
      },
    },
  },
  'no-stack': {
    meaning:
      'The name of the stack is part of every mark. By it a later run knows which resources the stack owns. There is no default name, because two repositories with the same name would delete the resources of each other.',
    remedy: 'Add a `Stack` document with a unique name. It can also hold settings.',
    bad: { command: 'plan', files: { 'pool.yaml': toPool('pool') } },
    good: { files: { 'edgewise.yaml': STACK } },
  },
  'unused-kind': {
    meaning:
      'Only the kinds in `spec.kinds` of the Stack are read from the service. A manifest of another kind could not be compared with anything.',
    remedy: 'Add the kind to `spec.kinds`, or remove the document.',
    bad: {
      command: 'validate',
      files: {
        'edgewise.yaml': toDocument('Stack', 'production', 'spec:', '  kinds: [TCPEdge]'),
        'pool.yaml': toPool('pool'),
      },
    },
    good: {
      files: {
        'edgewise.yaml': toDocument('Stack', 'production', 'spec:', '  kinds: [TCPEdge, WeightedBackend]'),
      },
    },
  },
  'several-stacks': {
    meaning:
      'A run has exactly one stack. Its name goes into the marks and its settings apply. Most often the given path contains two folders that are separate stacks.',
    remedy: 'Remove one of the Stack documents, or run every folder as a stack of its own with `-R`.',
    bad: {
      command: 'validate',
      files: { 'edgewise.yaml': STACK, 'stack.yaml': toDocument('Stack', 'staging'), 'pool.yaml': toPool('pool') },
    },
    good: { files: { 'stack.yaml': null } },
  },
  'duplicate-stack': {
    meaning:
      'The name of a stack is part of the mark on everything that it owns. Two stacks of one name at one service would each take what the other made for its own, and delete it.',
    remedy: 'Rename one of them before its first apply; afterwards use `--take-over` with the old name.',
    bad: {
      command: 'stacks',
      files: {
        'network/edgewise.yaml': STACK,
        'network/pool.yaml': toPool('pool'),
        'web/edgewise.yaml': STACK,
      },
    },
    good: { files: { 'web/edgewise.yaml': toDocument('Stack', 'web') } },
  },
} as const satisfies Partial<Record<DiagnosticCode, Explanation>>;
