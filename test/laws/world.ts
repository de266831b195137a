import { applyPlan } from '../../src/apply/apply.ts';
import { createDirectorySink, type TokenSink } from '../../src/apply/token-sinks.ts';
import { type Client, createClient } from '../../src/client/client.ts';
import { readLive } from '../../src/client/read-live.ts';

import { NO_ENVIRONMENT } from '../../src/manifest/environment.ts';

import { validateManifests } from '../../src/manifest/validate.ts';
import { formatChangeAddress } from '../../src/model/change.ts';
import { hasErrors } from '../../src/model/diagnostic.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { ApplyEvent, ApplyResult } from '../../src/model/outcome.ts';
import type { Plan, PlanComparison } from '../../src/model/plan.ts';
import type { RateLimit } from '../../src/model/stack.ts';
import type { DesiredState, LiveState } from '../../src/model/state.ts';
import { type Transport, toSend } from '../../src/model/transport.ts';
import { comparePlans } from '../../src/plan/compare/compare-plans.ts';
import { createPlan, createPlanWithDecisions } from '../../src/plan/create-plan.ts';
import { createDestroyState, type PlanInput } from '../../src/plan/plan-input.ts';
import { listFinishedRotations } from '../../src/plan/renewal.ts';
import { createReadRequest } from '../../src/plan/select-targets.ts';
import { renderPlanJson } from '../../src/report/machine/json.ts';
import { createServer, parseApiKey, type Server, type ServerSeed } from '../../src/server/index.ts';
import { parsePlan } from '../../src/stack/parse-plan.ts';
import { sendByHand } from '../by-hand.ts';
import { createRecorder, type SentRequest } from '../cli/recorder.ts';
import { listKnownIds } from './known-ids.ts';
import { type Layout, renderStack } from './render-stack.ts';
import type { TestStack } from './stack.ts';

export const API_KEY = 'dev';
export const BASE_URL = 'https://api.test';

/** Options of a world. */
export interface WorldOptions {
  readonly pageSize?: number;
  readonly concurrency?: number;
  readonly seed?: ServerSeed;
  /** A folder for tokens. Absent: they are kept in `delivered`. */
  readonly tokenDirectory?: string;
  /** The clock of the clients, in milliseconds. */
  readonly clientNow?: () => number;
  readonly rateLimit?: RateLimit;
  /** Interrupts applies. */
  readonly signal?: AbortSignal;
  /** Pauses of the clients and of applies. */
  readonly sleep?: (ms: number) => Promise<void>;
}

/** Options of one plan. */
export interface PlanOptions {
  /** Wraps the transport of the reads. */
  readonly over?: (inner: Transport) => Transport;
  readonly rotate?: readonly string[];
  readonly retire?: readonly string[];
  readonly mode?: Plan['mode'];
  readonly targets?: readonly string[];
  readonly exclusions?: readonly string[];
  readonly layout?: Layout;
  /** The client of the reads, which can then reuse them. */
  readonly client?: Client;
  /** Changes the order of the read resources. */
  readonly rearrange?: (live: LiveState) => LiveState;
}

/** How an apply runs beside another one. */
export interface Beside {
  /** The pauses of the apply. Default: those of the world. */
  readonly sleep?: () => Promise<void>;
  /** Interrupts the apply. Default: that of the world. */
  readonly signal?: AbortSignal;
  /** Resolves when a token may be delivered. Default: at once. */
  readonly startDelivery?: () => Promise<void>;
}

/** Delivered tokens, by the name of the credential. */
export type Delivered = Map<string, string>;

/**
 * A bundled server and edgewise, through the functions that the command line calls. Each request advances its clock by one second, so that
 * resources differ in age.
 */
export class World {
  readonly server: Server;
  readonly delivered: Delivered = new Map();
  readonly events: ApplyEvent[] = [];
  readonly #options: WorldOptions;
  readonly #recorder;
  #transport: Transport;
  #seconds = 0;

