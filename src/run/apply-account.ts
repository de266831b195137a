import { confirmDeletes, type StartedApply } from '../apply/apply.ts';
import { type ApplyResult, type Outcome, SERVICE_STOPS } from '../model/outcome.ts';
import type { Plan } from '../model/plan.ts';
import { escapePath, quoteForShell } from '../model/shell-words.ts';
import type { StackFolder } from '../model/stack-tree.ts';
import { StackError } from '../model/user-errors.ts';
import { isDelete } from '../model/write.ts';

import type { Account } from '../stack/account.ts';
import type { ApplyRunOptions } from '../stack/run-plan.ts';
import type { ApplyOptions, PreparedApply } from '../stack/stack.ts';
import { listDependencies } from './order-stacks.ts';
import { dividePlans, isPrune, type Passes, type PassStep } from './passes.ts';

/** A stack of a run, when the plans of its account are applied. */
export interface StackInApply {
  readonly folder: StackFolder;
  /** The plan to apply. Absent: the stack has nothing to do, or is blocked. */
  readonly ready?: ReadyPlan | undefined;
  /** Whether the stack was blocked, or could not be read or planned. */
  readonly isBlocked: boolean;
}

export interface ReadyPlan {
  readonly plan: Plan;
  readonly prepared: PreparedApply;
  readonly options: ApplyOptions;
}

/** How the apply of a stack ended. */
export type StackEnd = { readonly result: ApplyResult } | { readonly error: unknown };

/**
 * Applies the plans of the stacks of one account, one after another: first what waits for no other stack, in the order of
 * `stacks`; then, as a last pass, the deletes and late claims of all of them. `stacks` are in the order of their
 * dependencies; in a `destroy`, users come first. A stack is not applied if one that it depends on failed. If a stack
 * failed, the others keep what they would prune. If the service does not keep marks, nothing more is sent to it.
 */
export async function applyAccount(
  write: Account['write'],
  stacks: readonly StackInApply[],
): Promise<ReadonlyMap<StackFolder, StackEnd>> {
  const plans = stacks.flatMap(({ ready }) => (ready === undefined ? [] : [ready.plan]));
  const passes = plans.some(({ mode }) => mode === 'apply') ? dividePlans(plans) : divideNothing(plans);
  return write(async (client) => {
    const account: AccountInApply = {
      stacks,
      passes,
      opened: new Map(),
      failed: new Set(),
      outOfReach: [],
      unmanageable: [],
      ids: new Map(),
      ends: new Map(),
    };
    for (const stack of stacks) await runFirstPass(account, stack, client);
    for (const step of passes.last) await runStep(account, step);
    await confirmDeletes([...account.opened.values()]);
    for (const stack of stacks) await endStack(account, stack);
    return account.ends;
  });
}

/** In a destroy, everything is deleted in the order of the stacks. */
function divideNothing(plans: readonly Plan[]): Passes {
  return { first: new Map(plans.map((plan) => [plan, plan.writes])), last: [] };
}

interface AccountInApply {
  readonly stacks: readonly StackInApply[];
  readonly passes: Passes;
  readonly opened: Map<Plan, StartedApply>;
  readonly failed: Set<StackFolder>;
  /** The stacks with a write that did not reach the service, although it was tried several times. */
  readonly outOfReach: StackFolder[];
  /** The stacks whose new resources did not keep their mark. */
  readonly unmanageable: StackFolder[];
  /** Ids of created resources, by stack and address. */
  readonly ids: Map<string, string>;
  readonly ends: Map<StackFolder, StackEnd>;
}

async function runFirstPass(
  account: AccountInApply,
  { folder, ready, isBlocked }: StackInApply,
  client: Parameters<PreparedApply['start']>[0],
): Promise<void> {
  const { failed, passes, opened, ends } = account;
  if (isBlocked) failed.add(folder);
  if (ready === undefined) return;
  const { plan, prepared, options } = ready;
  const late = passes.last.flatMap((step) => (step.plan === plan ? step.writes.map(({ id }) => id) : []));
  try {
    refuseOutOfReach(account);
    refuseUnmanageable(account);
    refuseAfterFailure(account, { folder, mode: plan.mode });
    const ids = findIds(plan, account);
    const started = await prepared.start(client, { ...options, plan, ids, afterOthers: new Set(late) });
    opened.set(plan, started);
    const outcomes = await started.send(passes.first.get(plan) ?? []);
    noteIds(folder, outcomes, account);
    if (outcomes.some(isUnmanageable)) account.unmanageable.push(folder);
    if (outcomes.some((one) => one.outcome === 'failed' && one.isUnsent === true)) account.outOfReach.push(folder);
    if (!outcomes.every((one) => letsOthersContinue(one, plan))) failed.add(folder);
  } catch (error) {
    failed.add(folder);
    ends.set(folder, { error });
  }
}

