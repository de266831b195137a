import { type StartedApply, verifyDeletes } from '../apply/apply.ts';
import type { Client } from '../client/client.ts';
import { assertDefined } from '../model/errors.ts';
import { type Outcome, SERVICE_STOPS } from '../model/outcome.ts';
import { isIncomplete, type Plan } from '../model/plan.ts';
import { mayShareService, type StackFolder } from '../model/stack-tree.ts';
import { StackError } from '../model/user-errors.ts';
import { isDelete } from '../model/write.ts';
import type { Account } from '../stack/account.ts';
import type { ApplyRunOptions } from '../stack/stack.ts';
import { listDependencies, orderStacks } from './order-stacks.ts';
import { dividePlans, formatPruneCommand, isPrune, type Passes, type PassStep } from './passes.ts';
import { findRefusal, listReady, notePlan, planEachSession, type Run, type Session } from './session.ts';

/** What a user sees and says of an apply. */
export interface ApplyDialog {
  /** Asks the user, who was shown the plans. Rejects if the answer is no. Absent: nothing is asked. */
  readonly ask?: ((ready: readonly Session[]) => Promise<void>) | undefined;
  /** Called after a question if nothing is written, with the stacks that end in another way than was shown. */
  readonly onOtherEnd?: (others: readonly Session[]) => void;
  /** Called once, when it is known what is applied. What a user sees of it begins with `onStart`. */
  readonly createFollower: (ready: readonly Session[]) => ApplyFollower;
}

/** Follows the applies of a run. */
export interface ApplyFollower {
  readonly follow: (session: Session) => ApplyRunOptions;
  readonly end: () => void;
}

/**
 * Applies the plans of a run that nothing refuses, in this order: chooses the token sinks, and tries where tokens are
 * rescued; asks; after the answer, plans every stack that nothing refuses once more, and compares with what was shown;
 * writes. Nothing is written unless all of them are as shown. One stack and many, programs and the command line take this
 * way. The error of a stack that was named alone rejects; for one of many it is its result.
 */
export async function applyStacks(run: Run, { ask, onOtherEnd, createFollower }: ApplyDialog): Promise<void> {
  await prepare(run);
  const ready = listReady(run);
  if (ready.length === 0) return;
  if (ask !== undefined) {
    await ask(ready);
    const others = await planEachAgain(run);
    if (others.length > 0 || listReady(run).length === 0) {
      onOtherEnd?.(others);
      return;
    }
  }
  const { follow, end } = createFollower(listReady(run));
  await applyReady(run, follow).finally(end);
}

/** Rejects if a token of any stack could not be rescued. A stack that needs an unknown secret is not applied. */
async function prepare(run: Run): Promise<void> {
  for (const session of listReady(run)) {
    try {
      session.prepared = await session.opened?.stack.prepareApply(getPlan(session));
    } catch (error) {
      if (!run.isOfMany) throw error;
      session.error = error;
    }
  }
  for (const { prepared } of listReady(run)) await prepared?.testRescue();
}

/**
 * Plans every stack that nothing refuses once more, also one without writes: from the same manifests, and from what is live
 * now. What the other stacks would do stays noted. Returns the stacks that end in another way than was shown.
 */
async function planEachAgain(run: Run): Promise<readonly Session[]> {
  const shown = new Map(
    run.sessions.flatMap((session) =>
      session.plan === undefined || findRefusal(session, run) !== undefined ? [] : [[session, session.plan]],
    ),
  );
  for (const { opened } of shown.keys()) opened?.account.forget();
  await planEachSession({ ...run, sessions: [...shown.keys()] }, async (session) => {
    const { opened } = session;
    const plan = shown.get(session);
    if (opened === undefined || plan === undefined) return;
    session.comparison = await opened.stack.planAgain(plan);
    session.approvedBy = undefined;
    session.plan = session.comparison.after;
    notePlan(run, opened, session.plan);
  });
  return Array.from(shown).flatMap(([session, plan]) =>
    findRefusal(session, run) === undefined && leavesOut(getPlan(session)) === leavesOut(plan) ? [] : [session],
  );
}

/** Whether a plan does nothing, and not everything that the manifests say. */
function leavesOut(plan: Plan): boolean {
  return plan.writes.length === 0 && isIncomplete(plan);
}

function getPlan({ plan, folder }: Session): Plan {
  return assertDefined(plan, `a plan of ${folder.folder}`);
}

