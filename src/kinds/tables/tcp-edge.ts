import type { Finding } from '../../model/finding.ts';
import { isJsonArray, isJsonObject, isSameJson, type JsonObject, toJsonList } from '../../model/json.ts';
import type { FieldPath } from '../../model/state.ts';
import { INVALID_EXPRESSION, joinEffects, NO_EFFECT, NOT_SHOWN, placeEffect } from '../access-effect.ts';
import {
  type AccessEffect,
  anyJson,
  createModuleType,
  field,
  idOf,
  jsonWithLists,
  listOf,
  objectOf,
  type ReadCondition,
  refTo,
  setOf,
  text,
  textOfFormat,
} from '../field.ts';
import { FORMATS } from '../formats.ts';
import { defineKind } from '../kind.ts';
import { DESCRIPTION, IDENTITY_FIELDS, METADATA } from './standard-fields.ts';

/** The variables that a policy on TCP traffic may use. */
const VARIABLES = [
  'conn.ClientIP',
  'conn.client_ip',
  ...['city', 'country', 'country_code', 'latitude', 'longitude', 'radius', 'subdivision'].map(
    (name) => `conn.geo.${name}`,
  ),
];

/** The members of the config of each action. */
const CONFIG: Readonly<Record<string, readonly string[]>> = {
  deny: [],
  log: ['metadata'],
  'restrict-ips': ['enforce', 'allow', 'deny', 'ip_policies'],
};

const ACTION = objectOf(
  {
    type: field(text({ known: Object.keys(CONFIG) }), 'The action: `deny`, `log` or `restrict-ips` on TCP traffic.', {
      required: true,
    }),
    config: field(
      jsonWithLists({ allow: textOfFormat('cidr'), deny: textOfFormat('cidr'), ip_policies: idOf('ipp') }),
      'Configuration of the action. `log` takes a `metadata` map; `restrict-ips` takes `enforce`, `allow`, `deny` and `ip_policies`; `deny` takes none.',
    ),
  },
  'policy action',
  { findMistakes: listConfigMistakes, judgeAccess: judgeAction },
);

const RULE = objectOf(
  {
    name: field(text(), 'Name of the rule.', { isCaption: true }),
    expressions: field(
      setOf(text({ cel: VARIABLES })),
      'CEL expressions that select the traffic of the rule. All must be true; without any, the rule always applies.',
    ),
    actions: field(listOf(ACTION, { orSingle: true }), 'What to do with the selected traffic.'),
  },
  'policy rule',
  { findMistakes: listUnreachableActions, judgeAccess: judgeRule },
);

const PHASES = {
  inbound: field(listOf(RULE, { orSingle: true }), 'Rules for inbound traffic.', {
    restriction: 'by-rules',
  }),
  outbound: field(listOf(RULE, { orSingle: true }), 'Rules for outbound traffic.', {
    restriction: 'by-rules',
  }),
};

const OTHER_PHASE = field(anyJson, 'Rules of a phase that the interface does not list.', { restriction: 'unknown' });

export const TCP_EDGE = defineKind({
  name: 'TCPEdge',
  role: 'owned',
  title: 'TCP edge',
  description: 'A TCP edge: hostports that accept traffic, and the modules that handle it.',
  words: {
    tunnel: '',
    endpoint: '',
    ingress: '',
    listener: '',
    port: 'hostports',
    address: 'hostports',
    hostname: 'hostports',
    upstream: 'backend',
    cidr: 'ip_restriction',
    ip: 'ip_restriction',
    allowlist: 'ip_restriction',
    whitelist: 'ip_restriction',
    denylist: 'ip_restriction',
    blocklist: 'ip_restriction',
    firewall: 'ip_restriction',
    remote_addr: 'policy',
    client_ip: 'policy',
    rule: 'policy',
  },
  example: {
    spec: {
      description: 'Postgres for the data team',
      metadata: { team: 'data' },
      hostports: ['1.tcp.example.net:20001'],
      backend: { enabled: true, backend_id: 'bkdhr_2k9XLPDYGXNLtxcTVgVsKTFzfRt' },
      ip_restriction: { enabled: true, ip_policy_ids: ['ipp_2k9XLN4QSRa2CXSGdTMwZDWQXjk'] },
      policy: {
        enabled: true,
        inbound: [
          {
            name: 'only-known-countries',
            expressions: ["!(conn.geo.country_code in ['CH', 'DE'])"],
            actions: [{ type: 'log', config: { metadata: { reason: 'unknown country' } } }, { type: 'deny' }],
          },
        ],
        outbound: [
          { name: 'vpn', actions: [{ type: 'restrict-ips', config: { enforce: true, allow: ['203.0.113.0/24'] } }] },
        ],
      },
    },
    lifecycle: { protect: true },
  },
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
        summary: { prefix: 'leads to', unset: 'has no backend' },
        whenUnset: {
          code: 'no-backend',
          message: 'no backend is enabled, so its traffic goes nowhere',
          remedy: 'Add spec.backend, and enable it.',
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
      createModuleType(PHASES, { others: OTHER_PHASE, findMistakes: listUnknownPhases }),
      'Traffic policy of this edge. A disabled policy without rules is the same as none. Another phase than inbound and outbound, which a newer service may have, is sent and compared as written.',
      { clear: 'disable', restriction: 'while-on' },
    ),
  },
});

