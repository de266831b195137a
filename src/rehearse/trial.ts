import { applyPlan } from '../apply/apply.ts';
import type { TokenSinks } from '../apply/token-sinks.ts';
import { isValueHidden } from '../kinds/evidence.ts';
import type { ApplyResult } from '../model/outcome.ts';
import type { Plan } from '../model/plan.ts';
import type { LiveResource, LiveState } from '../model/state.ts';
import { getSentFields, type Write } from '../model/write.ts';
import type { PlanInput } from '../plan/plan-input.ts';
import { type Gap, GapTracker } from './gaps.ts';
import { createSimulatedAccount, type SimulatedAccount } from './simulated-account.ts';
import { type TouchedResource, TouchedResources } from './touched-resources.ts';

/** What came of applying a plan to a copy of the account. */
export interface Trial extends Pick<SimulatedAccount, 'refusals'> {
  readonly result: ApplyResult;
  readonly gaps: readonly Gap[];
  /** The live state after the apply, in the copy. */
  readonly live: LiveState;
}

/** Applies a plan to a new copy of the account. */
export async function tryPlan(plan: Plan, { live, now }: Pick<PlanInput, 'live' | 'now'>): Promise<Trial> {
  const touched = new TouchedResources(plan, live);
  const gaps = new GapTracker(plan, touched.list());
  const simulated: SimulatedAccount = createSimulatedAccount({
    live,
    now: () => now,
    onWrite: async (write) => {
      const place = touched.find(write);
      if (place === undefined) return;
      if (gaps.concerns(place)) gaps.observe(place, await simulated.find(place));
      else gaps.pass();
    },
  });
  const result = await applyToCopy(plan, simulated, now);
  const after = await readCopy(simulated, live, { places: touched.list(), writes: plan.writes });
  return { result, refusals: simulated.refusals, gaps: gaps.list(), live: after };
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

/** Returns the live state after the trial. Touched resources come from the copy, and all others from `live`. */
async function readCopy(
  simulated: SimulatedAccount,
  live: LiveState,
  { places, writes }: { readonly places: readonly TouchedResource[]; readonly writes: readonly Write[] },
): Promise<LiveState> {
  const byAddress = Map.groupBy<string, Write>(writes, ({ address }) => address);
  const touched: { readonly place: TouchedResource; readonly found: LiveResource | undefined }[] = [];
  for (const place of places) {
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
