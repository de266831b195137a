import { applyPlan } from '../apply/apply.ts';
import type { TokenSinks } from '../apply/token-sinks.ts';
import { isValueHidden } from '../kinds/evidence.ts';
import { stripDuplicateId, toAddress } from '../model/address.ts';
import { sendsNothing } from '../model/change.ts';
import { listAddressesInCondition } from '../model/conditions.ts';
import type { ApplyResult } from '../model/outcome.ts';
import { isOwnedBy } from '../model/ownership.ts';
import type { Plan, SafetyViolation } from '../model/plan.ts';
import type { LiveResource, LiveState } from '../model/state.ts';
import { getSentFields, type Write } from '../model/write.ts';
import { createChange } from '../plan/create-change.ts';
import { decideChanges } from '../plan/decide-plan.ts';
import type { PlanInput } from '../plan/plan-input.ts';
import { findTargetClosure } from '../plan/select-targets.ts';
import {
  addGapDangers,
  canWriteAffectAnyGap,
  collectRehearsalFindings,
  createAddressedResource,
  createReferrerQueries,
  type Gap,
  GapTracker,
  listUnverifiedReferenceIds,
  type RehearsedPlan,
  type TouchedResource,
  TouchedResources,
} from './findings.ts';
import { createSimulatedAccount, type SimulatedAccount } from './simulated-account.ts';

/**
 * Applies a plan to a copy of the account in memory, with the code of a real apply, and then plans again. Sends nothing
 * to the service. Returns the plan with the findings. A write that the service will reject is a violation.
 */
export async function rehearsePlan(plan: Plan, input: PlanInput): Promise<Plan> {
  if (plan.writes.length === 0) return plan;
  const { live, gaps, ...tried } = await applyAndRead(plan, input);
  const again = { ...input, live, rotate: [] };
  const leftOut = new Set([...listAddressesInCondition(plan, 'left-out')].map(stripDuplicateId));
  const remaining = decideChanges(narrowInput(again, listTouched(plan)))
    .decisions.filter(({ action, pair }) => !sendsNothing(action) && !leftOut.has(pair.address))
    .map((decision) => createChange(decision));
  const { violations, diagnostics } = collectRehearsalFindings({
    ...{ plan, desired: input.desired, left: remaining, referrers: createReferrerQueries(input) },
    ...tried,
  });
  const { result } = tried;
  const unchecked = listUnverifiedReferenceIds(plan, input.live);
  const awaiting = countAwaiting(plan, result);
  const rejected = result.outcomes.filter(({ outcome }) => outcome !== 'applied').length - awaiting;
  return {
    ...plan,
    changes: addGapDangers(plan, gaps),
    diagnostics: [...plan.diagnostics, ...diagnostics],
    violations: [...plan.violations, ...violations.filter((one) => !isKnownViolation(plan, one))],
    rehearsal: {
      writes: plan.writes.length,
      rejected,
      ...(awaiting > 0 && { awaiting }),
      remaining: remaining.length,
      tokens: result.tokens.length,
      ...(unchecked.length > 0 && { unchecked }),
    },
  };
}

/** Counts the writes that fail on the copy because another stack of the run frees a value first, and what depends on them. */
function countAwaiting(plan: Plan, { outcomes }: ApplyResult): number {
  const late = listAddressesInCondition(plan, 'awaiting');
  const found = new Set<string>();
  for (const one of outcomes) {
    const isLate = one.outcome !== 'applied' && late.has(one.write.address);
    if (isLate || (one.outcome === 'skipped' && one.waitedFor.some((id) => found.has(id)))) found.add(one.write.id);
  }
  return found.size;
}

/** Whether the plan has a violation for the same write already: its claim of a unique value is known to be rejected. */
function isKnownViolation({ violations }: Plan, { addresses }: SafetyViolation): boolean {
  return violations.some((one) => one.rule === 'claimed-elsewhere' && one.addresses.join() === addresses.join());
}

/** The result of applying a plan to the copy, and the live state after it. */
interface TrialResult extends Pick<RehearsedPlan, 'result' | 'simulated'> {
  readonly gaps: readonly Gap[];
  readonly live: LiveState;
}