/** Throws if a stack before this one could not reach the service. The error is the same for all that follow. */
function refuseOutOfReach({ outOfReach: [first] }: AccountInApply): void {
  if (first === undefined) return;
  throw new StackError(`Not applied: the service could not be reached any more when ${first.name} was applied.`, {
    reason: 'failed',
    remedy:
      'No write of this stack was sent. Once the service can be reached again, the same command applies the rest.',
  });
}

/** Throws if the service does not keep the marks of what a stack before this one created. */
function refuseUnmanageable({ unmanageable: [first] }: AccountInApply): void {
  if (first === undefined) return;
  throw new StackError(`Not applied: the service cannot be managed, as the apply of ${first.name} has found.`, {
    reason: 'failed',
    remedy: 'No write of this stack was sent.',
  });
}

function isUnmanageable(one: Outcome): boolean {
  return one.outcome === 'failed' && one.isUnmanageable === true;
}

/** Throws if a stack failed that this one depends on, or that depends on this one if both are destroyed. */
function refuseAfterFailure(
  { stacks, failed }: AccountInApply,
  { folder, mode }: { readonly folder: StackFolder; readonly mode: Plan['mode'] },
): void {
  const all = stacks.map((one) => one.folder);
  const before =
    mode === 'apply'
      ? listDependencies(folder, all)
      : all.filter((other) => listDependencies(other, all).includes(folder));
  const names = before.filter((other) => failed.has(other)).map(({ name }) => name);
  if (names.length === 0) return;
  throw new StackError(`Not applied: it depends on ${names.join(', ')}, which did not succeed.`, {
    reason: 'failed',
    remedy: 'No write of this stack was sent. Run the command again after the other stack is applied.',
  });
}

/**
 * Whether stacks that depend on this one can be applied. In an apply, a failed delete does not stop them: the service may
 * reject the delete because of a reference that only such a stack removes.
 */
function letsOthersContinue({ outcome, write }: Outcome, { mode }: Plan): boolean {
  return outcome === 'applied' || (mode === 'apply' && isDelete(write));
}

/** Sends a step of the last pass. Leaves out prunes if another stack failed, which might take over their resources. */
async function runStep(account: AccountInApply, { plan, writes }: PassStep): Promise<void> {
  const { stacks, opened, failed, ends, unmanageable } = account;
  const started = opened.get(plan);
  const own = stacks.find(({ ready }) => ready?.plan === plan)?.folder;
  if (started === undefined || own === undefined || ends.has(own)) return;
  if (unmanageable.length > 0) {
    started.keep(writes, SERVICE_STOPS.unmanageable);
    failed.add(own);
    return;
  }
  const other = [...failed].find((folder) => folder !== own);
  const kept = other === undefined ? [] : writes.filter(isPrune(plan));
  if (other !== undefined) started.keep(kept, describeKeptPrunes(own, other));
  try {
    const outcomes = await started.send(writes.filter((write) => !kept.includes(write)));
    if (outcomes.some(isUnmanageable)) unmanageable.push(own);
    if (outcomes.some((one) => one.outcome !== 'skipped' && !letsOthersContinue(one, plan))) failed.add(own);
  } catch (error) {
    failed.add(own);
    ends.set(own, { error });
  }
}

/** Why a prune is kept, and the command that prunes now. */
function describeKeptPrunes(own: StackFolder, other: StackFolder): string {
  return `kept in this run: ${other.folder} failed, and might take it over. To delete it now: ${formatPruneCommand(own)}`;
}

/** The command that applies a stack alone. */
export function formatPruneCommand({ folder }: StackFolder): string {
  return `edgewise apply ${quoteForShell(escapePath(folder))}`;
}

async function endStack({ opened, ends }: AccountInApply, { folder, ready }: StackInApply): Promise<void> {
  const started = ready && opened.get(ready.plan);
  if (started === undefined) return;
  try {
    if (!ends.has(folder)) ends.set(folder, { result: await started.end() });
  } catch (error) {
    ends.set(folder, { error });
  }
}

/** Finds the ids that cross-stack references of a plan need, by the address of the `External`. */
function findIds({ crossStackReferences = {} }: Plan, { ids }: AccountInApply): ApplyRunOptions['ids'] & {} {
  return new Map(
    Object.entries(crossStackReferences).flatMap(([address, { stack, resource }]) => {
      const id = ids.get(`${stack} ${resource}`);
      return id === undefined ? [] : [[address, id] as const];
    }),
  );
}

function noteIds({ name }: StackFolder, outcomes: readonly Outcome[], { ids }: AccountInApply): void {
  for (const one of outcomes)
    if (one.outcome === 'applied' && one.write.purpose === 'create' && one.id !== undefined)
      ids.set(`${name} ${one.write.address}`, one.id);
}
