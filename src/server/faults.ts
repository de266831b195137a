import { setTimeout } from 'node:timers/promises';
import { NO_ENVIRONMENT } from '../manifest/environment.ts';
import { parseDocuments } from '../manifest/parse.ts';
import { createYamlText } from '../manifest/yaml-text.ts';
import { formatPath } from '../model/field-path.ts';
import { type HttpRequest, isSuccess, type Send } from '../model/http.ts';
import { isJsonArray, isJsonObject, type Json } from '../model/json.ts';
import type { FaultRule, ServerFaults } from '../model/server-faults.ts';
import type { FieldPath } from '../model/state.ts';

import { checkAgainstSchema, describeUnknownKeys } from '../schemas/findings.ts';

import { FAULTS_SCHEMA } from '../schemas/seed.ts';
import { createFaultChooser } from './choose-faults.ts';
import { answerWithFault, applyLatencyFault, type FaultContext } from './fault-effects.ts';
import { findIdleMember } from './fault-targets.ts';
import { isAdminPath } from './routes.ts';
import type { Decorate, Server } from './server.ts';

/**
 * Injects faults between the bundled server and its clients: late, lost, broken and wrong responses. Rules and a seed
 * choose the faults. If a fault prevents the response, `send` rejects as a client's transport does. Over a socket,
 * `listen` closes or resets the connection.
 */

/** Options of `withFaults`. */
export interface FaultInjectionOptions {
  /** Resolves after `ms` milliseconds, or as soon as the signal is aborted. Default: a timer of the system. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Returns milliseconds since a fixed moment. Default: the system's clock. */
  readonly now?: () => number;
  /** Called when a fault applies to a request, before the fault takes effect. */
  readonly onFault?: (entry: FaultLogEntry) => void;
}

/** A log entry for one fault of one request. */
export interface FaultLogEntry {
  readonly method: string;
  /** Path and query of the request. */
  readonly path: string;
  readonly fault: FaultRule['fault'];
}

/**
 * Returns a server that injects faults into the responses of `server`. Throws `RangeError` if a rule can never apply.
 */
export function withFaults(server: Server, faults: ServerFaults, options: FaultInjectionOptions = {}): Server {
  return server.behind(createFaultDecorator(server, faults, options));
}

/** Creates what `withFaults` puts around a server. Throws `RangeError` if a rule can never apply. */
export function createFaultDecorator(
  server: Server,
  faults: ServerFaults,
  options: FaultInjectionOptions = {},
): Decorate {
  refuseIdleRules(faults);
  const choose = createFaultChooser(faults);
  const history = createHistory(server, faults.rules);
  const { sleep = sleepUnreferenced, now = Date.now, onFault } = options;
  const retained = createRetainedStates(server, now);
  return (inner, basePath) => async (request) => {
    if (isAdminPath(request.url, basePath)) return inner(request);
    const { latency, fault } = choose(request, basePath);
    const before = history.look();
    const forward = retained.watch(history.watch(inner));
    const copy = (): Send => server.withSnapshot(server.snapshot());
    const scene: FaultContext = { request, forward, sleep, before, copy, retain: retained.retain };
    for (const { rule } of [latency ?? [], fault ?? []].flat()) onFault?.(toEntry(request, rule.fault));
    if (latency !== undefined) await applyLatencyFault(latency, scene);
    return fault === undefined ? scene.forward(request) : answerWithFault(fault, scene);
  };
}

async function sleepUnreferenced(ms: number, signal?: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal, ref: false }).catch((error: unknown) => {
    if (!signal?.aborted) throw error;
  });
}

function toEntry({ method, url }: HttpRequest, fault: FaultRule['fault']): FaultLogEntry {
  const { pathname, search } = new URL(url);
  return { method, path: pathname + search, fault };
}

/** Earlier states of the server, as many as the `stale` rules need. Without such rules nothing is recorded. */
interface History {
  /** Counts a request. Returns `FaultContext.before` for this request. */
  readonly look: () => FaultContext['before'];
  /** Returns a function that forwards to `inner`, and records the state before each successful change. */
  readonly watch: (inner: Send) => Send;
}

