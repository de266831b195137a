import { resolve } from 'node:path';
import { applyPlan } from '../apply/apply.ts';
import { createFileWriter } from '../apply/certificate-file.ts';
import { type JournalFile, openJournal } from '../apply/journal-file.ts';
import type { TokenSinks } from '../apply/token-sinks.ts';
import type { Client } from '../client/client.ts';
import { toReason } from '../model/errors.ts';
import type { ApplyEvent, ApplyResult } from '../model/outcome.ts';
import type { Plan } from '../model/plan.ts';
import type { TokenSettings } from '../model/stack.ts';
import type { PlanCheck } from '../plan/saved/check-plan.ts';
import { StackError } from './stack-error.ts';
import type { Surroundings } from './surroundings.ts';
import { chooseSinks, listOpenWrites } from './token-sinks.ts';

/** What an apply tells, and what stops it. */
export interface RunOptions {
  readonly onEvent?: (event: ApplyEvent) => void;
  /** Told of warnings: a place for tokens that others can read, a journal that lacks lines. */
  readonly onWarning?: (message: string) => void;
  /** Asked before the first write, when the places for tokens are known; anything but true declines. Default: nobody is asked. */
  readonly confirm?: (writes: number) => boolean | Promise<boolean>;
  /** Called right before the first write. */
  readonly onStart?: () => void;
  /** File that gets a line before and after each request. Default: what EDGEWISE_JOURNAL names. */
  readonly journal?: string | undefined;
  /** Ids of other stacks' resources that were not known when the plan was made, by the address of the External. */
  readonly ids?: ReadonlyMap<string, string>;
  /** Aborted: no new write starts; those under way finish, and the result lists what was skipped. */
  readonly signal?: AbortSignal;
  /** Waited for between the writes and the look for what a concurrent apply created: plans that are applied side by side share that look. */
  readonly untilOthersWrote?: () => Promise<void>;
}

/** A plan that may be applied, and what is known of it already. */
export interface RunPlan extends Omit<PlanCheck, 'moved'> {
  readonly plan: Plan;
  readonly tokens: TokenSettings;
  /** Instead of what `tokens` says. */
  readonly sinks?: TokenSinks | undefined;
}

/** What is known of a plan that was just made. */
export const NOTHING_KNOWN: Omit<PlanCheck, 'moved'> = { done: new Map(), ids: new Map(), texts: new Map() };

/** How an apply ends that has nothing to do. */
export const NOTHING_DONE: ApplyResult = {
  outcomes: [],
  tokens: [],
  files: [],
  diagnostics: [],
  lookUps: 0,
  interrupted: false,
};

/** Asks, tries the places for tokens, and applies a plan that no safety rule stands against. */
export async function runPlan(
  client: Client,
  { plan, tokens, sinks: own, done, ids, texts }: RunPlan,
  options: RunOptions,
  surroundings: Surroundings,
): Promise<ApplyResult> {
  const { onEvent = () => undefined, onWarning = () => undefined, signal = new AbortController().signal } = options;
  const open = listOpenWrites(plan, done);
  const { sinks, test } = chooseSinks(open, { tokens, own }, surroundings);
  if (open.length + plan.files.length > 0) await confirm(options, open.length);
  for (const warning of await test()) onWarning(warning);
  signal.throwIfAborted();
  const journal = open.length === 0 ? undefined : await startJournal(plan, options.journal, surroundings);
  options.onStart?.();
  try {
    const { now, sleep, cwd } = surroundings;
    const { untilOthersWrote } = options;
    const world = { now, sleep, writeFile: createFileWriter(cwd), journal: journal?.write, untilOthersWrote };
    return await applyPlan(plan, { client, sinks, onEvent, signal, done, ids, texts, ...world });
  } finally {
    const lost = await journal?.close();
    if (lost !== undefined) onWarning(`The journal lacks lines, which could not be written: ${lost}`);
  }
}

async function confirm({ confirm: ask }: RunOptions, writes: number): Promise<void> {
  if (ask === undefined || (await ask(writes)) === true) return;
  throw new StackError('Declined: nothing was written.', { reason: 'interrupted' });
}

/** A journal that cannot be written stops everything before the first write. */
async function startJournal(
  plan: Plan,
  given: string | undefined,
  { cwd, env, now }: Surroundings,
): Promise<JournalFile | undefined> {
  const file = given ?? env['EDGEWISE_JOURNAL'] ?? '';
  if (file === '') return undefined;
  try {
    return await openJournal(resolve(cwd, file), plan, now);
  } catch (cause) {
    const message = `The journal cannot be written: ${toReason(cause)}`;
    throw new StackError(message, { reason: 'failed', remedy: 'Nothing was written.', cause });
  }
}
