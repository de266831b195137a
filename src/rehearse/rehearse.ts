import { applyPlan } from '../apply/apply.ts';
import type { TokenSinks } from '../apply/token-sinks.ts';
import { isUnknown } from '../kinds/read-response.ts';
import { formatAddress, stripDuplicateId, toAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { ApplyResult } from '../model/outcome.ts';
import type { Plan } from '../model/plan.ts';
import type { LiveResource, LiveState } from '../model/state.ts';
import { formatWriteAddress, type Write } from '../model/write.ts';
import { createPlan } from '../plan/create-plan.ts';
import type { Decision } from '../plan/decide.ts';
import { type DecidedPlan, decidePlan } from '../plan/decide-plan.ts';
import type { PlanInput } from '../plan/plan-input.ts';
import { findTargetClosure } from '../plan/select-targets.ts';
import { createChange } from '../plan/to-change.ts';
import {
  canCauseGap,
  createUsers,
  GapTracker,
  listRehearsalFindings,
  listUnchecked,
  type RehearsedPlan,
  type Rejection,
  type TouchedResource,
  TouchedResources,
  withAddress,
} from './findings.ts';
import { createSimulatedAccount, type SimulatedAccount } from './simulated-account.ts';

/** How a plan is tried. */
interface RehearsalOptions {
  /** Leaves out what the service will reject and what depends on it, and tries the rest. */
  readonly skipRejected?: boolean;
}

/**
 * Tries a plan on a copy of the account, in memory, with the code that applies plans, and plans again. Sends nothing to the service. Gives the
 * plan with what came of it: writes that the service will reject break a safety rule, unless they are left out.
 */
export async function rehearsePlan(plan: Plan, input: PlanInput, options: RehearsalOptions = {}): Promise<Plan> {
  const { skipRejected = false } = options;
  const leaving = new RejectedChangeFilter(input);
  for (let tried = plan; ; ) {
    const { rehearsed, rejections } = await tryPlan(tried, input, { isLeftOut: leaving.isLeftOut });
    if (!skipRejected || rejections.length === 0)
      return { ...rehearsed, diagnostics: [...rehearsed.diagnostics, ...leaving.listDiagnostics()] };
    tried = leaving.leaveOut(tried, rejections);
  }
}

interface Trial {
  readonly isLeftOut: (address: string) => boolean;
}

async function tryPlan(
  plan: Plan,
  input: PlanInput,
  { isLeftOut }: Trial,
): Promise<{ readonly rehearsed: Plan; readonly rejections: readonly Rejection[] }> {
  if (plan.writes.length === 0) return { rehearsed: plan, rejections: [] };
  const { live, ...tried } = await tryOnTwin(plan, input);
  const again = { ...input, live, targets: [], rotate: [], diagnostics: [] };
  const after = decidePlan(narrow(again, listTouched(plan)));
  const remaining = after.decisions
    .filter(({ action, pair }) => action !== 'no-op' && !isLeftOut(pair.address))
    .map((decision) => createChange(decision, []));
  const { rejections, diagnostics } = listRehearsalFindings({
    ...{ plan, desired: input.desired, left: remaining, users: createUsers(input) },
    ...tried,
  });
  const { result } = tried;
  const unchecked = listUnchecked(plan, input.live);
  const rejected = result.outcomes.filter(({ outcome }) => outcome !== 'applied').length;
  const rehearsed = {
    ...plan,
    diagnostics: [...plan.diagnostics, ...diagnostics],
    violations: [...plan.violations, ...rejections.map(({ violation }) => violation)],
    rehearsal: {
      writes: plan.writes.length,
      rejected,
      remaining: remaining.length,
      tokens: result.tokens.length,
      ...(unchecked.length > 0 && { unchecked }),
    },
  };
  return { rehearsed, rejections };
}

/** The result of a plan on a copy, and the live state after it. */
interface Tried extends Pick<RehearsedPlan, 'result' | 'simulated' | 'interims'> {
  readonly live: LiveState;
}

/** Carries out a plan on a copy. Nothing of the copy is kept but what it refused. */
async function tryOnTwin(plan: Plan, { live, now }: PlanInput): Promise<Tried> {
  const places = new TouchedResources(plan, live);
  const watch = new GapTracker();
  const moving = new Set<string>(plan.writes.filter(canCauseGap).map(({ address }) => address));
  const isMoving = ({ address = '' }: TouchedResource): boolean => moving.has(address);
  for (const place of places.list())
    if (place.like !== undefined && isMoving(place)) watch.begin(place.key, withAddress(place, place.like));
  const simulated: SimulatedAccount = createSimulatedAccount({
    live,
    now: () => now,
    onWrite: async (write) => {
      const place = places.find(write);
      if (place === undefined) return;
      if (!watch.isWatching() || (place.like !== undefined && !isMoving(place))) return watch.pass();
      const found = await simulated.find(place);
      watch.observe(place.key, found && withAddress(place, found));
    },
  });
  const result = await applyToCopy(plan, simulated, now);
  const { refusals } = simulated;
  return {
    result,
    simulated: { refusals },
    interims: watch.list(),
    live: await readCopy(simulated, live, { places, written: listWritten(plan) }),
  };
}

/** The addresses that a plan changes: the others are the same in the copy and are not planned again. */
function listTouched({ changes }: Plan): readonly string[] {
  return changes.flatMap(({ action, address }) => (action === 'no-op' ? [] : [address]));
}

/** Without the resources of the stack that are neither touched nor needed for that: they are the same as before. */
function narrow(input: PlanInput, touched: readonly string[]): PlanInput {
  const { desired, live } = input;
  const addresses = findTargetClosure(desired, touched);
  if (addresses === undefined) return input;
  const isOther = ({ kind, mark }: LiveResource): boolean =>
    mark?.stack === desired.stack.name && !addresses.has(toAddress(kind, mark.name));
  return {
    ...input,
    desired: { ...desired, resources: new Map([...desired.resources].filter(([address]) => addresses.has(address))) },
    live: {
      ...live,
      resources: new Map([...live.resources].map(([kind, all]) => [kind, all.filter((one) => !isOther(one))])),
    },
  };
}

function applyToCopy(plan: Plan, { client }: SimulatedAccount, now: Date): Promise<ApplyResult> {
  return applyPlan(
    { ...plan, files: [] },
    {
      client,
      sinks: NOWHERE,
      now: () => now,
      sleep: async () => undefined,
      signal: new AbortController().signal,
      done: new Map(),
      ids: new Map(),
      texts: new Map(),
      onEvent: () => undefined,
      writeFile: async () => undefined,
    },
  );
}

/** Takes every token and keeps none. */
const SINK = { test: async () => [], deliver: async () => 'nowhere' };
const NOWHERE: TokenSinks = { find: () => SINK, rescue: SINK };

/** The fields that a plan writes of what exists, by address. */
function listWritten({ writes }: Plan): ReadonlyMap<string, ReadonlySet<string>> {
  const byAddress = Map.groupBy(writes, ({ address }) => address);
  return new Map([...byAddress].map(([address, all]) => [address, new Set(all.flatMap(listWrittenFields))]));
}

function listWrittenFields(write: Write): readonly string[] {
  if (write.type === 'set-module' || write.type === 'remove-module') return [write.module];
  return 'body' in write ? Object.keys(write.body) : [];
}

/** What the service does not show of a resource the copy cannot know, unless the plan writes it. */
function withoutUnknown(
  found: LiveResource,
  { kind, like }: TouchedResource,
  written: ReadonlySet<string>,
): LiveResource {
  const unknown = kind.specFields.filter(
    ([name, { type }]) => like !== undefined && !written.has(name) && isUnknown(type, like.spec[name]),
  );
  if (like === undefined || unknown.length === 0) return found;
  const names = new Set(unknown.map(([name]) => name));
  const known = Object.entries(found.spec).filter(([name]) => !names.has(name));
  const rest = Object.entries(like.spec).filter(([name]) => names.has(name));
  return { ...found, spec: Object.fromEntries([...known, ...rest]) };
}

/** What was read, with what the plan touched as it is in the copy now. */
async function readCopy(
  simulated: SimulatedAccount,
  live: LiveState,
  {
    places,
    written,
  }: { readonly places: TouchedResources; readonly written: ReadonlyMap<string, ReadonlySet<string>> },
): Promise<LiveState> {
  const touched: { readonly place: TouchedResource; readonly found: LiveResource | undefined }[] = [];
  for (const place of places.list()) {
    const found = await simulated.find(place);
    const names = written.get(place.address ?? '') ?? new Set();
    touched.push({ place, found: found && withoutUnknown(found, place, names) });
  }
  const ids = new Set(touched.map(({ place }) => place.id));
  const owned = touched.flatMap(({ place, found }) => (place.kind.role === 'owned' && found ? [found] : []));
  const attached = touched.flatMap(({ place, found }) =>
    place.like !== undefined && place.kind.role === 'attached' && found ? [[place.like, found] as const] : [],
  );
  const current = new Map<LiveResource, LiveResource>(attached);
  return {
    ...live,
    resources: new Map(
      [...live.resources].map(([kind, members]) => [
        kind,
        [...owned.filter((one) => one.kind === kind), ...members.filter(({ id }) => !ids.has(id))],
      ]),
    ),
    attachments: new Map([...live.attachments].map(([address, one]) => [address, current.get(one) ?? one])),
  };
}

/** Leaves out changes of a plan that the service will reject, and those that depend on them (`--skip-rejected`). */
export class RejectedChangeFilter {
  readonly #input: PlanInput;
  readonly #diagnostics = new Map<string, Diagnostic>();
  #decided: DecidedPlan | undefined;

  constructor(input: PlanInput) {
    this.#input = input;
  }

  /** Whether a change of that address is left out. */
  readonly isLeftOut = (address: string): boolean =>
    [...this.#diagnostics.keys()].some((shown) => stripDuplicateId(shown) === address);

  /** The diagnostics of the changes that are left out. */
  listDiagnostics(): readonly Diagnostic[] {
    return [...this.#diagnostics.values()];
  }

  /** The plan of everything else: a change is left out whole, and with everything that waits for one of its writes. */
  leaveOut({ writes }: Plan, rejections: readonly Rejection[]): Plan {
    for (const { write, why, help } of rejections)
      this.#note(write, `the service would reject the request to ${write.id}, because ${why}`, help);
    const addresses = new Map<string, string>(writes.map((write) => [write.id, formatWriteAddress(write)]));
    // Writes stand behind those that they wait for, except those of one change: until nothing is added.
    for (let before = -1; before < this.#diagnostics.size; ) {
      before = this.#diagnostics.size;
      for (const write of writes) {
        const needed = [...write.dependsOn.map((id) => addresses.get(id) ?? ''), ...toKept(write)];
        const cause = needed.find((address) => this.#diagnostics.has(address));
        if (cause !== undefined) this.#note(write, `it depends on ${cause}`, `See the finding about ${cause}.`);
      }
    }
    const decided = this.#decided ?? decidePlan(this.#input);
    this.#decided = decided;
    const decisions = decided.decisions.filter((decision) => !this.#diagnostics.has(toShown(decision)));
    return createPlan(this.#input, { ...decided, decisions });
  }

  #note(write: Write, why: string, help: string): void {
    const address = formatWriteAddress(write);
    if (this.#diagnostics.has(address)) return;
    this.#diagnostics.set(address, {
      code: 'write-left-out',
      severity: 'warning',
      message: `${address} is left out: ${why}.`,
      remedy: help,
      address,
    });
  }
}

/** A write to a duplicate depends on the resource that keeps the address: a plan that prunes the duplicate names it. */
function toKept(write: Write): readonly string[] {
  return 'duplicateOf' in write && write.duplicateOf !== undefined ? [write.address] : [];
}

function toShown({ pair: { address, duplicateOf, live } }: Decision): string {
  return formatAddress({ address, id: live?.id, ...(duplicateOf !== undefined && { duplicateOf }) });
}
