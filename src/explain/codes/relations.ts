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

function toFilter(name: string, module: string): string {
  return toDocument('HTTPSEdgeRoute', name, 'spec:', '  edge_id: edghts_shop', '  id: edghtsrt_cart', module);
}

const HEADERS = '  request_headers: { add: { X-Edge: shop } }';
const AGENTS = '  user_agent_filter: { deny: ["(?i)bot"] }';

/** The codes about documents that do not go together. */
export const RELATIONS = {
  'duplicate-address': {
    meaning:
      'A kind and a name make an address, such as TCPEdge/postgres, and an address is one resource. Which of two documents would count depended on the order of the files.',
    remedy: 'Give one of them another name, or remove it.',
    bad: { command: 'validate', files: { 'a.yaml': toPool('pool'), 'b.yaml': toPool('pool') } },
    good: { files: { 'b.yaml': toPool('pool-b') } },
  },
  'duplicate-attachment': {
    meaning:
      'A document of an HTTPS edge or route is the whole truth about its modules. A second one would remove what the first one sets.',
    remedy: 'Put the modules into one document.',
    bad: {
      command: 'validate',
      files: { 'a.yaml': toFilter('cart', HEADERS), 'b.yaml': toFilter('cart-bots', AGENTS) },
    },
    good: { files: { 'a.yaml': toFilter('cart', `${HEADERS}\n${AGENTS}`), 'b.yaml': null } },
  },
  'duplicate-claim': {
    meaning:
      'Some values belong to one resource at a time: a hostport, the domain of an ingress, the type of an IP restriction, an id that is adopted, a former name. The service would refuse the second, or the two would take it from each other.',
    remedy: 'Take the value out of one of the documents.',
    bad: { command: 'validate', files: { 'edges.yaml': toStream(toEdge('postgres', 20001), toEdge('mysql', 20001)) } },
    good: { files: { 'edges.yaml': toStream(toEdge('postgres', 20001), toEdge('mysql', 20002)) } },
  },
  'renamed-from-standing': {
    meaning:
      '`lifecycle.renamed_from` says that what had another name now has this one: its mark gets the new name, and nothing else happens. That cannot be while another document still describes the old name.',
    remedy: 'Remove the document of the old name; or the line, if this is to be a new resource.',
    bad: {
      command: 'validate',
      files: { 'pools.yaml': toStream(toPool('new', 'lifecycle:', '  renamed_from: old'), toPool('old')) },
    },
    good: { files: { 'pools.yaml': toPool('new', 'lifecycle:', '  renamed_from: old') } },
  },
  'dangling-reference': {
    meaning:
      'A reference is Kind/name, and some document has to describe that address. What another stack manages, or nobody does, gets a name with an `External` document.',
    remedy: 'Correct the name, add the document, or write the id itself.',
    bad: {
      command: 'validate',
      files: { 'edge.yaml': toStream(toEdge('postgres', 20001, 'WeightedBackend/pol'), toPool('pool')) },
    },
    good: { files: { 'edge.yaml': toStream(toEdge('postgres', 20001, 'WeightedBackend/pool'), toPool('pool')) } },
  },
  'wrong-reference': {
    meaning:
      'The field takes ids of certain kinds, which their prefix shows, and this is the id or the address of another kind. The service would refuse it in the middle of an apply.',
    remedy: 'Name one of what the message lists. `edgewise explain Kind.field` says what a field refers to.',
    bad: { command: 'validate', files: { 'edge.yaml': toEdge('postgres', 20001, 'ipp_office') } },
    good: { files: { 'edge.yaml': toEdge('postgres', 20001, 'bkdhr_blue') } },
  },
  'circular-reference': {
    meaning:
      'References lead from one document to the next and back to where they began, so that there is no id to be found.',
    remedy: 'Give one of the documents the id itself.',
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
      'The name of the stack is a part of every mark: it is how a later run knows what is its own. There is no default, because two repositories that shared one would delete what belongs to the other.',
    remedy: 'Add a `Stack` document with a name of your own. It holds settings too.',
    bad: { command: 'plan', files: { 'pool.yaml': toPool('pool') } },
    good: { files: { 'edgewise.yaml': STACK } },
  },
  'several-stacks': {
    meaning:
      'A run has one stack, whose name goes into the marks and whose settings count. Most often the path takes in two folders that are stacks of their own.',
    remedy: 'Remove one of the Stack documents, or run edgewise once for each folder.',
    bad: {
      command: 'validate',
      files: { 'edgewise.yaml': STACK, 'stack.yaml': toDocument('Stack', 'staging'), 'pool.yaml': toPool('pool') },
    },
    good: { files: { 'stack.yaml': null } },
  },
} as const satisfies Partial<Record<DiagnosticCode, Explanation>>;
