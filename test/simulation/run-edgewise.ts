import '../../src/kinds/ssh-key.ts'; // loaded by edgewise when it needs them, which takes real time
import '../../src/expressions/read-cel.ts';
import '../../src/cli/commands/apply.ts';
import '../../src/cli/commands/plan.ts';
import '../../src/cli/reconcile/question.ts';
import '../../src/cli/reconcile/run-stacks.ts';
import '../../src/rehearse/rehearse.ts';
import '../../src/report/machine/json.ts';
import '../../src/report/render-text.ts';
import { existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CREDENTIAL } from '../../src/kinds/tables/credential.ts';
import type { ServerFaults } from '../../src/model/server-faults.ts';
import type { Transport } from '../../src/model/transport.ts';
import { type Server, withFaults } from '../../src/server/index.ts';
import { type CommandResult, runCommand } from '../cli/fake-context.ts';
import { hasUndetectableFault } from './faults.ts';
import { changeAsOtherUser, deleteMarkedResource } from './other-user.ts';
import type { SeededRandom } from './random.ts';
import type { ObservedRun, Owns } from './request-checker.ts';
import { withBehaviours } from './service-behaviours.ts';
import { API_KEY, type World } from './world.ts';

/** Disruptions of a run, by the number of its request, from 1. */
export interface Disruptions {
  readonly faults: ServerFaults;
  /** The process is killed, before or after the request takes effect. */
  readonly death?: { readonly request: number; readonly when: 'before' | 'after' };
  /** The user presses Ctrl-C, once or twice. */
  readonly interrupt?: { readonly request: number; readonly isTwice: boolean };
  /** The token folder is missing from this request on. */
  readonly lostSink?: { readonly request: number; readonly isRescueLost: boolean };
  /** Another user changes something. */
  readonly otherUserRequests: ReadonlySet<number>;
  /** How often another user deletes the resource at which a list is about to continue. */
  readonly lostCursors?: number;
  /** The service shows every field. */
  readonly showsEverything?: boolean;
}

export const KIND_FATE: Disruptions = { faults: { rules: [] }, otherUserRequests: new Set() };

/** One command. */
export interface Run extends ObservedRun {
  /** Resolves when the command ends, and never if its process is killed. */
  readonly result: Promise<CommandResult>;
  readonly isDead: () => boolean;
  /** Whether it has ended or was killed. */
  readonly isOver: () => boolean;
  /** Whether every response arrives unchanged. */
  readonly isUndisturbed: boolean;
  /** The times of its requests. */
  readonly sentMs: readonly number[];
  /** Its rate limit, such as `20/10s`. */
  readonly rateLimit: string;
}