function createHistory(server: Server, rules: readonly FaultRule[]): History {
  const stale = rules.filter((rule) => rule.fault === 'stale');
  const depth = Math.max(0, ...stale.map(({ changes = 1, requests = 1 }) => Math.max(changes, requests)));
  /** The states before each of the last changes, the most recent first. */
  let changes: readonly Past[] = [];
  /** The states before each of the last requests, the most recent first. */
  let requests: readonly Past[] = [];
  let present: Past | undefined;
  const now = (): Past => {
    present ??= createPast(server);
    return present;
  };
  return {
    look: () => {
      if (depth === 0) return () => server.send;
      const [changesNow, requestsNow] = [changes, requests];
      requests = [now(), ...requests].slice(0, depth);
      return (ago) => {
        const [list, count] = ago.requests === undefined ? [changesNow, ago.changes ?? 1] : [requestsNow, ago.requests];
        return (list[count - 1] ?? list.at(-1) ?? now())();
      };
    },
    watch: (inner) => async (request) => {
      if (depth === 0 || request.method === 'GET') return inner(request);
      const before = now();
      const response = await inner(request);
      if (!isSuccess(response)) return response;
      changes = [before, ...changes].slice(0, depth);
      present = undefined;
      return response;
    },
  };
}

/** Earlier states of the server that its checks for conflicts still see. */
interface RetainedStates {
  /** Remembers the current state. Returns a function that lets checks see it for `ms` milliseconds. */
  readonly retain: FaultContext['retain'];
  /** Returns a function that rejects a write which conflicts with a retained state, and forwards other requests. */
  readonly watch: (inner: Send) => Send;
}

function createRetainedStates(server: Server, now: () => number): RetainedStates {
  let retained: readonly { readonly snapshot: ReturnType<Server['snapshot']>; readonly untilMs: number }[] = [];
  return {
    retain: () => {
      const snapshot = server.snapshot();
      return (ms) => {
        retained = [...retained, { snapshot, untilMs: now() + ms }];
      };
    },
    watch: (inner) => async (request) => {
      retained = retained.filter(({ untilMs }) => now() < untilMs);
      for (const { snapshot } of request.method === 'GET' ? [] : retained) {
        const response = await server.withSnapshot(snapshot)(request);
        if (response.status === 409) return response;
      }
      return inner(request);
    },
  };
}

/** Returns the `send` of the server in an earlier state. That server is created at the first call. */
type Past = () => Send;

function createPast(server: Server): Past {
  const snapshot = server.snapshot();
  let send: Send | undefined;
  return () => {
    send ??= server.withSnapshot(snapshot);
    return send;
  };
}

/**
 * Parses faults from YAML or JSON. Throws `RangeError` if they are invalid or can never apply; the message names each error
 * and its rule.
 */
export function parseServerFaults(text: string): ServerFaults {
  const value = parseOne(text);
  const unknownKey = describeUnknownKeys(FAULTS_SCHEMA, value);
  if (unknownKey !== undefined) throw new RangeError(unknownKey);
  const findings = checkAgainstSchema(FAULTS_SCHEMA, value).map(
    ({ path, message }) => `${formatPath(path)}${nameRule(value, path)} ${message}`,
  );
  if (findings.length > 0) throw new RangeError(findings.map((finding) => finding.trim()).join('; '));
  const faults = value as unknown as ServerFaults; // checkAgainstSchema has checked it
  refuseIdleRules(faults);
  return faults;
}

/** Throws `RangeError`, with each mistake, if there are rules that can never apply. */
function refuseIdleRules({ rules }: ServerFaults): void {
  const findings = rules.flatMap((rule, index) => {
    const finding = findIdleMember(rule);
    if (finding === undefined) return [];
    return [`${formatPath(['rules', index, ...finding.path])} (${rule.on}) ${finding.message}`];
  });
  if (findings.length > 0) throw new RangeError(findings.join('; '));
}

function parseOne(text: string): Json {
  const [first, second] = parseDocuments(createYamlText(text), NO_ENVIRONMENT);
  const [finding] = first?.findings ?? [];
  if (first === undefined || first.value === null) throw new RangeError('It is empty');
  if (finding !== undefined)
    throw new RangeError(`It is not YAML: see line ${text.slice(0, finding.range.start).split('\n').length}`);
  if (second !== undefined) throw new RangeError('It contains more than one document');
  return first.value;
}

/** Returns the `on` of the rule that contains an error, such as ` (GET *)`. Empty if the error is not in a rule. */
function nameRule(value: Json, [first, index]: FieldPath): string {
  const rules = isJsonObject(value) && first === 'rules' ? value['rules'] : undefined;
  const rule = isJsonArray(rules) ? rules[Number(index)] : undefined;
  const on = isJsonObject(rule) ? rule['on'] : undefined;
  return typeof on === 'string' ? ` (${on})` : '';
}
