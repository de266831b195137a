import type { Finding } from '../../model/finding.ts';
import { type JsonObject, toJsonList } from '../../model/json.ts';
import { NOT_SHOWN } from '../access-effect.ts';
import {
  type AccessEffect,
  createModuleType,
  field,
  idOf,
  integer,
  mapOf,
  number,
  refTo,
  setOf,
  text,
  textOfFormat,
} from '../field.ts';
import { FORMATS } from '../formats.ts';
import { defineKind } from '../kind.ts';

export const HTTPS_EDGE = defineKind({
  name: 'HTTPSEdge',
  role: 'attached',
  title: 'HTTPS edge',
  description:
    'Modules of an existing HTTPS edge. An apply removes modules that the document leaves out. If you remove the document, the modules stay.',
  words: { endpoint: '', http: '', tls: 'mutual_tls', mtls: 'mutual_tls', certificate: 'mutual_tls' },
  example: {
    spec: {
      id: 'edghts_2k9XLUXyQfTGvB5wz3mKqRpJhNd',
      mutual_tls: { enabled: true, certificate_authority_ids: ['ca_2k9XLRJ8pHkEJUFXcZeJnSXyVbd'] },
    },
  },
  idPrefix: 'edghts',
  path: '/edges/https/{id}',
  fields: {
    id: field(idOf('edghts'), 'Id of the HTTPS edge.', { lifecycle: 'immutable', required: true, unique: true }),
    mutual_tls: field(
      createModuleType({
        certificate_authority_ids: field(
          setOf(refTo('ca')),
          'The certificate authorities used to validate the TLS client certificate.',
          { required: true, responseName: 'certificate_authorities', restriction: 'allow-list-or-all' },
        ),
      }),
      'Mutual TLS module: which client certificates are accepted.',
      { clear: 'delete', hasPath: true, restriction: 'while-on' },
    ),
  },
});

/** Headers that never carry a secret. The live values of all others are hidden. */
const SHOWN_HEADERS = [
  'accept',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'content-type',
  'host',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-prefix',
  'x-forwarded-proto',
];

const UINT32_MAX = 4_294_967_295;
/** Some services replace zero by a number of their own. */
const CHOSEN_NUMBER = { serviceDefault: true } as const;

export const HTTPS_EDGE_ROUTE = defineKind({
  name: 'HTTPSEdgeRoute',
  role: 'attached',
  title: 'HTTPS edge route',
  description:
    'Modules of a route of an existing HTTPS edge. An apply removes modules that the document leaves out. If you remove the document, the modules stay.',
  words: { route: '', path: '', header: 'request_headers', user_agent: 'user_agent_filter', retry: 'circuit_breaker' },
  example: {
    spec: {
      edge_id: 'edghts_2k9XLUXyQfTGvB5wz3mKqRpJhNd',
      id: 'edghtsrt_2k9XLVw6cHnZt8yDf4sLbGxQkPe',
      circuit_breaker: {
        enabled: true,
        tripped_duration: 30,
        rolling_window: 60,
        num_buckets: 10,
        volume_threshold: 20,
        error_threshold_percentage: 0.2,
      },
      request_headers: { enabled: true, add: { 'x-environment': 'production' }, remove: ['x-debug'] },
      user_agent_filter: { enabled: true, allow: ['^Mozilla/'], deny: ['(?i)bot'] },
    },
  },
  idPrefix: 'edghtsrt',
  path: '/edges/https/{edge_id}/routes/{id}',
  fields: {
    edge_id: field(idOf('edghts'), 'Id of the HTTPS edge that the route belongs to.', {
      lifecycle: 'immutable',
      required: true,
    }),
    id: field(idOf('edghtsrt'), 'Id of the route.', { lifecycle: 'immutable', required: true, unique: true }),
    circuit_breaker: field(
      createModuleType(
        {
          tripped_duration: field(
            integer(0, UINT32_MAX),
            'Seconds to wait, once tripped, before upstream health is evaluated again.',
            CHOSEN_NUMBER,
          ),
          rolling_window: field(
            integer(0, UINT32_MAX),
            'Length of the rolling window for metrics, in seconds.',
            CHOSEN_NUMBER,
          ),
          num_buckets: field(integer(0, 128), 'Number of buckets for metrics, at most 128.', CHOSEN_NUMBER),
          volume_threshold: field(
            integer(0, UINT32_MAX),
            'Number of requests in a rolling window that can trip the circuit.',
            CHOSEN_NUMBER,
          ),
          error_threshold_percentage: field(
            number(0, 1),
            'Share of errors that trips the circuit, from 0 to 1.0 (not a percentage).',
            { default: 0 },
          ),
        },
        { findMistakes: listNeverTripping },
      ),
      'Circuit breaker module: stops traffic to an upstream that fails.',
      { clear: 'delete', hasPath: true },
    ),
    request_headers: field(
      createModuleType({
        add: field(
          mapOf(textOfFormat('header-name'), text({ format: 'header-value', mayBeSecret: true }), {
            caseInsensitive: true,
            valueTypes: Object.fromEntries(SHOWN_HEADERS.map((name) => [name, textOfFormat('header-value')])),
          }),
          'Headers added to the request before it goes upstream, after `remove`. Names that differ only in case are the same header.',
        ),
        remove: field(
          setOf(textOfFormat('header-name')),
          'Names of headers removed from the request before it goes upstream.',
        ),
      }),
      'Request headers module.',
      { clear: 'delete', hasPath: true },
    ),
    user_agent_filter: field(
      createModuleType(
        {
          allow: field(setOf(textOfFormat('re2-pattern')), 'RE2 patterns, unanchored. A match allows the request.', {
            restriction: 'unproven',
          }),
          deny: field(
            setOf(textOfFormat('re2-pattern')),
            'RE2 patterns, unanchored. A match denies the request unless an allow pattern matches.',
            { restriction: 'unproven' },
          ),
        },
        { findMistakes: listFilterMistakes, judgeAccess: judgeFilter },
      ),
      'User agent filter module.',
      { clear: 'delete', hasPath: true, restriction: 'while-on' },
    ),
  },
});

