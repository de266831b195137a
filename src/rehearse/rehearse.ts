import { applyPlan } from '../apply/apply.ts';
import type { TokenSinks } from '../apply/token-sinks.ts';
import { toAddress } from '../model/address.ts';
import { hasErrors } from '../model/diagnostic.ts';
import type { ApplyResult } from '../model/outcome.ts';
import type { Plan } from '../model/plan.ts';
import type { LiveResource, LiveState } from '../model/state.ts';
import { decidePlan } from '../plan/decide-plan.ts';
import type { PlanInput } from '../plan/plan-input.ts';
import { toClosure } from '../plan/select-targets.ts';
import { toChange } from '../plan/to-change.ts';
import { listFindings, type Rehearsed } from './findings.ts';
import { InterimWatch, mayMove } from './interims.ts';
import { createLetGo } from './let-go.ts';
import { type Place, Places, toHolder } from './places.ts';
import { createTwin, type Twin } from './twin.ts';

/**
 * Tries a plan on a twin of the account, in memory, with the code that applies plans, and plans again. Sends nothing to the service. Gives the
 * plan with what came of it; one that cannot succeed has errors, and no writes any more. `onLetGo` is told when the twin is not needed any more.
 */
export async function rehearsePlan(plan: Plan, input: PlanInput, onLetGo?: () => void): Promise<Plan> {
  if (plan.writes.length === 0) return plan;
  const { live, ...tried } = await tryOnTwin(plan, input);
  onLetGo?.();
  const again = { ...input, live, targets: [], rotate: [], diagnostics: [] };
  const after = decidePlan(narrow(again, listTouched(plan)));
  const left = after.decisions.filter(({ action }) => action !== 'no-op').map((decision) => toChange(decision, []));
  const findings = listFindings({ plan, desired: input.desired, ...tried, left, isLetGo: createLetGo(input) });
  const { result } = tried;
  const refused = result.outcomes.filter(({ outcome }) => outcome !== 'applied').length;
  return {
    ...plan,
    ...(hasErrors(findings) && NOTHING),
    diagnostics: [...plan.diagnostics, ...findings],
    rehearsal: { writes: plan.writes.length, refused, left: left.length, tokens: result.tokens.length },
  };
}

/** What came of a plan on a twin, and what is there now. */
interface Tried extends Pick<Rehearsed, 'result' | 'twin' | 'interims'> {
  readonly live: LiveState;
}

/** Carries out a plan on a twin. Nothing of the twin is kept but what it refused. */
async function tryOnTwin(plan: Plan, { live, now }: PlanInput): Promise<Tried> {
  const places = new Places(plan, live);
  const watch = new InterimWatch();
  const moving = new Set<string>(plan.writes.filter(mayMove).map(({ address }) => address));
  const isMoving = ({ address = '' }: Place): boolean => moving.has(address);
  for (const place of places.list())
    if (place.like !== undefined && isMoving(place)) watch.begin(place.key, toHolder(place, place.like));
  const twin: Twin = createTwin({
    live,
    now: () => now,
    onWrite: async (write) => {
      const place = places.find(write);
      if (place === undefined) return;
      if (!watch.isWatching() || (place.like !== undefined && !isMoving(place))) return watch.pass();
      const found = await twin.find(place);
      watch.observe(place.key, found && toHolder(place, found));
    },
  });
  const result = await applyToTwin(plan, twin, now);
  const { refusals } = twin;
  return { result, twin: { refusals }, interims: watch.list(), live: await readTwin(twin, live, places) };
}

/** The addresses that a plan changes: the others are the same in the twin and are not planned again. */
function listTouched({ changes }: Plan): readonly string[] {
  return changes.flatMap(({ action, address }) => (action === 'no-op' ? [] : [address]));
}

/** Without the resources of the stack that are neither touched nor needed for that: they are the same as before. */
function narrow(input: PlanInput, touched: readonly string[]): PlanInput {
  const { desired, live } = input;
  const addresses = toClosure(desired, touched);
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

/** What a plan with errors does. */
const NOTHING = { writes: [], files: [] } as const;

function applyToTwin(plan: Plan, { client }: Twin, now: Date): Promise<ApplyResult> {
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

/** What was read, with what the plan touched as it is in the twin now. */
async function readTwin(twin: Twin, live: LiveState, places: Places): Promise<LiveState> {
  const touched = await Promise.all(places.list().map(async (place) => ({ place, found: await twin.find(place) })));
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
