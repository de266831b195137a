import type { TokenSinks } from '../apply/token-sinks.ts';
import { type ClockSkew, toServiceTime } from '../model/clock.ts';
import { type Diagnostic, hasErrors } from '../model/diagnostic.ts';
import { listOwned } from '../model/ownership.ts';
import { listDeletedIds, type MissingManifests, type Plan, type PlanSettings } from '../model/plan.ts';
import type { TokenSettings } from '../model/stack.ts';
import type { FindTakingOverStack, OtherStacks } from '../model/stack-tree.ts';
import type { DesiredState, LiveState } from '../model/state.ts';
import { listFinishedRotations } from '../plan/compare/compare-plans.ts';
import { createPlan, createPlanWithDecisions } from '../plan/create-plan.ts';
import { type FindPlannedOutcome, resolveCrossStackReferences } from '../plan/cross-stack-references.ts';
import {
  type AllowedAdopted,
  createDestroyState,
  type KeptPrunes,
  omitAllDesiredResources,
  type PlanInput,
} from '../plan/plan-input.ts';
import { createReadRequest, listKindsEnabledForStack } from '../plan/select-targets.ts';
import { addPolicyFindings } from '../policy/check-plan.ts';
import type { Policy } from '../policy/evaluate.ts';
import { nameReferences } from '../policy/reference-names.ts';
import type { ServiceSettings } from '../settings/table.ts';
import type { AccountReader } from './account.ts';
import type { PlanWithEvidence } from './approval.ts';
import type { Rehearse } from './host.ts';

