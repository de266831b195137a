import { readFiles } from '../../apply/certificate-file.ts';
import { readLive } from '../../client/read-live.ts';
import { type Diagnostic, hasErrors } from '../../model/diagnostic.ts';
import type { GuardViolation, Plan } from '../../model/plan.ts';
import type { DesiredState, LiveState } from '../../model/state.ts';
import { createPlan } from '../../plan/create-plan.ts';
import { toDestroyState } from '../../plan/destroy.ts';
import { listFilePaths } from '../../plan/files.ts';
import { type Allowances, listStanding } from '../../plan/guard.ts';
import { toReleaseState } from '../../plan/release.ts';
import { toReadRequest } from '../../plan/select-targets.ts';
import type { Reader } from '../connection/session.ts';
import { type ConnectionFlags, type RunSettings, resolveSettings, toStoredSettings } from '../connection/settings.ts';
import type { Context } from '../context.ts';
import { VERSION } from '../version.ts';
import { resolveTokens, type TokenFlags } from './token-sinks.ts';

/** Flags that say what a plan covers and what it may do. */
export interface PlanFlags extends ConnectionFlags, TokenFlags {
  readonly target: readonly string[];
  readonly allowDeletes?: boolean;
  readonly allowProtected: readonly string[];
  readonly rotate?: readonly string[];
  /** Other stacks whose resources may be taken over. */
  readonly takeOver?: readonly string[];
  /** False with --no-revert-drift. */
  readonly revertDrift?: boolean;
  /** False with --no-delete. */
  readonly delete?: boolean;
}

/** What a plan is made from, besides what is live. */
export interface PlanRequest {
  readonly state: DesiredState;
  readonly diagnostics: readonly Diagnostic[];
  readonly flags: PlanFlags;
  readonly mode: Plan['mode'];
  readonly settings: RunSettings;
  readonly now: Date;
  readonly cwd: string;
  /** Ends reading when it aborts. */
  readonly signal: AbortSignal;
}

/** The settings of a run on manifests. */
export function resolveStackSettings(flags: ConnectionFlags, context: Context, { stack }: DesiredState): RunSettings {
  return resolveSettings(flags, context.env, toStoredSettings(stack.api));
}

/** Reads what is live and computes the plan. Sends GETs only. */
export async function makePlan(client: Reader, request: PlanRequest): Promise<Plan> {
  const { plan } = await planLive(client, request);
  return plan;
}

/** A plan, and what was live when it was made. Sends GETs only. */
export async function planLive(
  client: Reader,
  { state, diagnostics, flags, mode, settings, now, cwd, signal }: PlanRequest,
): Promise<{ readonly plan: Plan; readonly live: LiveState }> {
  const desired = mode === 'destroy' ? toDestroyState(state) : state;
  const read = mode === 'release' ? toReleaseState(state) : desired;
  const live = await readLive(client, { ...toReadRequest(read, flags.target), signal });
  const { baseUrl, versionHeader, pageSize, concurrency, rateLimit } = settings;
  const { guard, kinds } = desired.stack;
  const plan = createPlan({
    desired,
    live,
    baseUrl,
    settings: { versionHeader, pageSize, concurrency, rateLimit, guard, ...(kinds !== undefined && { kinds }) },
    tokens: resolveTokens(flags, desired.stack.tokens),
    version: VERSION,
    mode,
    targets: flags.target,
    takeOver: flags.takeOver ?? [],
    now,
    rotate: flags.rotate ?? [],
    keepDrift: flags.revertDrift === false,
    noDelete: flags.delete === false,
    files: await readFiles(listFilePaths(desired), cwd),
    diagnostics,
  });
  return { plan, live };
}

/** The safety rules that a plan breaks and that no flag allows. */
export function listRefused(plan: Plan, flags: PlanFlags): readonly GuardViolation[] {
  const allowances: Allowances = { deletes: flags.allowDeletes === true, protected: flags.allowProtected };
  return listStanding(plan.violations, allowances);
}

/** Whether a plan has errors, so that nothing may be written. */
export function isInvalid(plan: Plan): boolean {
  return hasErrors(plan.diagnostics);
}