/** Applies what is ready: the stacks of an account one after another, accounts side by side. */
async function applyReady(run: Run, follow: (session: Session) => ApplyRunOptions): Promise<void> {
  const ready = listReady(run);
  const byFolder = new Map(run.sessions.map((session) => [session.folder, session]));
  const { ordered } = orderStacks([...byFolder.keys()]);
  const isDestroy = ready.some(({ plan }) => plan?.mode === 'destroy');
  const order = (isDestroy ? ordered.toReversed() : ordered).flatMap((folder) => byFolder.get(folder) ?? []);
  const refused = new Set(order.filter((session) => findRefusal(session, run) !== undefined));
  const toOptions = (session: Session): ApplyRunOptions => ({ ...follow(session), signal: run.signal });
  const accounts = Map.groupBy(ready, ({ opened }) => opened?.account);
  await Promise.all(
    Array.from(
      accounts,
      async ([account, own]) =>
        account && applyAccount(account, { order, own, refused, toOptions, signal: run.signal }),
    ),
  );
  const [only] = run.isOfMany ? [] : ready;
  if (only?.error !== undefined) throw only.error;
}

interface AccountToApply {
  /** All stacks of the run, in the order of their dependencies; in a `destroy`, users come first. */
  readonly order: readonly Session[];
  /** Those to apply. */
  readonly own: readonly Session[];
  /** Those that something refuses (`findRefusal`). */
  readonly refused: ReadonlySet<Session>;
  readonly toOptions: (session: Session) => ApplyRunOptions;
  readonly signal: AbortSignal;
}

/**
 * Applies the plans of the stacks of one account, one after another: first what waits for no other stack; then, as a last
 * pass, the deletes and late claims of all of them. A stack is not applied if one that it depends on failed. If a stack
 * failed, the others keep what they would prune. If the service does not keep marks, nothing more is sent to it.
 */
async function applyAccount(
  { write }: Account,
  { order, own, refused, toOptions, signal }: AccountToApply,
): Promise<void> {
  const stacks = order.filter((session) => own.includes(session));
  const plans = stacks.map(getPlan);
  const passes = plans.some(({ mode }) => mode === 'apply') ? dividePlans(plans) : divideNothing(plans);
  try {
    await write(async (client) => {
      const account: AccountInApply = {
        order,
        passes,
        signal,
        started: new Map(),
        failed: new Set(),
        outOfReach: [],
        unmanageable: [],
        ids: new Map(),
      };
      for (const session of order) {
        if (refused.has(session)) account.failed.add(session);
        if (stacks.includes(session)) await runFirstPass(account, session, { client, options: toOptions(session) });
      }
      for (const step of passes.last) await runStep(account, step);
      await verifyDeletes([...account.started.values()]);
      for (const [session, started] of account.started) endApply(session, started);
    });
  } catch (error) {
    // Such as a data file that cannot be locked. The other accounts go on.
    for (const session of stacks) session.error ??= error;
  }
}

/** In a destroy, everything is deleted in the order of the stacks. */
function divideNothing(plans: readonly Plan[]): Passes {
  return { first: new Map(plans.map((plan) => [plan, plan.writes])), last: [] };
}

interface AccountInApply {
  readonly order: readonly Session[];
  readonly passes: Passes;
  readonly signal: AbortSignal;
  readonly started: Map<Session, StartedApply>;
  readonly failed: Set<Session>;
  /** The stacks with a write that did not reach the service, although it was tried several times. */
  readonly outOfReach: Session[];
  /** The stacks whose new resources did not keep their mark. */
  readonly unmanageable: Session[];
  /** Ids of created resources, by stack and address. */
  readonly ids: Map<string, string>;
}

async function runFirstPass(
  account: AccountInApply,
  session: Session,
  { client, options }: { readonly client: Client; readonly options: ApplyRunOptions },
): Promise<void> {
  const { failed, passes } = account;
  const { folder, prepared } = session;
  const plan = getPlan(session);
  const late = passes.last.flatMap((step) => (step.plan === plan ? step.writes.map(({ id }) => id) : []));
  try {
    refuseAfterInterrupt(account);
    refuseOutOfReach(account);
    refuseUnmanageable(account);
    refuseAfterFailure(account, session);
    const ids = new Map([...(options.ids ?? []), ...findIds(plan, account)]);
    const more = { plan, ids, afterOthers: new Set(late) };
    const started = await assertDefined(prepared, `what applies ${folder.folder}`).start(client, {
      ...options,
      ...more,
    });
    account.started.set(session, started);
    const outcomes = await started.send(passes.first.get(plan) ?? []);
    noteIds(folder, outcomes, account);
    if (outcomes.some(isUnmanageable)) account.unmanageable.push(session);
    if (outcomes.some((one) => one.outcome === 'failed' && one.isUnsent === true)) account.outOfReach.push(session);
    if (!outcomes.every((one) => letsOthersContinue(one, plan))) failed.add(session);
  } catch (error) {
    failed.add(session);
    session.error = error;
  }
}