/** What a plan covers, and which changes it may contain. */
export interface PlanOptions {
  /**
   * `destroy` deletes everything that the stack owns. `release` removes the stack's marks and leaves the resources.
   * Default: `apply`.
   */
  readonly mode?: Plan['mode'] | undefined;
  /** Addresses to plan, together with their dependencies. Default: all addresses. */
  readonly targets?: readonly string[] | undefined;
  /** Addresses to leave out, together with everything that depends on them. Default: no addresses. */
  readonly exclusions?: readonly string[] | undefined;
  /** Addresses to replace even if nothing differs. Default: no addresses. */
  readonly rotate?: readonly string[] | undefined;
  /** Addresses whose old credential or certificate is deleted now. Default: no addresses. */
  readonly retire?: readonly string[] | undefined;
  /** If false, the plan is not rehearsed. Default: true. */
  readonly rehearsal?: boolean | undefined;
  /** Finds a resource of another stack in that stack's plan of the same run. Default: only the live resource counts. */
  readonly findPlanned?: FindPlannedOutcome;
  /**
   * Finds the stack of the repository that takes over a resource which has no manifest in this stack. Default: that of
   * the stack, for the other stacks of its repository.
   */
  readonly findTaker?: FindTakingOverStack | undefined;
  /** The other stacks of the repository. Default: those around the stack. */
  readonly others?: OtherStacks | undefined;
  /**
   * Addresses of adopted resources that are deleted if their manifests are gone, although edgewise has changed nothing on
   * them. `asked`: all, because the caller asks a user before the apply. Default: they are kept.
   */
  readonly allowAdopted?: AllowedAdopted | undefined;
  /** Why resources without a manifest are kept. Default: they are deleted. */
  readonly keptPrunes?: KeptPrunes | undefined;
  /**
   * Whether the same run also applies the given stack. That stack may then drop its reference to a resource before this
   * stack deletes the resource. Default: false for every stack.
   */
  readonly isInRun?: (stack: string) => boolean;
  /** Says what to do about a stack that is referred to and that a run over many stacks does not have. */
  readonly adviseOnOtherStack?: ((stack: string) => string | undefined) | undefined;
  /** Aborts reading. The promise of the plan then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** The input of a plan, except the live state. */
export interface PlanRequest extends PlanOptions {
  readonly state: DesiredState;
  /** The plan that the new plan will be compared with. Rotations that it contains and that are done are not repeated. */
  readonly approved?: Plan | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** User-defined rules to check the plan with. */
  readonly policies?: readonly Policy[] | undefined;
  readonly tokens: TokenSettings;
  readonly sinks?: TokenSinks | undefined;
  readonly tokenVariables: readonly string[];
  readonly settings: ServiceSettings;
  readonly version: string;
  readonly now: Date;
  /** The commit of the manifests. `undefined` if not known. */
  readonly commit?: string | undefined;
  readonly cwd: string;
  readonly uid: number | undefined;
  readonly rehearse: Rehearse;
  /** Lists manifests that git did not check out. `undefined`: the manifests count as complete. */
  readonly listMissing?: (() => Promise<MissingManifests | undefined>) | undefined;
}

/** A plan that was not rehearsed yet, with its input. */
interface LivePlan extends PlanWithEvidence {
  readonly input: PlanInput;
}

/** Creates a plan, and returns it with its input. Sends GETs only. */
async function createLivePlanWithInput(reader: AccountReader, request: PlanRequest): Promise<LivePlan> {
  const { state, mode = 'apply', targets = [], signal } = request;
  const asked = mode === 'destroy' ? createDestroyState(state) : state;
  // A release reads what has the mark of the stack, and nothing that the manifests refer to.
  const toRead = mode === 'release' ? omitAllDesiredResources(state) : asked;
  const read = await reader.read({ ...createReadRequest(toRead, targets), signal });
  const { desired, awaited, diagnostics } = resolveCrossStackReferences(asked, read, request);
  const live = withoutUnusedKinds(read, toRead);
  const input: PlanInput = {
    ...listAskedMembers(request, read),
    ...createTimes(request, reader.clockSkew()),
    desired,
    live,
    settings: createPlanSettings(request, desired),
    diagnostics: [...request.diagnostics, ...(mode === 'release' ? [] : diagnostics)],
    awaited,
    missing: mayDelete(request, live) ? await request.listMissing?.() : undefined,
  };
  const { plan, decisions } = createPlanWithDecisions(input);
  return { plan, input, evidence: { decisions, live: read } };
}

type AskedMember = 'baseUrl' | 'tokens' | 'tokenVariables' | 'version' | 'mode' | 'targets' | 'rotate';

/**
 * Creates a plan without a rehearsal and without policies. `planAgain` plans other manifests of the stack from the same
 * reads.
 */
export async function createRepeatablePlan(
  reader: AccountReader,
  request: PlanRequest,
): Promise<Pick<LivePlan, 'plan' | 'input'> & { readonly planAgain: (state: DesiredState) => Plan }> {
  const { plan, input, evidence } = await createLivePlanWithInput(reader, request);
  const planAgain = (state: DesiredState): Plan => {
    const { desired, awaited } = resolveCrossStackReferences(state, evidence.live, request);
    return createPlan({ ...input, desired, awaited });
  };
  return { plan, input, planAgain };
}

/** What the request says about a plan as it is, and what follows from the plan that was approved. */
function listAskedMembers(request: PlanRequest, read: LiveState): Pick<PlanInput, AskedMember> & Partial<PlanInput> {
  const { settings, tokens, sinks, version, mode = 'apply', targets = [], rotate = [], approved } = request;
  return {
    baseUrl: settings.baseUrl,
    tokens,
    hasOwnSink: sinks && ((name) => sinks.find(name) !== undefined),
    tokenVariables: request.tokenVariables,
    version,
    mode,
    targets,
    exclusions: request.exclusions,
    commit: request.commit,
    rotate,
    rotated: approved && listFinishedRotations(approved, read, rotate),
    retire: request.retire ?? [],
    approvedDeletes: approved && listDeletedIds(approved),
    findTaker: request.findTaker,
    others: request.others,
    keptPrunes: request.keptPrunes,
    allowAdopted: request.allowAdopted,
    isInRun: request.isInRun,
  };
}

function createTimes({ now }: PlanRequest, clock: ClockSkew): Pick<PlanInput, 'now' | 'localNow' | 'clock'> {
  return { now: toServiceTime(now, clock), localNow: now, clock };
}

function createPlanSettings({ settings }: PlanRequest, { stack }: DesiredState): PlanSettings {
  const { versionHeader, pageSize, concurrency, rateLimit, keyEnv } = settings;
  const { guard, kinds } = stack;
  return { versionHeader, pageSize, concurrency, rateLimit, keyEnv, guard, kinds };
}

/** Whether the stack owns a resource that has no manifest. */
function mayDelete({ state }: PlanRequest, live: LiveState): boolean {
  return listOwned(live, state.stack.name).some(({ address }) => !state.resources.has(address));
}

/** Removes kinds that were read only for cross-stack references, because this stack does not manage them. */
function withoutUnusedKinds(live: LiveState, { stack }: DesiredState): LiveState {
  const used = new Set(listKindsEnabledForStack(stack).map(({ name }) => name));
  return { ...live, resources: new Map([...live.resources].filter(([kind]) => used.has(kind))) };
}

/** Creates a plan that is rehearsed and checked by the policies. Sends GETs only. */
export async function createCheckedLivePlan(
  reader: AccountReader,
  request: PlanRequest,
): Promise<PlanWithEvidence & { readonly input: PlanInput }> {
  const { plan, input, evidence } = await createLivePlanWithInput(reader, request);
  const { policies, state, now } = request;
  const rehearsed = await rehearse(plan, input, request);
  if (policies === undefined || policies.length === 0) return { plan: rehearsed, evidence, input };
  const names = nameReferences(rehearsed, input.desired, evidence.live);
  return { plan: addPolicyFindings(rehearsed, { policies, state, names, now }), evidence, input };
}

async function rehearse(plan: Plan, input: PlanInput, request: PlanRequest): Promise<Plan> {
  // A plan that waits for the id of another stack's resource cannot be rehearsed.
  if (request.rehearsal === false || plan.writes.length === 0 || plan.crossStackReferences !== undefined) return plan;
  return request.rehearse(plan, input);
}

/** Whether a plan contains errors, so that it must not be applied. */
export function hasPlanErrors(plan: Plan): boolean {
  return hasErrors(plan.diagnostics);
}
