import type { Client } from '../client/client.ts';
import { sleepFor } from '../client/sleep.ts';
import type { Address } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { ApplyEvent, ApplyResult, Outcome } from '../model/outcome.ts';
import type { Plan } from '../model/plan.ts';
import type { Write, WriteId } from '../model/write.ts';
import { listKnownIds } from '../plan/known-ids.ts';
import type { WriteFile } from './certificate-file.ts';
import { Meanwhile } from './changed-meanwhile.ts';
import { Deliveries } from './deliveries.ts';
import type { Journal } from './journal.ts';
import { LookUps } from './look-ups.ts';
import { performWrite } from './perform-write.ts';
import { createRequests, type Requests } from './requests.ts';
import { runWrites } from './run-writes.ts';
import { type SettleContext, settleRivals } from './settle-rivals.ts';
import type { TokenSinks } from './token-sinks.ts';
import type { WriteContext } from './write-context.ts';
import { writePlannedFiles } from './write-files.ts';

/**
 * Carries out a plan. Each write starts as soon as its dependencies have succeeded; when one fails, writes that depend on it are skipped and the
 * others go on. It also lists a kind to find out whether a creation took effect, and whether a concurrent apply created the same resource; in
 * that case it deletes its own creation. Deliberately absent: comparing and deciding.
 */
export interface ApplyContext {
  readonly client: Pick<Client, 'send' | 'limit' | 'list'>;
  /** Where tokens go. Each credential that the plan creates has one. */
  readonly sinks: TokenSinks;
  readonly onEvent: (event: ApplyEvent) => void;
  /** The time at which a write is made: validities start there. */
  readonly now: () => Date;
  /** Resolves after a time, or as soon as the signal is aborted. Left out: by the clock of the system. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Aborted: no new write starts; those under way finish. */
  readonly signal: AbortSignal;
  /** Writes of the plan that an earlier apply already made, with the id of their resource. */
  readonly done: ReadonlyMap<WriteId, string | undefined>;
  /** Ids that are known already, by address. */
  readonly ids: ReadonlyMap<string, string>;
  /** Texts for files that are known already, by address. */
  readonly texts: ReadonlyMap<string, string>;
  readonly writeFile: WriteFile;
  /** Gets a line before and after each request. */
  readonly journal?: Journal | undefined;
  /** Waited for when all writes are over, before it is looked whether a concurrent apply created the same: several plans share that look. */
  readonly untilOthersWrote?: (() => Promise<void>) | undefined;
}

/** Applies a plan. Never rejects because of the service or the network: failures are in the result. */
export async function applyPlan(plan: Plan, context: ApplyContext): Promise<ApplyResult> {
  const { onEvent, signal, now } = context;
  const diagnostics: Diagnostic[] = [];
  const note = (diagnostic: Diagnostic): void => {
    diagnostics.push(diagnostic);
    onEvent({ event: 'diagnostic', diagnostic });
  };
  const requests = createRequests({ ...context, onStarted: (write) => onEvent({ event: 'write-started', write }) });
  const deliveries = new Deliveries({ ...context, known: listKnown(plan) });
  const settle = toSettleContext(plan, context, { requests, note });
  const write: WriteContext = {
    meanwhile: new Meanwhile(plan),
    requests,
    deliveries,
    settle,
    now,
    ids: new Map(context.ids),
    texts: new Map(context.texts),
    unrecorded: new Set(),
  };
  const ended = await run(plan, context, write);
  await context.untilOthersWrote?.();
  const outcomes = await settleRivals(ended, settle);
  const texts = toFileTexts(outcomes, write.texts, context);
  return {
    outcomes,
    tokens: deliveries.tokens,
    files: await writePlannedFiles(plan, { write: context.writeFile, texts, signal }),
    diagnostics,
    lookUps: settle.rivals.lookUps.count,
    interrupted: signal.aborted,
  };
}

/** The addresses of what is live, as the plan knows it. */
function listKnown({ changes }: Plan): ReadonlySet<Address> {
  return new Set(changes.flatMap(({ address, live }) => (live === undefined ? [] : [address])));
}

function toSettleContext(
  plan: Plan,
  { sleep = sleepFor, signal }: ApplyContext,
  { requests, note }: { readonly requests: Requests; readonly note: SettleContext['note'] },
): SettleContext {
  const rivals = {
    lookUps: new LookUps(requests.list),
    known: listKnownIds(plan),
    sleep: (ms: number) => sleep(ms, signal),
  };
  return { rivals, remove: requests.remove, note };
}

function run(
  { writes }: Plan,
  { client, done, onEvent }: ApplyContext,
  context: WriteContext,
): Promise<readonly Outcome[]> {
  return runWrites(writes, {
    find: (write) =>
      done.has(write.id) ? { outcome: 'applied', write, id: done.get(write.id), alreadyDone: true } : undefined,
    accepts: (write, needed) => needed.outcome === 'applied' || isMakeshift(write, needed, context),
    inTurn: client.limit.inTurn,
    perform: (write) => performWrite(write, context),
    onEnded: (result, ended) => onEvent({ event: 'write-ended', result, done: ended, total: writes.length }),
  });
}

/** An unrecorded delivery still counts: the credential that it replaces can be deleted. */
function isMakeshift({ act }: Write, needed: Outcome, { unrecorded }: WriteContext): boolean {
  return (act === 'delete' || act === 'deliver-again') && unrecorded.has(needed.write.id);
}

/** The texts of resources that still exist; without those that were created and then taken back. */
function toFileTexts(
  outcomes: readonly Outcome[],
  texts: ReadonlyMap<string, string>,
  context: ApplyContext,
): ReadonlyMap<string, string> {
  const made = new Set<string>(outcomes.flatMap((one) => (one.outcome === 'applied' ? [one.write.address] : [])));
  return new Map([...texts].filter(([address]) => made.has(address) || context.texts.has(address)));
}
