import { describe, expect, it } from 'vitest';
import {
  listResourceTransitionDangers,
  listUnknownRestrictions,
  type ResourceState,
} from '../../src/access/dangers.ts';
import { isOpenOnPurpose } from '../../src/access/restrictions.ts';
import { AS_WRITTEN, canonical } from '../../src/kinds/canonical.ts';
import { getKind } from '../../src/kinds/tables/registry.ts';
import type { Change } from '../../src/model/change.ts';
import { DANGERS, type Danger } from '../../src/model/danger.ts';
import type { Json } from '../../src/model/json.ts';
import type { LiveResource, LiveState, Spec } from '../../src/model/state.ts';
import { createDriftDangerList } from '../../src/plan/dangers.ts';

/**
 * What restricts, in each state and in each way to reach it: the dangers, or why there is none. `!` and the danger with its path is
 * expected of the program. Everything else is the reason for which no danger about access is.
 */

const VALUES = ['absent', 'null', 'empty', 'all', 'one', 'two', 'unknown'] as const;
type Value = (typeof VALUES)[number];

/**
 * create: a new resource with the value. update: from one entry to the value; of what is unknown, from it to one entry. remove: from the
 * value to nothing written, or to no resource. changed: one entry is expected, and the service has the value. vanished: the value is
 * expected, and the service has nothing.
 */
const WAYS = ['create', 'update', 'remove', 'changed', 'vanished'] as const;
type Row = readonly [create: string, update: string, remove: string, changed: string, vanished: string];

interface Thing {
  readonly kind: string;
  readonly field: string;
  /** The other fields. */
  readonly base: Spec;
  readonly values: Readonly<Record<Exclude<Value, 'absent' | 'null' | 'unknown'>, Json>>;
  /** A value that a manifest may have and that cannot be judged here. */
  readonly unreadable?: Json;
  readonly rows: Readonly<Record<Value, Row>>;
  /** Whether the resource itself restricts others, and is removed or vanishes as a whole. */
  readonly isWhole?: true;
}

const WRITTEN_NOWHERE = 'nothing is written, so it is listed as open to everyone';
const RESTRICTS = 'it restricts';
const EQUAL = 'both sides are equal';
const OPEN_BEFORE = 'nobody was kept out before';
const ALWAYS_SAID = 'a manifest always says it';
const NARROWER = 'it restricts more than before';
const NOT_ALLOWED = 'neither a manifest nor the service may have it';
const NO_LIST = 'an allow list that is empty allows nobody else: deny decides';
const NO_OPTION = 'without an option, nothing is written that should restrict';

const NOTHING_ROW = (gone: string): Row => [WRITTEN_NOWHERE, gone, EQUAL, gone, OPEN_BEFORE];

function toModuleRows(path: string, { empty, all, two, kept }: Readonly<Record<string, Row>>): Thing['rows'] {
  const removed = `! restriction-removed ${path}`;
  const unknown = `! restriction-unknown ${path}`;
  const none: Row = ['nothing is written', removed, EQUAL, removed, OPEN_BEFORE];
  const same: Row = [RESTRICTS, EQUAL, removed, EQUAL, removed];
  return {
    absent: none,
    null: none,
    empty: empty ?? same,
    all: all ?? same,
    one: kept ?? same,
    two: two ?? same,
    unknown: [ALWAYS_SAID, unknown, unknown, unknown, ALWAYS_SAID],
  };
}

const toRules = (config: Json): Json => ({ inbound: [{ actions: [{ type: 'restrict-ips', config }] }] });
const CERTIFICATE = { ssh_certificate_authority_id: 'sshca_a', public_key: 'k', extensions: {} };
const ROUTE = { id: 'edghtsrt_a', edge_id: 'edghts_a' };