/**
 * Applies a plan to a new copy of the account. The result contains the rejections of the copy, but not the copy itself.
 */
async function applyAndRead(plan: Plan, { live, now }: PlanInput): Promise<TrialResult> {
  const places = new TouchedResources(plan, live);
  const watch = new GapTracker();
  const gapAddresses = new Set<string>(plan.writes.filter(canWriteAffectAnyGap).map(({ address }) => address));
  const canHaveGap = ({ address = '' }: TouchedResource): boolean => gapAddresses.has(address);
  for (const place of places.list())
    if (place.like !== undefined && canHaveGap(place))
      watch.begin(place.key, createAddressedResource(place, place.like));
  const simulated: SimulatedAccount = createSimulatedAccount({
    live,
    now: () => now,
    onWrite: async (write) => {
      const place = places.find(write);
      if (place === undefined) return;
      if (!watch.isWatching() || (place.like !== undefined && !canHaveGap(place))) return watch.pass();
      const found = await simulated.find(place);
      watch.observe(place.key, found && createAddressedResource(place, found));
    },
  });
  const result = await applyToCopy(plan, simulated, now);
  const { refusals } = simulated;
  return {
    result,
    simulated: { refusals },
    gaps: watch.list(),
    live: await readCopy(simulated, live, { places, writes: plan.writes }),
  };
}

/** The addresses that a plan changes. Only these are planned again, because all others are unchanged in the copy. */
function listTouched({ changes }: Plan): readonly string[] {
  return changes.flatMap(({ action, address }) => (sendsNothing(action) ? [] : [address]));
}

/** Removes the stack's resources that are neither `touched` nor referred to by touched ones: they did not change. */
function narrowInput(input: PlanInput, touched: readonly string[]): PlanInput {
  const { desired, live } = input;
  const addresses = findTargetClosure(desired, touched);
  if (addresses === undefined) return input;
  const isOther = (one: LiveResource): boolean =>
    isOwnedBy(one, desired.stack.name) && !addresses.has(toAddress(one.kind, one.mark?.name ?? ''));
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
  // Without `readModule`: the copy deletes what it says it deletes.
  const { send, limit, list, shown } = client;
  return applyPlan(plan, {
    client: { send, limit, list, shown },
    sinks: NO_SINKS,
    now: () => now,
    sleep: async () => undefined,
    conflictMs: 0,
    signal: new AbortController().signal,
    ids: new Map(),
    onEvent: () => undefined,
  });
}

/** A token sink that accepts every token and stores none. */
const SINK = { test: async () => [], deliver: async () => 'nowhere' };
const NO_SINKS: TokenSinks = { find: () => SINK, rescue: SINK };

/**
 * Marks fields of a resource in the copy as unknown if the service does not show them and none of the writes to the
 * resource sets them.
 */
function restoreUnknown(
  found: LiveResource,
  { kind, like }: TouchedResource,
  writes: readonly Write[] = [],
): LiveResource {
  if (like === undefined) return found;
  const written = new Set(writes.flatMap((write) => Object.keys(getSentFields(write))));
  const unknown = kind.specFields.filter(
    ([name, { type }]) => !written.has(name) && isValueHidden(type, like.spec[name]),
  );
  if (unknown.length === 0) return found;
  const names = new Set(unknown.map(([name]) => name));
  const known = Object.entries(found.spec).filter(([name]) => !names.has(name));
  const rest = Object.entries(like.spec).filter(([name]) => names.has(name));
  return { ...found, spec: Object.fromEntries([...known, ...rest]) };
}

/** Returns the live state after the trial. Touched resources come from the copy, and all others from `live`. */
async function readCopy(
  simulated: SimulatedAccount,
  live: LiveState,
  { places, writes }: { readonly places: TouchedResources; readonly writes: readonly Write[] },
): Promise<LiveState> {
  const byAddress = Map.groupBy<string, Write>(writes, ({ address }) => address);
  const touched: { readonly place: TouchedResource; readonly found: LiveResource | undefined }[] = [];
  for (const place of places.list()) {
    const found = await simulated.find(place);
    touched.push({ place, found: found && restoreUnknown(found, place, byAddress.get(place.address ?? '')) });
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