/** A rule restricts if one of its actions does, and its conditions can be true. */
function judgeRule({ expressions, actions }: JsonObject, readCondition: ReadCondition): AccessEffect {
  if (actions === undefined) return { effect: 'unknown', why: NOT_SHOWN, path: ['actions'] };
  const judged = toJsonList(actions).map((action, index) =>
    placeEffect(isJsonObject(action) ? judgeAction(action) : NO_EFFECT, ['actions', index]),
  );
  const effect = joinEffects(judged);
  if (effect.effect !== 'restricts' && effect.effect !== 'unknown') return effect;
  if (expressions === undefined) return { effect: 'unknown', why: NOT_SHOWN, path: ['expressions'] };
  const conditions = toJsonList(expressions).map((text) => readCondition(String(text)));
  const never = conditions.indexOf('never');
  if (never >= 0) return { effect: 'open', why: 'its expression is never true', path: ['expressions', never] };
  const invalid = conditions.indexOf('invalid');
  if (invalid >= 0) return { effect: 'open', why: INVALID_EXPRESSION, path: ['expressions', invalid] };
  const unread = conditions.indexOf('unreadable');
  if (unread >= 0)
    return { effect: 'unknown', why: 'its expression cannot be read here', path: ['expressions', unread] };
  return effect;
}

function judgeAction({ type, config }: JsonObject): AccessEffect {
  switch (type) {
    case 'deny':
      return { effect: 'restricts' };
    case 'log':
      return NO_EFFECT;
    case 'restrict-ips':
      if (config === undefined) return { effect: 'unknown', why: NOT_SHOWN, path: ['config'] };
      return placeEffect(judgeAddresses(isJsonObject(config) ? config : {}), ['config']);
    default:
      return { effect: 'unknown', why: `the action ${JSON.stringify(type ?? null)} is not known here`, path: ['type'] };
  }
}

function judgeAddresses({ enforce = true, allow, deny, ip_policies: policies }: JsonObject): AccessEffect {
  if (enforce === false) return NO_EFFECT;
  if (enforce !== true) return { effect: 'unknown', why: '`enforce` is not true or false', path: ['enforce'] };
  if (toJsonList(policies).length > 0) return { effect: 'restricts' };
  const [allowed, denied] = [allow, deny].map((list) => toJsonList(list).map(String));
  if (allowed === undefined || denied === undefined || allowed.length + denied.length === 0)
    return { effect: 'open', why: 'it names no address', path: [] };
  if (allowed.length > 0 && isSameJson(allowed.toSorted(), denied.toSorted()))
    return { effect: 'open', why: 'it allows and denies the same addresses', path: ['deny'] };
  const why = denied.length === 0 ? FORMATS.cidr.findOpening?.(allowed) : undefined;
  return why === undefined ? { effect: 'restricts' } : { effect: 'open', why, path: ['allow'] };
}

/** Finds members of a config that its action does not know, and values that the action cannot use. */
function listConfigMistakes({ type, config }: JsonObject): readonly Finding[] {
  const known = typeof type === 'string' && Object.hasOwn(CONFIG, type) ? CONFIG[type] : undefined;
  if (known === undefined || !isJsonObject(config)) return [];
  const unknown = Object.keys(config).filter((name) => !known.includes(name));
  return [
    ...unknown.map((given): Finding => {
      const message = `has the member \`${given}\`, which ${String(type)} does not know`;
      return { code: 'traffic-policy', path: ['config', given], message, unknown: { given, known } };
    }),
    ...(type === 'restrict-ips' ? listAddressMistakes(config) : []),
  ];
}

function listAddressMistakes({ enforce = true, allow, deny }: JsonObject): readonly Finding[] {
  const toMistake = (path: FieldPath, message: string, remedy: string): Finding => ({
    code: 'traffic-policy',
    path: ['config', ...path],
    message,
    remedy,
  });
  const lists = { allow, deny };
  const wrong = Object.entries(lists).flatMap(([name, list]) =>
    (isJsonArray(list) ? list : []).flatMap((member, index) => {
      const why = typeof member === 'string' ? FORMATS.cidr.check(member) : 'is not text';
      return why === undefined
        ? []
        : [toMistake([name, index], `has ${JSON.stringify(member)}, which ${why}`, ADDRESS)];
    }),
  );
  const isSwitch = typeof enforce === 'boolean';
  return isSwitch ? wrong : [toMistake(['enforce'], 'has an `enforce` that is not true or false', SWITCH), ...wrong];
}

const ADDRESS = 'Write an IP address or a CIDR block, such as `203.0.113.0/24`.';
const SWITCH = 'Write true or false, without quotes.';

/** Finds the phases that the interface does not list. */
function listUnknownPhases(policy: JsonObject): readonly Finding[] {
  const known = Object.keys(PHASES);
  const unknown = Object.keys(policy).filter((name) => name !== 'enabled' && !known.includes(name));
  return unknown.map((given) => ({
    code: 'traffic-policy',
    path: [given],
    message: `has the phase \`${given}\`, which is not known here; known: ${known.join(', ')}. A service that does not know it may apply nothing`,
    remedy: 'Use a phase that is known for this traffic. A newer service may know others.',
    unknown: { given, known: [...known, 'enabled'] },
  }));
}

/** Finds the actions after a deny, which ends the connection. */
function listUnreachableActions({ actions }: JsonObject): readonly Finding[] {
  const list = isJsonArray(actions) ? actions : [];
  const end = list.findIndex((action) => isJsonObject(action) && action['type'] === 'deny');
  return end < 0 || end === list.length - 1
    ? []
    : [
        {
          code: 'traffic-policy',
          path: ['actions', end + 1],
          message: 'has an action after `deny`, which is never reached',
          remedy: 'Write deny last.',
        },
      ];
}