const RULE = 'policy.inbound[0]';
const RULE_REMOVED = `! rule-removed ${RULE}`;
const toPolicyRows = (emptyPath: string, allPath: string, two: string): Thing['rows'] => {
  const none: Row = [WRITTEN_NOWHERE, RULE_REMOVED, EQUAL, RULE_REMOVED, OPEN_BEFORE];
  const unknown = '! restriction-unknown policy';
  const toOpened = (path: string) => `! unrestricted ${path} ! rule-changed ${RULE}`;
  return {
    absent: none,
    null: none,
    empty: [`! unrestricted ${emptyPath}`, toOpened(emptyPath), RULE_REMOVED, toOpened(emptyPath), RULE_REMOVED],
    all: [`! unrestricted ${allPath}`, toOpened(allPath), RULE_REMOVED, toOpened(allPath), RULE_REMOVED],
    one: [RESTRICTS, EQUAL, RULE_REMOVED, EQUAL, RULE_REMOVED],
    two: [RESTRICTS, two, RULE_REMOVED, two, RULE_REMOVED],
    unknown: ['! restriction-unknown policy.inbound[0].actions[0].type', unknown, unknown, unknown, ALWAYS_SAID],
  };
};
const toUnknown = (type: string): Json => ({ inbound: [{ actions: [{ type }] }] });

