import type { TokenSinks } from '../apply/token-sinks.ts';
import { type ClockSkew, toServiceTime } from '../model/clock.ts';
import { type Diagnostic, hasErrors } from '../model/diagnostic.ts';
import { listOwned } from '../model/ownership.ts';
import { listDeletedIds, type MissingManifests, type Plan, type PlanSettings } from '../model/plan.ts';
import type { TokenSettings } from '../model/stack.ts';
import type { DesiredState, LiveState } from '../model/state.ts';
import { createPlan, createPlanWithDecisions } from '../plan/create-plan.ts';
import { resolveCrossStackReferences } from '../plan/cross-stack-references.ts';
import { createDestroyState, omitAllDesiredResources, type PlanInput, type Surroundings } from '../plan/plan-input.ts';
import { listFinishedRotations } from '../plan/renewal.ts';
import { createReadRequest, listKindsEnabledForStack } from '../plan/select-targets.ts';
import { addPolicyFindings } from '../policy/check-plan.ts';
import type { Policy } from '../policy/evaluate.ts';
import { nameReferences } from '../policy/reference-names.ts';
import type { PlanningRequest } from '../settings/request.ts';
import type { ServiceSettings } from '../settings/table.ts';
import type { AccountReader } from './account.ts';
import type { PlanWithEvidence } from './approval.ts';
import type { Rehearse } from './host.ts';

/** What a plan covers, and which changes it may contain. */
export interface PlanOptions extends PlanningRequest, Surroundings {
  /** Aborts reading. The promise of the plan then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** The manifests of a stack, and what comes with them. */
export interface PlanContents {
  readonly state: DesiredState;
  readonly settings: ServiceSettings;
  readonly diagnostics: readonly Diagnostic[];
  /** User-defined rules to check plans with. */
  readonly policies?: readonly Policy[] | undefined;
  readonly tokens: TokenSettings;
  readonly sinks?: TokenSinks | undefined;
  readonly version: string;
}

/** The input of a plan, except the live state. */
export interface PlanRequest {
  readonly options: PlanOptions;
  readonly contents: PlanContents;
  /** The plan that the new plan will be compared with. Rotations that it contains and that are done are not repeated. */
  readonly approved?: Plan | undefined;
  readonly tokenVariables: readonly string[];
  readonly now: Date;
  /** The commit of the manifests. `undefined` if not known. */
  readonly commit?: string | undefined;
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
  const { options, contents, approved } = request;
  const { mode = 'apply', targets = [], signal } = options;
  const { state, sinks } = contents;
  const asked = mode === 'destroy' ? createDestroyState(state) : state;
  // A release reads what has the mark of the stack, and nothing that the manifests refer to.
  const toRead = mode === 'release' ? omitAllDesiredResources(state) : asked;
  const read = await reader.read({ ...createReadRequest(toRead, targets), signal });
  const { desired, awaited, diagnostics } = resolveCrossStackReferences(asked, read, options);
  const live = withoutUnusedKinds(read, toRead);
  const input: PlanInput = {
    ...options,
    mode,
    ...createTimes(request, reader.clockSkew()),
    desired,
    live,
    baseUrl: contents.settings.baseUrl,
    settings: createPlanSettings(contents, desired),
    version: contents.version,
    tokens: contents.tokens,
    hasOwnSink: sinks && ((name) => sinks.find(name) !== undefined),
    tokenVariables: request.tokenVariables,
    commit: request.commit,
    rotated: approved && listFinishedRotations(approved, read, options),
    approvedDeletes: approved && listDeletedIds(approved),
    diagnostics: [...contents.diagnostics, ...(mode === 'release' ? [] : diagnostics)],
    awaited,
    missing: mayDelete(contents, live) ? await request.listMissing?.() : undefined,
  };
  const { plan, decisions } = createPlanWithDecisions(input);
  return { plan, input, evidence: { decisions, live: read } };
}

/**
 * Creates a plan without a rehearsal and without policies. `planEdited` plans edited manifests of the stack from the same
 * reads.
 */
export async function createRepeatablePlan(
  reader: AccountReader,
  request: PlanRequest,
): Promise<Pick<LivePlan, 'plan' | 'input'> & { readonly planEdited: (state: DesiredState) => Plan }> {
  const { plan, input, evidence } = await createLivePlanWithInput(reader, request);
  const planEdited = (state: DesiredState): Plan => {
    const { desired, awaited } = resolveCrossStackReferences(state, evidence.live, request.options);
    return createPlan({ ...input, desired, awaited });
  };
  return { plan, input, planEdited };
}

function createTimes({ now }: PlanRequest, clock: ClockSkew): Pick<PlanInput, 'now' | 'localNow' | 'clock'> {
  return { now: toServiceTime(now, clock), localNow: now, clock };
}

function createPlanSettings({ settings }: PlanContents, { stack }: DesiredState): PlanSettings {
  const { versionHeader, pageSize, concurrency, rateLimit, keyEnv } = settings;
  const { guard, kinds } = stack;
  return { versionHeader, pageSize, concurrency, rateLimit, keyEnv, guard, kinds };
}

/** Whether the stack owns a resource that has no manifest. */
function mayDelete({ state }: PlanContents, live: LiveState): boolean {
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
  const { policies, state } = request.contents;
  const rehearsed = await rehearse(plan, input, request);
  if (policies === undefined || policies.length === 0) return { plan: rehearsed, evidence, input };
  const names = nameReferences(rehearsed, input.desired, evidence.live);
  return { plan: addPolicyFindings(rehearsed, { policies, state, names, now: request.now }), evidence, input };
}

async function rehearse(plan: Plan, input: PlanInput, request: PlanRequest): Promise<Plan> {
  // A plan that waits for the id of another stack's resource cannot be rehearsed.
  if (request.options.rehearsal === false || plan.writes.length === 0 || plan.crossStackReferences !== undefined)
    return plan;
  return request.rehearse(plan, input);
}

/** Whether a plan contains errors, so that it must not be applied. */
export function hasPlanErrors(plan: Plan): boolean {
  return hasErrors(plan.diagnostics);
}
