import { readFiles } from '../apply/certificate-file.ts';
import type { Client } from '../client/client.ts';
import { readLive } from '../client/read-live.ts';
import type { Address } from '../model/address.ts';
import { type Diagnostic, hasErrors } from '../model/diagnostic.ts';
import type { Plan } from '../model/plan.ts';
import type { TokenSettings } from '../model/stack.ts';
import type { DesiredState, LiveState } from '../model/state.ts';
import { createPlan } from '../plan/create-plan.ts';
import { decidePlan } from '../plan/decide-plan.ts';
import { toDestroyState } from '../plan/destroy.ts';
import { listFilePaths } from '../plan/files.ts';
import { resolveForeign, type WillExist } from '../plan/foreign.ts';
import type { PlanInput } from '../plan/plan-input.ts';
import { toReleaseState } from '../plan/release.ts';
import { listUsedKinds, toReadRequest } from '../plan/select-targets.ts';
import type { PlanPolicies } from '../policy/check-plan.ts';
import type { Policy } from '../policy/policy.ts';
import type { RunSettings } from './settings.ts';

/** What a plan covers, and what it may do. */
export interface PlanOptions {
  /** `destroy` deletes everything that the stack owns, `release` takes its marks off. Default: `apply`. */
  readonly mode?: Plan['mode'];
  /** Addresses to narrow it to, with what they need. Default: everything. */
  readonly targets?: readonly string[];
  /** Addresses of what is replaced though nothing differs. */
  readonly rotate?: readonly string[];
  /** Other stacks whose resources may be taken over. */
  readonly takeOver?: readonly string[];
  /** False leaves fields alone that have only drifted. */
  readonly revertDrift?: boolean;
  /** False deletes nothing but what is replaced. */
  readonly delete?: boolean;
  /** False does not try the plan in memory. */
  readonly rehearsal?: boolean;
  /** Says of resources of other stacks that another plan of the same run creates them. Default: of none. */
  readonly willExist?: WillExist;
  /** Says of addresses that no manifest describes that another stack of the same repository takes them over. Default: of none. */
  readonly isHandedOver?: (address: Address) => boolean;
  /** Says of other stacks that the same run applies them behind this one: what they refer to they may let go. Default: of none. */
  readonly comesLater?: (stack: string) => boolean;
  /** Ends reading when it aborts: the plan rejects with its reason. */
  readonly signal?: AbortSignal;
}

/** What a plan is made from, besides what is live. */
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
  /** See `Surroundings`. */
  readonly onDecided?: (() => void) | undefined;
  readonly onLetGo?: (() => void) | undefined;
}

/** The part of a client that reads. */
export type Reader = Omit<Client, 'send'>;

/** A plan, and what it was computed from. Sends GETs only. */
export async function planLive(
  client: Reader,
  request: PlanRequest,
): Promise<{ readonly plan: Plan; readonly input: PlanInput }> {
  const { state, settings, now, cwd, mode = 'apply', targets = [], signal } = request;
  const stated = mode === 'destroy' ? toDestroyState(state) : state;
  const read = mode === 'release' ? toReleaseState(state) : stated;
  const wanted = toReadRequest(read, targets);
  const whole = await readLive(client, { ...wanted, ...(signal !== undefined && { signal }) });
  const { desired, awaited, diagnostics } = resolveForeign(stated, whole, request.willExist);
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
    files: await readFiles(listFilePaths(desired), cwd),
    diagnostics: [...request.diagnostics, ...(mode === 'release' ? [] : diagnostics)],
    awaited,
    isHandedOver: request.isHandedOver,
    comesLater: request.comesLater,
  };
  const decided = decidePlan(input);
  request.onDecided?.();
  return { plan: createPlan(input, decided), input };
}

/** Without the kinds that were read for the resources of other stacks only: what is of them is not this stack's. */
function withoutUnused(live: LiveState, { stack }: DesiredState): LiveState {
  const used = new Set(listUsedKinds(stack).map(({ name }) => name));
  return { ...live, resources: new Map([...live.resources].filter(([kind]) => used.has(kind))) };
}

/** A plan that was tried in memory, unless there is nothing to try or nobody wants that, and checked with policies. Sends GETs only. */
export async function planAndRehearse(client: Reader, request: PlanRequest): Promise<Plan> {
  const { plan, input } = await planLive(client, request);
  const { policies, state, now } = request;
  return checkPolicies(await rehearse(plan, input, request), { policies, state, now });
}

async function rehearse(plan: Plan, input: PlanInput, { rehearsal, onLetGo }: PlanRequest): Promise<Plan> {
  // What waits for the id of something that does not exist yet cannot be tried.
  if (rehearsal === false || plan.writes.length === 0 || plan.awaited !== undefined) return plan;
  // Loaded only when there is something to try: it brings a whole server.
  const { rehearsePlan } = await import('../rehearse/rehearse.ts');
  onLetGo?.();
  const rehearsed = await rehearsePlan(plan, input, onLetGo);
  onLetGo?.();
  return rehearsed;
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