const THINGS: Readonly<Record<string, Thing>> = {
  'the IP restriction of an edge': {
    kind: 'TCPEdge',
    field: 'ip_restriction',
    base: {},
    values: {
      empty: { ip_policy_ids: [] },
      all: { enabled: false, ip_policy_ids: ['ipp_a'] },
      one: { ip_policy_ids: ['ipp_a'] },
      two: { ip_policy_ids: ['ipp_a', 'ipp_b'] },
    },
    rows: {
      ...toModuleRows('ip_restriction', {
        empty: [
          '! unrestricted ip_restriction.ip_policy_ids',
          '! unrestricted ip_restriction.ip_policy_ids',
          '! restriction-removed ip_restriction',
          '! unrestricted ip_restriction.ip_policy_ids',
          '! restriction-removed ip_restriction',
        ],
        // Which addresses a policy admits is not known here. What is switched off admits all of them.
        all: [
          'it is switched off on purpose, so it is listed as open to everyone',
          '! restriction-disabled ip_restriction',
          'it was switched off',
          '! restriction-disabled ip_restriction',
          'it was switched off',
        ],
        two: [
          RESTRICTS,
          '! restriction-changed ip_restriction.ip_policy_ids',
          '! restriction-removed ip_restriction',
          '! restriction-changed ip_restriction.ip_policy_ids',
          '! restriction-removed ip_restriction',
        ],
      }),
      absent: NOTHING_ROW('! restriction-removed ip_restriction'),
      null: NOTHING_ROW('! restriction-removed ip_restriction'),
    },
  },
  'a policy of an edge': {
    kind: 'TCPEdge',
    field: 'policy',
    base: {},
    values: {
      empty: { inbound: [] },
      all: { inbound: [{ expressions: ['false'], actions: [{ type: 'deny' }] }] },
      one: { inbound: [{ actions: [{ type: 'deny' }] }] },
      two: {
        inbound: [{ actions: [{ type: 'deny' }] }, { name: 'b', expressions: ['a'], actions: [{ type: 'deny' }] }],
      },
    },
    unreadable: toUnknown('ban'),
    rows: {
      ...toPolicyRows('policy', 'policy.inbound[0].expressions[0]', '! rule-added policy.inbound[1]'),
      empty: [
        '! unrestricted policy',
        `! unrestricted policy ${RULE_REMOVED}`,
        '! restriction-removed policy',
        `! unrestricted policy ${RULE_REMOVED}`,
        '! restriction-removed policy',
      ],
      two: [
        RESTRICTS,
        '! rule-added policy.inbound[1]',
        `${RULE_REMOVED} ! rule-removed policy.inbound[1]`,
        '! rule-added policy.inbound[1]',
        `${RULE_REMOVED} ! rule-removed policy.inbound[1]`,
      ],
    },
  },
  'the allow list of an action': {
    kind: 'TCPEdge',
    field: 'policy',
    base: {},
    values: {
      empty: toRules({ allow: [] }),
      all: toRules({ allow: ['0.0.0.0/1', '128.0.0.0/1'] }),
      one: toRules({ allow: ['10.0.0.0/8'] }),
      two: toRules({ allow: ['10.0.0.0/8', '192.0.2.0/24'] }),
    },
    unreadable: toUnknown('ban'),
    rows: toPolicyRows(`${RULE}.actions[0].config`, `${RULE}.actions[0].config.allow`, `! rule-changed ${RULE}`),
  },
  'the deny list of an action': {
    kind: 'TCPEdge',
    field: 'policy',
    base: {},
    values: {
      empty: toRules({ deny: [] }),
      all: toRules({ allow: ['10.0.0.0/8'], deny: ['10.0.0.0/8'] }),
      one: toRules({ deny: ['10.0.0.0/8'] }),
      two: toRules({ deny: ['10.0.0.0/8', '192.0.2.0/24'] }),
    },
    unreadable: toUnknown('ban'),
    rows: toPolicyRows(`${RULE}.actions[0].config`, `${RULE}.actions[0].config.deny`, `! rule-changed ${RULE}`),
  },
  'mutual TLS': {
    kind: 'HTTPSEdge',
    field: 'mutual_tls',
    base: { id: 'edghts_a' },
    values: {
      empty: { certificate_authority_ids: [] },
      all: { enabled: false, certificate_authority_ids: ['ca_a'] },
      one: { certificate_authority_ids: ['ca_a'] },
      two: { certificate_authority_ids: ['ca_a', 'ca_b'] },
    },
    rows: toModuleRows('mutual_tls', {
      empty: [
        '! unrestricted mutual_tls.certificate_authority_ids',
        '! unrestricted mutual_tls.certificate_authority_ids',
        '! restriction-removed mutual_tls',
        '! unrestricted mutual_tls.certificate_authority_ids',
        '! restriction-removed mutual_tls',
      ],
      all: [
        'it is switched off on purpose',
        '! restriction-disabled mutual_tls',
        'it was switched off',
        '! restriction-disabled mutual_tls',
        'it was switched off',
      ],
      two: [
        RESTRICTS,
        '! access-widened mutual_tls.certificate_authority_ids',
        '! restriction-removed mutual_tls',
        '! access-widened mutual_tls.certificate_authority_ids',
        '! restriction-removed mutual_tls',
      ],
    }),
  },
  'the deny list of a user agent filter': {
    kind: 'HTTPSEdgeRoute',
    field: 'user_agent_filter',
    base: ROUTE,
    values: {
      empty: { deny: [] },
      all: { allow: ['curl'], deny: ['curl'] },
      one: { deny: ['curl'] },
      two: { deny: ['curl', 'wget'] },
    },
    rows: toModuleRows('user_agent_filter', {
      empty: [
        '! unrestricted user_agent_filter.deny',
        '! unrestricted user_agent_filter.deny',
        '! restriction-removed user_agent_filter',
        '! unrestricted user_agent_filter.deny',
        '! restriction-removed user_agent_filter',
      ],
      all: [
        '! unrestricted user_agent_filter.deny',
        '! unrestricted user_agent_filter.deny',
        '! restriction-removed user_agent_filter',
        '! unrestricted user_agent_filter.deny',
        '! restriction-removed user_agent_filter',
      ],
      two: [
        RESTRICTS,
        '! restriction-changed user_agent_filter.deny',
        '! restriction-removed user_agent_filter',
        '! restriction-changed user_agent_filter.deny',
        '! restriction-removed user_agent_filter',
      ],
    }),
  },
  'the allow list of a user agent filter': {
    kind: 'HTTPSEdgeRoute',
    field: 'user_agent_filter',
    base: ROUTE,
    values: {
      empty: { allow: [], deny: ['.*'] },
      all: { allow: ['.*'], deny: ['curl', '.*'] },
      one: { allow: ['curl'], deny: ['.*'] },
      two: { allow: ['curl', 'wget'], deny: ['.*'] },
    },
    rows: toModuleRows('user_agent_filter', {
      empty: [
        NO_LIST,
        '! restriction-changed user_agent_filter.allow',
        '! restriction-removed user_agent_filter',
        '! restriction-changed user_agent_filter.allow',
        '! restriction-removed user_agent_filter',
      ],
      all: [
        '! unrestricted user_agent_filter.allow',
        '! unrestricted user_agent_filter.allow',
        '! restriction-removed user_agent_filter',
        '! unrestricted user_agent_filter.allow',
        '! restriction-removed user_agent_filter',
      ],
      two: [
        RESTRICTS,
        '! restriction-changed user_agent_filter.allow',
        '! restriction-removed user_agent_filter',
        '! restriction-changed user_agent_filter.allow',
        '! restriction-removed user_agent_filter',
      ],
    }),
  },
  'the ACL of a credential': {
    kind: 'Credential',
    field: 'acl',
    base: {},
    values: { empty: [], all: ['bind:a.test', 'bind:*'], one: ['bind:a.test'], two: ['bind:a.test', 'bind:b.test'] },
    rows: {
      absent: NOTHING_ROW('! unrestricted acl'),
      null: NOTHING_ROW('! unrestricted acl'),
      empty: ['! unrestricted acl', '! unrestricted acl', EQUAL, '! unrestricted acl', OPEN_BEFORE],
      all: ['! unrestricted acl', '! unrestricted acl', OPEN_BEFORE, '! unrestricted acl', OPEN_BEFORE],
      one: [RESTRICTS, EQUAL, '! unrestricted acl', EQUAL, '! unrestricted acl'],
      two: [RESTRICTS, '! access-widened acl', '! unrestricted acl', '! access-widened acl', '! unrestricted acl'],
      unknown: [
        ALWAYS_SAID,
        '! restriction-unknown acl',
        '! unrestricted acl',
        '! restriction-unknown acl',
        ALWAYS_SAID,
      ],
    },
  },
  'the principals of a certificate': {
    kind: 'SSHUserCertificate',
    field: 'principals',
    base: CERTIFICATE,
    values: { empty: [], all: [], one: ['alice'], two: ['alice', 'bob'] },
    rows: {
      absent: NOTHING_ROW('! unrestricted principals'),
      null: NOTHING_ROW('! unrestricted principals'),
      empty: [
        '! unrestricted principals',
        '! unrestricted principals',
        EQUAL,
        '! unrestricted principals',
        OPEN_BEFORE,
      ],
      all: ['! unrestricted principals', '! unrestricted principals', EQUAL, '! unrestricted principals', OPEN_BEFORE],
      one: [RESTRICTS, EQUAL, '! unrestricted principals', EQUAL, '! unrestricted principals'],
      two: [
        RESTRICTS,
        '! access-widened principals',
        '! unrestricted principals',
        '! access-widened principals',
        '! unrestricted principals',
      ],
      unknown: [
        ALWAYS_SAID,
        '! restriction-unknown principals',
        '! unrestricted principals',
        '! restriction-unknown principals',
        ALWAYS_SAID,
      ],
    },
  },
  'the source addresses of a certificate': {
    kind: 'SSHUserCertificate',
    field: 'critical_options',
    base: { ...CERTIFICATE, principals: ['alice'] },
    values: {
      empty: {},
      all: { 'source-address': '::/0' },
      one: { 'source-address': '10.0.0.0/8' },
      two: { 'source-address': '10.0.0.0/8,192.0.2.0/24' },
    },
    rows: {
      absent: [
        NO_OPTION,
        '! restriction-removed critical_options.source-address',
        EQUAL,
        '! restriction-removed critical_options.source-address',
        OPEN_BEFORE,
      ],
      null: [
        NO_OPTION,
        '! restriction-removed critical_options.source-address',
        EQUAL,
        '! restriction-removed critical_options.source-address',
        OPEN_BEFORE,
      ],
      empty: [
        NO_OPTION,
        '! restriction-removed critical_options.source-address',
        EQUAL,
        '! restriction-removed critical_options.source-address',
        OPEN_BEFORE,
      ],
      all: [
        '! unrestricted critical_options.source-address',
        '! unrestricted critical_options.source-address',
        '! restriction-removed critical_options.source-address',
        '! unrestricted critical_options.source-address',
        '! restriction-removed critical_options.source-address',
      ],
      one: [
        RESTRICTS,
        EQUAL,
        '! restriction-removed critical_options.source-address',
        EQUAL,
        '! restriction-removed critical_options.source-address',
      ],
      two: [
        RESTRICTS,
        '! restriction-changed critical_options.source-address',
        '! restriction-removed critical_options.source-address',
        '! restriction-changed critical_options.source-address',
        '! restriction-removed critical_options.source-address',
      ],
      unknown: [
        ALWAYS_SAID,
        '! restriction-unknown critical_options',
        '! restriction-unknown critical_options',
        '! restriction-unknown critical_options',
        ALWAYS_SAID,
      ],
    },
  },
  'a restriction of the account': {
    kind: 'IPRestriction',
    field: 'ip_policy_ids',
    base: { type: 'endpoints', enforced: true },
    isWhole: true,
    values: { empty: [], all: [], one: ['ipp_a'], two: ['ipp_a', 'ipp_b'] },
    rows: {
      absent: [
        NOT_ALLOWED,
        '! unrestricted ip_policy_ids',
        '! restriction-removed',
        '! unrestricted ip_policy_ids',
        '! restriction-removed',
      ],
      null: [
        NOT_ALLOWED,
        '! unrestricted ip_policy_ids',
        '! restriction-removed',
        '! unrestricted ip_policy_ids',
        '! restriction-removed',
      ],
      empty: [
        NOT_ALLOWED,
        '! unrestricted ip_policy_ids',
        '! restriction-removed',
        '! unrestricted ip_policy_ids',
        '! restriction-removed',
      ],
      all: [
        NOT_ALLOWED,
        '! unrestricted ip_policy_ids',
        '! restriction-removed',
        '! unrestricted ip_policy_ids',
        '! restriction-removed',
      ],
      one: [NARROWER, EQUAL, '! restriction-removed', EQUAL, '! restriction-removed'],
      two: [
        NARROWER,
        '! restriction-changed ip_policy_ids',
        '! restriction-removed',
        '! restriction-changed ip_policy_ids',
        '! restriction-removed',
      ],
      unknown: [
        ALWAYS_SAID,
        '! restriction-unknown ip_policy_ids',
        '! restriction-removed',
        '! restriction-unknown ip_policy_ids',
        ALWAYS_SAID,
      ],
    },
  },
};

