import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toAddress } from '../../src/model/address.ts';
import type { Json, JsonObject } from '../../src/model/json.ts';
import type { Transport } from '../../src/model/transport.ts';
import { createServer, parseApiKey, type Server } from '../../src/server/index.ts';
import { sendByHand } from '../by-hand.ts';
import { BASE_URL } from '../cli/fake-context.ts';
import { listKnownIds } from '../laws/known-ids.ts';
import type { SharedService } from '../laws/other-user.ts';
import { renderStack } from '../laws/render-stack.ts';
import { toExternalId } from '../laws/settle-stack.ts';
import type { TestStack } from '../laws/stack.ts';
import { closeOpenFiles } from './file-work.ts';
import type { FailedApply } from './predicted-failures.ts';
import { createRandom, type SeededRandom } from './random.ts';
import { type ObservedRun, RequestChecker, toTarget } from './request-checker.ts';
import { chooseBehaviours, type ServiceBehaviours } from './service-behaviours.ts';
import { createVirtualTime, type VirtualTime } from './virtual-time.ts';

export const API_KEY = 'simulated-key-7f3a';

/** A mistake in edgewise, to prove that it is noticed: a transport between a run and the service. */
export type Mutant = (inner: Transport) => Transport;

/** The state of a walk. */
export interface World {
  readonly seed: number;
  readonly chance: SeededRandom;
  /** The random numbers of every run. */
  readonly jitter: () => number;
  readonly time: VirtualTime;
  readonly server: Server;
  readonly checker: RequestChecker;
  /** The same service for other users. */
  readonly shared: SharedService;
  readonly stacks: readonly TestStack[];
  /** The folder of the runs, with `tokens` in it. */
  readonly folder: string;
  readonly trace: string[];
  readonly log: (line: string) => void;
  readonly mutant: Mutant;
  /** The behaviours of the service. */
  readonly behaviours: ServiceBehaviours;
  /** Every started run, the oldest first. */
  readonly runs: ObservedRun[];
  /** Every apply that failed after a rehearsal. */
  readonly failures: FailedApply[];
  readonly close: () => Promise<void>;
}

interface WorldOptions {
  readonly seed: number;
  readonly stacks: readonly TestStack[];
  readonly mutant: Mutant;
}

const START_MS = Date.UTC(2026, 2, 1);

export function createWorld({ seed, stacks, mutant }: WorldOptions): World {
  const chance = createRandom(`walk ${seed}`);
  const time = createVirtualTime(START_MS, chance.fork('time'));
  const server = createServer({
    now: () => new Date(time.nowMs()),
    idSeed: seed,
    apiKeys: [parseApiKey(`${API_KEY}:admin`)],
    seed: { externals: listKnownIds() },
  });
  const targets = new Set(stacks.flatMap(listAttachedTargets));
  const checker = new RequestChecker({ server, nowMs: time.nowMs, isAttached: (target) => targets.has(target) });
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-simulation-'));
  mkdirSync(join(folder, 'rescue'));
  const trace: string[] = [];
  const log = (line: string): void => {
    trace.push(`${((time.nowMs() - START_MS) / 1000).toFixed(3).padStart(9)} s  ${line}`);
  };
  const shared: SharedService = {
    resources: () => server.snapshot().resources,
    call: (method, path, body) => sendAsOtherUser(checker, { method, path, body }),
  };
  const close = async (): Promise<void> => {
    await closeOpenFiles();
    rmSync(folder, { recursive: true });
  };
  return {
    seed,
    chance,
    jitter: chance.fork('jitter').next,
    time,
    server,
    checker,
    shared,
    stacks,
    folder,
    trace,
    log,
    mutant,
    behaviours: chooseBehaviours(chance.fork('habits')),
    runs: [],
    failures: [],
    close,
  };
}

async function sendAsOtherUser(
  checker: RequestChecker,
  { method, path, body }: { readonly method: string; readonly path: string; readonly body: JsonObject | undefined },
): Promise<JsonObject> {
  const server = { handle: (request: Request) => checker.sendAsOtherUser(request) };
  return sendByHand({ server, key: API_KEY, baseUrl: BASE_URL }, method, path, body);
}

/** The targets of a stack's modules. */
function listAttachedTargets(stack: TestStack): readonly string[] {
  const ids = new Map<string, Json | undefined>(
    stack.map(({ kind, name, spec }) => [toAddress(kind, name), spec['id']]),
  );
  const resolve = (value: Json | undefined): string => toExternalId(String(ids.get(String(value)) ?? value ?? ''));
  return stack.map(({ spec }) => toTarget({ edge_id: resolve(spec['edge_id']), id: resolve(spec['id']) }));
}

/** The concurrency and the page size, as in a Stack. */
export function chooseApi(chance: SeededRandom): JsonObject {
  return { concurrency: chance.pick([1, 2, 4, 8]), page_size: chance.pick([1, 2, 5, 100]) };
}

/** The manifests of a stack as one text. */
export function toManifestText(stack: TestStack, api: JsonObject): string {
  return renderStack(stack, undefined, { api })
    .map(({ bytes }) => Buffer.from(bytes).toString())
    .join('---\n');
}
