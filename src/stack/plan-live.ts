import { readFiles } from '../apply/write-files.ts';
import type { Client } from '../client/client.ts';
import { readLive } from '../client/read-live.ts';
import { toAddress } from '../model/address.ts';
import { type Diagnostic, hasErrors } from '../model/diagnostic.ts';
import type { Plan } from '../model/plan.ts';
import type { TokenSettings } from '../model/stack.ts';
import type { FindTaker } from '../model/stack-tree.ts';
import type { DesiredState, LiveResource, LiveState } from '../model/state.ts';
import { createPlan } from '../plan/create-plan.ts';
import { type FindPlanned, resolveForeign } from '../plan/cross-stack-references.ts';
import { decidePlan } from '../plan/decide-plan.ts';
import { listFilePaths } from '../plan/files.ts';
import { createDestroyState, createReleaseState, type PlanInput } from '../plan/plan-input.ts';
import { createReadRequest, listUsedKinds } from '../plan/select-targets.ts';
import type { PlanPolicies } from '../policy/check-plan.ts';
import type { Policy } from '../policy/evaluate.ts';
import type { Rehearse } from './host.ts';
import type { RunSettings } from './settings.ts';

/** What a plan covers, and what it may do. */
export interface PlanOptions {
  /** `destroy` deletes everything that the stack owns, `release` takes its marks off. Default: `apply`. */
  readonly mode?: Plan['mode'];
  /** Addresses to narrow it to, with what they need. Default: everything. */
  readonly targets?: readonly string[];
  /** Addresses to replace although nothing differs. */
  readonly rotate?: readonly string[];
  /** Other stacks whose resources may be taken over. */
  readonly takeOver?: readonly string[];
  /** False leaves fields alone that have only drifted. */
  readonly revertDrift?: boolean;
  /** False: no deletes except those of a replace. */
  readonly delete?: boolean;
  /** False does not try the plan in memory. */
  readonly rehearsal?: boolean;
  /** Leaves out changes that the service will reject, as the rehearsal foretells, and what depends on them. Default: such a plan is refused. */
  readonly skipRejected?: boolean;
  /** Finds the effect of other plans of the same run on a resource of another stack. Default: the live state counts. */
  readonly findPlanned?: FindPlanned;
  /** Finds another stack of the same repository that takes over what no manifest describes. Default: there is none. */
  readonly findTaker?: FindTaker;
  /** Whether the same run applies another stack, which may then drop a reference to a resource before its delete. Default: no stack. */
  readonly isInRun?: (stack: string) => boolean;
  /**
   * Saved plans of other stacks that are applied in the same run: their writes that are already done do not make a saved plan of this stack stale. Default:
   * none.
   */
  readonly savedBeside?: readonly Plan[];
  /** Ends reading when it aborts: the plan rejects with its reason. */
  readonly signal?: AbortSignal;
}

/** The input of a plan, in addition to the live state. */
export interface PlanRequest extends PlanOptions {
  readonly state: DesiredState;
  readonly diagnostics: readonly Diagnostic[];
  /** Rules of one's own that the plan is checked with. */
  readonly policies?: readonly Policy[] | undefined;
  readonly tokens: TokenSettings;
  readonly settings: RunSettings;
  readonly version: string;
  readonly now: Date;
  /** The commit of the manifests, where it is known. */
  readonly commit?: string | undefined;
  readonly cwd: string;
  readonly rehearse: Rehearse;
  /** Reads what the stacks beside this one take over. */
  readonly openNeighbours?: (() => Promise<FindTaker>) | undefined;
}

/** The part of a client that reads. */
export type Reader = Omit<Client, 'send'>;