const CELLS = Object.entries(THINGS).flatMap(([title, thing]) =>
  VALUES.flatMap((value) =>
    WAYS.map((way, index) => ({ title, thing, value, way, expected: thing.rows[value][index] })),
  ),
);

/** What no user changed, and no write sets. What the service does not show of it is the danger of an update from there. */
const UNCHANGED = Object.entries(THINGS).flatMap(([title, thing]) =>
  VALUES.map((value) => ({ title, thing, value, expected: value === 'unknown' ? thing.rows.unknown[1] : EQUAL })),
);

describe('of what restricts,', () => {
  it.each(CELLS)('$title × $value × $way: $expected', ({ thing, value, way, expected = '' }) => {
    const found = listAccessDangers(thing, value, way).map(({ danger, path }) =>
      ['!', danger, path].filter(Boolean).join(' '),
    );
    if (expected.startsWith('!')) expect(found.join(' ')).toBe(expected);
    else {
      expect(expected).not.toBe('');
      expect(found).toEqual([]);
    }
  });

  it.each(UNCHANGED)('$title × $value × unchanged, in a plan and in drift: $expected', ({ thing, value, expected }) => {
    const kind = getKind(thing.kind);
    const desired = toState(thing, value === 'unknown' ? 'one' : value).spec;
    const live = toState(thing, value).spec;
    const sides = { live, desired, ignored: [] };
    const toText = ({ group, danger, path }: Danger) => ['!', group, danger, path].join(' ');
    const group = kind.oneTimeFields.length > 0 || kind.validity !== undefined ? 'secrets' : 'access';
    const told = expected.startsWith('!') ? [expected.replace('!', `! ${group}`)] : [];
    expect(listUnknownRestrictions(kind, sides).map(toText)).toEqual(told);
    expect(listUnknownRestrictions(kind, { ...sides, ignored: [thing.field] })).toEqual([]);
    const { [thing.field]: _, ...notShown } = live;
    const isWished = thing.rows[value][0] === RESTRICTS || value === 'unknown';
    if (value === 'absent' || value === 'null' || isWished)
      expect(listUnknownRestrictions(kind, { ...sides, live: notShown })).toHaveLength(isWished ? 1 : 0);
    expect(listDrift(thing, { spec: desired }, { spec: live }, { differs: false }).map(toText)).toEqual(told);
  });

  it('every field of a table that restricts is a thing of this file, or extends one', () => {
    const told = Object.values(THINGS).map(({ kind, field }) => `${kind}.${field}`);
    const others = ['IPRestriction.enforced', 'IPRestriction.type', 'SSHUserCertificate.extensions'];
    const kinds = [...new Set(Object.values(THINGS).map(({ kind }) => kind))];
    const fields = kinds.flatMap((kind) =>
      getKind(kind).specFields.flatMap(([name, { restriction }]) =>
        restriction === undefined ? [] : [`${kind}.${name}`],
      ),
    );
    expect(fields.filter((one) => !told.includes(one) && !others.includes(one))).toEqual([]);
  });
});