/** A circuit breaker without a threshold, or without metrics, never opens. What is unset is the service's choice. */
function listNeverTripping(breaker: JsonObject): readonly Finding[] {
  const { error_threshold_percentage: share = 0 } = breaker;
  const isZero = (name: string): boolean => breaker[name] === 0;
  const toReason = (field: string, message: string): Finding => ({
    code: 'module-without-effect',
    path: [field],
    message,
    remedy: 'Set a threshold, a window with buckets, and a tripped duration; or disable the module.',
  });
  const counts = ['rolling_window', 'num_buckets'].filter(isZero);
  return [
    ...(isZero('volume_threshold') && share === 0
      ? [toReason('volume_threshold', 'never trips: volume_threshold and error_threshold_percentage are both zero')]
      : []),
    ...counts.map((name) => toReason(name, `never trips: ${name} is zero, so it keeps no metrics`)),
    ...(isZero('tripped_duration')
      ? [toReason('tripped_duration', 'never stays tripped: tripped_duration is zero, so traffic flows again at once')]
      : []),
  ];
}

/**
 * A request is allowed if any allow pattern matches, or if no deny pattern matches. So a filter without a pattern to
 * deny, or with one that allows every request, restricts nobody.
 */
function judgeFilter({ allow, deny }: JsonObject): AccessEffect {
  if (deny === undefined) return { effect: 'unknown', why: NOT_SHOWN, path: ['deny'] };
  const [allowed = [], denied = []] = [allow, deny].map((list) => toJsonList(list).map(String));
  if (denied.length === 0) return { effect: 'open', why: 'it denies no user agent', path: ['deny'] };
  if (allow === undefined) return { effect: 'unknown', why: NOT_SHOWN, path: ['allow'] };
  const why = FORMATS['re2-pattern'].findOpening?.(allowed);
  if (why !== undefined) return { effect: 'open', why: `it allows every user agent: ${why}`, path: ['allow'] };
  const left = denied.filter((pattern) => !allowed.includes(pattern));
  if (left.length === 0) return { effect: 'open', why: 'it allows each pattern that it denies', path: ['deny'] };
  const isReadable = left.some((pattern) => FORMATS['re2-pattern'].check(pattern) === undefined);
  if (isReadable) return { effect: 'restricts' };
  return { effect: 'unknown', why: 'its pattern cannot be read here', path: ['deny'] };
}

/** Lists patterns that decide nothing, or everything. `judgeFilter` says whether the filter restricts at all. */
function listFilterMistakes({ allow, deny }: JsonObject): readonly Finding[] {
  const [allowed = [], denied = []] = [allow, deny].map((list) => toJsonList(list));
  const toMistake = (index: number, message: string, remedy: string): Finding => ({
    code: 'module-without-effect',
    path: ['deny', index],
    message,
    remedy,
  });
  const both = denied.filter((pattern) => pattern !== '' && allowed.includes(pattern));
  return denied.flatMap((pattern, index) => {
    if (pattern === '') return [toMistake(index, EMPTY_DENY, NO_EMPTY)];
    if (!both.includes(pattern) || both.length === denied.length) return [];
    return [toMistake(index, `denies and allows ${JSON.stringify(pattern)}: allow decides`, KEEP_ONE)];
  });
}

const EMPTY_DENY = 'has an empty deny pattern, which matches every user agent';
const NO_EMPTY = 'Remove the empty pattern. To match every user agent on purpose, write `.*`.';
const KEEP_ONE = 'Remove the pattern from one of the lists.';