  constructor(options: WorldOptions = {}) {
    this.#options = options;
    this.server = createServer({
      now: () => this.now(),
      idSeed: 'world',
      apiKeys: [parseApiKey(`${API_KEY}:admin`)],
      seed: { externals: listKnownIds(), ...options.seed },
    });
    this.#recorder = createRecorder(async (request) => {
      this.#seconds += 1;
      return this.server.handle(request);
    });
    this.#transport = this.#recorder.transport;
  }

  /** Returns the time of its clock. */
  now(): Date {
    return new Date(Date.UTC(2026, 2, 1) + 1000 * this.#seconds);
  }

  /** Advances the clock. */
  wait(seconds: number): void {
    this.#seconds += seconds;
  }

  /** Returns the requests since the last call. */
  takeRequests(): readonly SentRequest[] {
    return this.#recorder.take();
  }

  /** Wraps the transport between edgewise and the server. Absent: removes the wrapper. */
  interpose(toTransport: (inner: Transport) => Transport = (inner) => inner): void {
    this.#transport = toTransport(this.#recorder.transport);
  }

  connect(): Client {
    return this.#connectOver((request) => this.#transport(request));
  }

  #connectOver(transport: Transport): Client {
    const { pageSize = 100, concurrency = 8, clientNow, rateLimit, sleep = async () => undefined } = this.#options;
    return createClient({
      send: toSend(transport),
      baseUrl: BASE_URL,
      apiKey: API_KEY,
      versionHeader: 'Service-Version',
      pageSize,
      concurrency,
      sleep,
      date: () => this.now(),
      ...(clientNow !== undefined && { now: clientNow }),
      ...(rateLimit !== undefined && { rateLimit }),
    });
  }

  async plan(stack: TestStack | DesiredState, options: PlanOptions = {}): Promise<Plan> {
    return createPlan(await this.readInput(stack, options));
  }

  /** Plans again, and compares with an approved plan. The new plan is `after`. */
  async compare(approved: Plan, stack: TestStack | DesiredState, options: PlanOptions = {}): Promise<PlanComparison> {
    const read = await this.readInput(stack, options);
    const input = { ...read, rotated: listFinishedRotations(approved, read.live, read) };
    const { plan, decisions } = createPlanWithDecisions(input);
    return comparePlans(approved, plan, { decisions, live: input.live });
  }

  /** Reads what is live, for a plan of the stack. */
  async readInput(
    stack: TestStack | DesiredState,
    {
      mode = 'apply',
      targets = [],
      exclusions = [],
      rotate = [],
      retire = [],
      layout,
      rearrange = (live) => live,
      over,
      client,
    }: PlanOptions = {},
  ): Promise<PlanInput> {
    const state = 'resources' in stack ? stack : loadStack(stack, layout);
    const desired = mode === 'destroy' ? createDestroyState(state) : state;
    const live = rearrange(
      await readLive(
        client ?? (over === undefined ? this.connect() : this.#connectOver(over(this.#recorder.transport))),
        createReadRequest(desired, targets),
      ),
    );
    const { pageSize = 100, concurrency = 8 } = this.#options;
    return {
      desired,
      live,
      baseUrl: BASE_URL,
      settings: {
        versionHeader: 'Service-Version',
        pageSize,
        concurrency,
        rateLimit: 'none',
        guard: { maxDeletes: 5, maxDeleteShare: 0.3 },
      },
      tokens: { default: { directory: 'tokens' }, credentials: {} },
      version: '0.0.0',
      mode,
      targets,
      exclusions,
      diagnostics: [],
      now: this.now(),
      rotate,
      retire,
    };
  }

  async apply(plan: Plan, client = this.connect(), beside: Beside = {}): Promise<ApplyResult> {
    const { sleep = this.#options.sleep ?? (async () => undefined) } = beside;
    const { signal = this.#options.signal ?? new AbortController().signal } = beside;
    return applyPlan(plan, {
      client,
      sinks: { find: () => this.#createSink(beside), rescue: this.#createSink(beside) },
      onEvent: (event) => void this.events.push(event),
      now: () => this.now(),
      sleep,
      signal,
      ids: new Map(),
    });
  }

  /** Applies over another transport. */
  async applyOver(plan: Plan, toTransport: (inner: Transport) => Transport, beside: Beside = {}): Promise<ApplyResult> {
    return this.apply(plan, this.#connectOver(toTransport(this.#recorder.transport)), beside);
  }

  /** Plans and applies with a plan file that is written and read back. Throws unless everything was done. */
  async migrate(stack: TestStack | DesiredState, options: PlanOptions = {}): Promise<Plan> {
    const plan = await this.plan(stack, options);
    expectNoErrors(plan);
    const { outcomes } = await this.apply(plan);
    const failed = outcomes.flatMap((result) =>
      result.outcome === 'applied' ? [] : [`${result.write.id}: ${result.message}`],
    );
    if (failed.length > 0) throw new Error(`Not applied:\n${failed.join('\n')}`);
    return plan;
  }

  /** Sends a request of another user. Throws if it is rejected. */
  async call(method: string, path: string, body?: JsonObject): Promise<JsonObject> {
    this.#seconds += 1;
    return sendByHand({ server: this.server, key: API_KEY, baseUrl: BASE_URL }, method, path, body);
  }

  /** Returns all resources of the server. */
  resources(): Readonly<Record<string, readonly JsonObject[]>> {
    return this.server.snapshot().resources;
  }

  #createSink({ startDelivery }: Beside): TokenSink {
    const { tokenDirectory } = this.#options;
    if (tokenDirectory !== undefined) return createDirectorySink(tokenDirectory);
    return {
      test: async () => [],
      deliver: async ({ name }, token) => {
        await startDelivery?.();
        this.delivered.set(name, token);
        return `tokens/${name}.token`;
      },
    };
  }
}

/** Loads the desired state of a random stack. Throws if it is invalid. */
export function loadStack(stack: TestStack, layout?: Layout): DesiredState {
  const { state, diagnostics } = validateManifests(renderStack(stack, layout), { env: NO_ENVIRONMENT });
  if (state !== undefined) return state;
  const found = diagnostics.map(({ message, place }) => `${message}\n${JSON.stringify(place)}`);
  throw new Error(`A random stack is not valid:\n${found.join('\n')}`);
}

function expectNoErrors(plan: Plan): void {
  parsePlan(renderPlanJson(plan), 'A plan file of this');
  if (hasErrors(plan.diagnostics)) throw new Error(plan.diagnostics.map(({ message }) => message).join('\n'));
}

/** Lists a line for each resource that a plan changes. */
export function listTouched({ changes }: Plan): readonly string[] {
  return changes
    .filter(({ action }) => action !== 'no-op')
    .map((change) =>
      [
        change.action,
        formatChangeAddress(change),
        ...change.differences.map(({ path, from, to }) => JSON.stringify({ path, from, to })),
      ].join(' '),
    );
}