/** A plan, and what it was computed from. Sends GETs only. */
export async function planLive(
  client: Reader,
  request: PlanRequest,
): Promise<{ readonly plan: Plan; readonly input: PlanInput; readonly whole: LiveState }> {
  const { state, settings, now, cwd, mode = 'apply', targets = [], signal } = request;
  const stated = mode === 'destroy' ? createDestroyState(state) : state;
  const read = mode === 'release' ? createReleaseState(state) : stated;
  const wanted = createReadRequest(read, targets);
  const whole = await readLive(client, { ...wanted, ...(signal !== undefined && { signal }) });
  const { desired, awaited, diagnostics } = resolveForeign(stated, whole, request);
  const live = withoutUnused(whole, read);
  const { baseUrl, versionHeader, pageSize, concurrency, rateLimit, keyEnv } = settings;
  const { guard, kinds } = desired.stack;
  const input: PlanInput = {
    desired,
    live,
    baseUrl,
    settings: {
      versionHeader,
      pageSize,
      concurrency,
      rateLimit,
      ...(keyEnv !== undefined && { keyEnv }),
      guard,
      ...(kinds !== undefined && { kinds }),
    },
    tokens: request.tokens,
    version: request.version,
    mode,
    targets,
    takeOver: request.takeOver ?? [],
    now,
    ...(request.commit !== undefined && { commit: request.commit }),
    rotate: request.rotate ?? [],
    keepDrift: request.revertDrift === false,
    noDelete: request.delete === false,
    files: await readFiles(listFilePaths(desired), { cwd, roots: desired.roots }),
    diagnostics: [...request.diagnostics, ...(mode === 'release' ? [] : diagnostics)],
    awaited,
    findTaker: request.findTaker,
    findNeighbour: await openNeighbours(request, live),
    isInRun: request.isInRun,
  };
  return { plan: createPlan(input, decidePlan(input)), input, whole };
}

/** Other stacks are looked at only where something may be deleted, and none that is of the same run tells of its own accord. */
async function openNeighbours(
  { findTaker, state, openNeighbours: open }: PlanRequest,
  { resources }: LiveState,
): Promise<FindTaker | undefined> {
  if (findTaker !== undefined || open === undefined) return undefined;
  const { name } = state.stack;
  const isLeft = ({ kind, mark }: LiveResource): boolean =>
    mark?.stack === name && !state.resources.has(toAddress(kind, mark.name));
  return [...resources.values()].flat().some(isLeft) ? open() : undefined;
}

/** Drops the kinds that were read only for cross-stack references: this stack does not manage them. */
function withoutUnused(live: LiveState, { stack }: DesiredState): LiveState {
  const used = new Set(listUsedKinds(stack).map(({ name }) => name));
  return { ...live, resources: new Map([...live.resources].filter(([kind]) => used.has(kind))) };
}

/** A plan that was tried in memory, unless there is nothing to try or nobody wants that, and checked with policies. Sends GETs only. */
export async function planAndRehearse(client: Reader, request: PlanRequest): Promise<Plan> {
  return tryPlan(await planLive(client, request), request);
}

/** A plan that was made, tried in memory and checked with policies. */
export async function tryPlan(
  { plan, input }: Awaited<ReturnType<typeof planLive>>,
  request: PlanRequest,
): Promise<Plan> {
  const { policies, state, now } = request;
  return checkPolicies(await rehearse(plan, input, request), { policies, state, now });
}

async function rehearse(plan: Plan, input: PlanInput, request: PlanRequest): Promise<Plan> {
  const { rehearsal, skipRejected = false } = request;
  // What waits for the id of something that does not exist yet cannot be tried.
  if (rehearsal === false || plan.writes.length === 0 || plan.awaitedReferences !== undefined) return plan;
  return request.rehearse(plan, input, { skipRejected });
}

/** The plan with what policies say to it now. What it had from policies of the same names before is not believed. */
export async function checkPolicies(
  plan: Plan,
  { policies = [], ...rest }: Omit<PlanPolicies, 'policies'> & Pick<PlanRequest, 'policies'>,
): Promise<Plan> {
  if (policies.length === 0) return plan;
  // Loaded only when there is a policy.
  const { withPolicies } = await import('../policy/check-plan.ts');
  return withPolicies(plan, { policies, ...rest });
}

/** Whether a plan has errors, so that nothing may be written. */
export function isInvalid(plan: Plan): boolean {
  return hasErrors(plan.diagnostics);
}