function listAccessDangers(thing: Thing, value: Value, way: (typeof WAYS)[number]): readonly Danger[] {
  const kind = getKind(thing.kind);
  const [one, nothing] = [toState(thing, 'one'), thing.isWhole === true ? undefined : toState(thing, 'absent')];
  const found = (): readonly Danger[] => {
    switch (way) {
      case 'create':
        return value === 'unknown' && thing.unreadable === undefined
          ? []
          : listResourceTransitionDangers(kind, undefined, toState(thing, value, { isNew: true }));
      case 'update': {
        const [from, to] = value === 'unknown' ? [toState(thing, value), one] : [one, toState(thing, value)];
        return listResourceTransitionDangers(kind, from, to);
      }
      case 'remove':
        return listResourceTransitionDangers(kind, toState(thing, value), nothing);
      case 'changed':
        return listDrift(thing, one, toState(thing, value));
      case 'vanished':
        return value === 'unknown' ? [] : listDrift(thing, toState(thing, value), nothing);
    }
  };
  return found().filter(({ danger }) => DANGERS[danger].group === 'access' && danger !== 'lockout');
}

/** `unknown`: the service does not show it, or, of a new resource, a text that cannot be read here. */
function toState(thing: Thing, value: Value, { isNew = false } = {}): ResourceState {
  const kind = getKind(thing.kind);
  const known = value === 'unknown' ? (isNew ? thing.unreadable : thing.values.one) : pick(thing, value);
  const written = known === undefined ? thing.base : { ...thing.base, [thing.field]: known };
  const normal = canonical(kind, written, AS_WRITTEN);
  const spec =
    value === 'unknown' && !isNew
      ? Object.fromEntries(Object.entries(normal).filter(([name]) => name !== thing.field))
      : normal;
  return { spec, isOpenOnPurpose: isOpenOnPurpose(kind, { written, normal }) };
}

function pick({ values }: Thing, value: Exclude<Value, 'unknown'>): Json | undefined {
  if (value === 'absent') return undefined;
  return value === 'null' ? null : values[value];
}

/** The dangers of drift from the expected to the live state. `undefined`: the resource is not there. */
function listDrift(
  { kind, field }: Thing,
  expected: ResourceState,
  live: ResourceState | undefined,
  { differs = true } = {},
): readonly Danger[] {
  const { idPrefix } = getKind(kind);
  const found: LiveResource | undefined = live && {
    kind,
    id: `${idPrefix}_1`,
    createdAt: '',
    spec: live.spec,
    mark: undefined,
    markError: undefined,
    computed: {},
  };
  const change: Change = {
    address: `${kind}/a`,
    kind,
    action: live === undefined ? 'create' : 'update',
    differences: differs ? [{ field, path: field, origin: 'drift', forcesReplace: false }] : [],
    desired: expected.spec,
    live: found && { id: found.id, spec: found.spec },
  };
  const account: LiveState = { resources: new Map(), attachments: new Map(), requests: 0 };
  return createDriftDangerList('test', account)(change, found);
}