/** Throws after an interrupt, if a stack before this one was started. */
function refuseAfterInterrupt({ signal, started }: AccountInApply): void {
  if (!signal.aborted || started.size === 0) return;
  throw new StackError('Interrupted.', { reason: 'interrupted', remedy: 'No write of this stack was sent.' });
}

/** Throws if a stack before this one could not reach the service. The error is the same for all that follow. */
function refuseOutOfReach({ outOfReach: [first] }: AccountInApply): void {
  if (first === undefined) return;
  throw new StackError(
    `Not applied: the service could not be reached any more when ${first.folder.name} was applied.`,
    {
      reason: 'failed',
      remedy:
        'No write of this stack was sent. Once the service can be reached again, the same command applies the rest.',
    },
  );
}

/** Throws if the service does not keep the marks of what a stack before this one created. */
function refuseUnmanageable({ unmanageable: [first] }: AccountInApply): void {
  if (first === undefined) return;
  throw new StackError(`Not applied: the service cannot be managed, as the apply of ${first.folder.name} has found.`, {
    reason: 'failed',
    remedy: 'No write of this stack was sent.',
  });
}

function isUnmanageable(one: Outcome): boolean {
  return one.outcome === 'failed' && one.isUnmanageable === true;
}

/** Throws if a stack failed that this one depends on, or that depends on this one if both are destroyed. */
function refuseAfterFailure({ order, failed }: AccountInApply, { folder, plan }: Session): void {
  const all = order.map((one) => one.folder);
  const isBefore = (other: StackFolder): boolean =>
    plan?.mode === 'apply'
      ? listDependencies(folder, all).includes(other)
      : listDependencies(other, all).includes(folder);
  const names = order.flatMap((other) => (failed.has(other) && isBefore(other.folder) ? [other.folder.name] : []));
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

/** Sends a step of the last pass. Leaves out prunes if another stack of the service failed: it might take over their resources. */
async function runStep(
  { order, started: all, failed, unmanageable, signal }: AccountInApply,
  { plan, writes }: PassStep,
): Promise<void> {
  const own = order.find((session) => session.plan === plan);
  const started = own && all.get(own);
  if (own === undefined || started === undefined || own.error !== undefined) return;
  if (unmanageable.length > 0) {
    started.keep(writes, SERVICE_STOPS.unmanageable);
    failed.add(own);
    return;
  }
  // After an interrupt, nothing more is sent, and what was not started has not failed.
  const other = signal.aborted
    ? undefined
    : [...failed].find((one) => one !== own && mayShareService(one.folder, own.folder));
  const kept = other === undefined ? [] : writes.filter(isPrune(plan));
  if (other !== undefined) started.keep(kept, describeKeptPrunes(own.folder, other.folder));
  try {
    const outcomes = await started.send(writes.filter((write) => !kept.includes(write)));
    if (outcomes.some(isUnmanageable)) unmanageable.push(own);
    if (outcomes.some((one) => one.outcome !== 'skipped' && !letsOthersContinue(one, plan))) failed.add(own);
  } catch (error) {
    failed.add(own);
    own.error = error;
  }
}

/** Why a prune is kept, and the command that prunes now. */
function describeKeptPrunes(own: StackFolder, other: StackFolder): string {
  return `kept in this run: ${other.folder} failed, and might take it over. To delete it now: ${formatPruneCommand(own)}`;
}

function endApply(session: Session, started: StartedApply): void {
  try {
    if (session.error === undefined) session.result = started.end();
  } catch (error) {
    session.error = error;
  }
}

/** Finds the ids that cross-stack references of a plan need, by the address of the `External`. */
function findIds({ crossStackReferences = {} }: Plan, { ids }: AccountInApply): ReadonlyMap<string, string> {
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
