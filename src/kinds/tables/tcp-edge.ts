import {
  createModuleType,
  field,
  idOf,
  jsonWithLists,
  listOf,
  objectOf,
  refTo,
  setOf,
  text,
  textOfFormat,
} from '../field.ts';
import { defineKind } from '../kind.ts';
import { DESCRIPTION, IDENTITY_FIELDS, METADATA } from './standard-fields.ts';

/** The variables that a policy on TCP traffic may use. */
const VARIABLES = ['conn.ClientIP', 'conn.client_ip', 'conn.geo.*'];

const ACTION = objectOf(
  {
    type: field(
      text({ known: ['deny', 'log', 'restrict-ips'] }),
      'The action: `deny`, `log` or `restrict-ips` on TCP traffic.',
      { required: true },
    ),
    config: field(
      jsonWithLists({ allow: textOfFormat('cidr'), deny: textOfFormat('cidr'), ip_policies: idOf('ipp') }),
      'Configuration of the action. `log` takes a `metadata` map; `restrict-ips` takes `enforce`, `allow`, `deny` and `ip_policies`; `deny` takes none.',
    ),
  },
  'policy action',
);

const RULE = objectOf(
  {
    name: field(text(), 'Name of the rule.', { isCaption: true }),
    expressions: field(
      listOf(text({ cel: VARIABLES })),
      'CEL expressions that select the traffic of the rule. All must be true; without any, the rule always applies.',
    ),
    actions: field(listOf(ACTION, { orSingle: true }), 'What to do with the selected traffic: one action or a list.'),
  },
  'policy rule',
);

export const TCP_EDGE = defineKind({
  name: 'TCPEdge',
  role: 'owned',
  title: 'TCP edge',
  description: 'A TCP edge: hostports that accept traffic, and the modules that handle it.',
  idPrefix: 'edgtcp',
  path: '/edges/tcp',
  listKey: 'tcp_edges',
  fields: {
    ...IDENTITY_FIELDS,
    description: DESCRIPTION,
    metadata: METADATA,
    hostports: field(
      setOf(textOfFormat('hostport')),
      'Hostports that this edge serves, each `host:port`. A hostport belongs to one TCP edge at a time.',
      {
        unique: true,
        nullWhenUnset: true,
        carries: 'by-each',
        summary: { prefix: 'listens on', unset: 'listens nowhere' },
      },
    ),
    backend: field(
      createModuleType({
        backend_id: field(refTo('bkdwd', 'bkdhr', 'bkdtg'), 'The backend that receives the traffic.', {
          required: true,
          responseName: 'backend',
        }),
      }),
      'Backend module: where the traffic goes.',
      {
        clear: 'delete',
        hasPath: true,
        carries: 'while-on',
        summary: { prefix: 'leads to', unset: 'leads nowhere' },
        whenUnset: {
          code: 'edge-without-backend',
          message: 'no backend is enabled, so its traffic goes nowhere',
        },
      },
    ),
    ip_restriction: field(
      createModuleType({
        ip_policy_ids: field(
          setOf(refTo('ipp'), { minItems: 1 }),
          'The IP policies that check whether a source IP may access the edge. At least one.',
          { required: true, responseName: 'ip_policies', restriction: 'unproven' },
        ),
      }),
      'IP restriction module: which source addresses may connect.',
      {
        clear: 'delete',
        hasPath: true,
        restriction: 'while-on',
        summary: { prefix: 'admits', unset: 'has no IP restriction' },
      },
    ),
    policy: field(
      createModuleType({
        inbound: field(listOf(RULE, { orSingle: true }), 'Rules for inbound traffic: one rule or a list.', {
          restriction: 'by-rules',
        }),
        outbound: field(listOf(RULE, { orSingle: true }), 'Rules for outbound traffic: one rule or a list.', {
          restriction: 'by-rules',
        }),
      }),
      'Traffic policy of this edge. A disabled policy without rules is the same as none.',
      { clear: 'disable', restriction: 'while-on' },
    ),
  },
});