interface RunOptions {
  readonly rateLimit: string;
  readonly name: string;
  readonly argv: readonly string[];
  readonly stdin: string;
  readonly owns?: Owns;
  readonly disruptions: Disruptions;
  readonly chance: SeededRandom;
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a command. It continues when time passes. */
export function startRun(world: World, options: RunOptions): Run {
  const { name, argv, stdin, owns, disruptions, chance, env } = options;
  let shown = '';
  let isDead = false;
  let endMs: number | undefined;
  let interrupt = (): void => undefined;
  const die = (): void => {
    isDead = true;
    endMs = world.time.nowMs();
  };
  const observed: ObservedRun = {
    name,
    startMs: world.time.nowMs(),
    endMs: () => endMs,
    shown: () => shown,
    hasUndetectableFaults: hasUndetectableFault(disruptions.faults),
    created: new Set(),
    ...(owns !== undefined && { owns }),
  };
  const sentMs: number[] = [];
  const process: Process = {
    observed,
    chance,
    sentMs,
    disruptions,
    die,
    isDead: () => isDead,
    interrupt: () => interrupt(),
  };
  world.runs.push(observed);
  world.log(`${name}: edgewise ${argv.join(' ')} ${describeFault(disruptions)}`);
  const result = runCommand(argv, {
    cwd: world.folder,
    stdin,
    env: { EDGEWISE_API_KEY: API_KEY, TMPDIR: join(world.folder, 'rescue'), ...env },
    transport: world.mutant(createTransport(world, process)),
    now: () => new Date(world.time.nowMs()),
    sleep: (ms, signal) => (isDead ? NEVER : world.time.sleep(ms, signal)),
    random: world.jitter,
    onListen: (listener) => {
      interrupt = listener;
    },
    onExit: die,
    onWrite: (text) => {
      shown += text;
    },
  });
  let isSettled = false;
  const settle = (): void => {
    isSettled = true;
    endMs = world.time.nowMs();
  };
  result.then(settle, settle);
  return {
    ...observed,
    result,
    isDead: () => isDead,
    isOver: () => isDead || isSettled,
    isUndisturbed: disruptions.faults.rules.length === 0 && disruptions.interrupt === undefined,
    sentMs,
    rateLimit: options.rateLimit,
  };
}

/** Lets time pass until every run has ended or was killed, and restores the token folder. */
export async function finishRuns(world: World, runs: readonly Run[]): Promise<void> {
  await world.time.runUntil(() => runs.every(({ isOver }) => isOver()));
  restoreSink(world);
}

const NEVER = new Promise<never>(() => undefined);

interface Process {
  readonly observed: ObservedRun;
  readonly chance: SeededRandom;
  readonly sentMs: number[];
  readonly disruptions: Disruptions;
  readonly die: () => void;
  readonly isDead: () => boolean;
  readonly interrupt: () => void;
}

/** The transport of a process, which applies its disruptions. A sent request arrives even if the process is killed. */
function createTransport(world: World, process: Process): Transport {
  const { observed, disruptions, chance, sentMs } = process;
  const watched = world.checker.watch(observed);
  const onFault = ({ fault }: { readonly fault: string }): void => world.log(`${observed.name}:   fault: ${fault}`);
  const usual = disruptions.showsEverything
    ? watched
    : withBehaviours(watched, world.behaviours, world.seed + world.runs.length);
  const server = withFaults(usual, disruptions.faults, { sleep: world.time.sleep, now: world.time.nowMs, onFault });
  let count = 0;
  let cursorsLeft = disruptions.lostCursors ?? 0;
  const loseCursor = async (cursor: string | null): Promise<void> => {
    if (cursor === null || cursorsLeft === 0) return;
    cursorsLeft -= 1;
    world.log(await deleteMarkedResource(world.shared, cursor));
  };
  return (request) => {
    if (process.isDead()) return NEVER;
    count += 1;
    const number = count;
    const { pathname, search, searchParams } = new URL(request.url);
    const what = `${observed.name}: #${number} ${request.method} ${pathname}${search}`;
    sentMs.push(world.time.nowMs());
    if (disruptions.interrupt?.request === number) interruptRun(world, process);
    if (disruptions.death?.request === number && disruptions.death.when === 'before') killProcess(world, process);
    if (process.isDead()) return NEVER;
    return new Promise((resolve, reject) => {
      const answer = (settle: () => void, outcome: string): void => {
        world.time.at(chance.int(1, 40), () => {
          world.log(`${what} -> ${outcome}`);
          if (disruptions.death?.request === number) killProcess(world, process);
          if (!process.isDead()) settle();
        });
      };
      request.signal.addEventListener('abort', () => reject(request.signal.reason));
      world.time.at(chance.int(1, 40), () => {
        applyDisruptions(world, process, number)
          .then(() => loseCursor(searchParams.get('before_id')))
          .then(() => handleWatched(world, server, request))
          .then(
            (response) => answer(() => resolve(response), String(response.status)),
            (error: unknown) => answer(() => reject(error), String(error)),
          );
      });
    });
  };
}

/** Notes what the service granted, as the run sees it. */
async function handleWatched({ checker }: World, server: Server, request: Request): Promise<Response> {
  if (request.method !== 'POST' || !request.url.endsWith(CREDENTIAL.path)) return server.handle(request);
  const sent = await request.clone().text();
  const response = await server.handle(request);
  if (response.ok) checker.noteGrant(sent, await response.clone().text());
  return response;
}

/** Applies the disruptions of a request when it arrives, before it takes effect. */
async function applyDisruptions(world: World, { disruptions, chance }: Process, number: number): Promise<void> {
  if (disruptions.lostSink?.request === number) blockTokenFolder(world, disruptions.lostSink.isRescueLost);
  if (!disruptions.otherUserRequests.has(number)) return;
  world.log(
    await changeAsOtherUser({ service: world.shared, stacks: world.stacks, chance: chance.fork(`meddle ${number}`) }),
  );
}

function killProcess(world: World, { observed, die }: Process): void {
  world.log(`${observed.name}: dies`);
  die();
}

function interruptRun(world: World, { observed, disruptions, interrupt }: Process): void {
  world.log(`${observed.name}: is interrupted${disruptions.interrupt?.isTwice ? ' twice' : ''}`);
  interrupt();
  if (disruptions.interrupt?.isTwice) interrupt();
}

/** Replaces the token folder with a file, so that nothing can be written into it. */
function blockTokenFolder({ folder, log }: World, isRescueLost: boolean): void {
  log(`the token folder is missing${isRescueLost ? ', and so is the place to rescue them' : ''}`);
  for (const name of isRescueLost ? ['tokens', 'rescue'] : ['tokens']) {
    const path = join(folder, name);
    // Another run may have replaced it before.
    if (existsSync(path) && statSync(path).isDirectory()) renameSync(path, `${path}.kept`);
    writeFileSync(path, '');
  }
}

function restoreSink({ folder }: World): void {
  for (const name of ['tokens', 'rescue']) {
    const path = join(folder, name);
    if (existsSync(path) && !statSync(path).isDirectory()) {
      rmSync(path);
      if (existsSync(`${path}.kept`)) renameSync(`${path}.kept`, path);
      else mkdirSync(path);
    }
  }
}

function describeFault({ faults, death, interrupt, lostSink, otherUserRequests, lostCursors }: Disruptions): string {
  const parts = [
    ...faults.rules.map((rule) => JSON.stringify(rule)),
    ...(death === undefined ? [] : [`dies ${death.when} #${death.request}`]),
    ...(interrupt === undefined ? [] : [`is interrupted at #${interrupt.request}`]),
    ...(lostSink === undefined ? [] : [`loses its sink at #${lostSink.request}`]),
    ...(otherUserRequests.size === 0 ? [] : [`other users act at #${[...otherUserRequests].join(', #')}`]),
    ...(lostCursors === undefined ? [] : [`other users delete where ${lostCursors} lists continue`]),
  ];
  return parts.length === 0 ? '' : `[${parts.join('; ')}]`;
}
