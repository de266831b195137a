import { KEY_VARIABLE } from '../../model/api-key.ts';
import { isHiddenChange } from '../../model/change.ts';
import type { Plan, SafetyViolation } from '../../model/plan.ts';
import type { StackSettings } from '../../model/stack.ts';
import type { DesiredState } from '../../model/state.ts';
import { type Allowances, listBlockingViolations } from '../../plan/guard.ts';
import { hasPlanErrors, type PlanOptions } from '../../stack/plan-live.ts';
import type { TokenFlags } from '../../stack/run-plan.ts';
import type { SavedFile } from '../../stack/saved-plan.ts';
import {
  isEmbedded,
  resolveServiceSettings,
  resolveSettingsFromManifests,
  type ServiceSettings,
} from '../../stack/settings.ts';
import type { ApplyOptions } from '../../stack/stack.ts';
import { type ConnectionFlags, createSettingOverrides } from '../connection/stack-session.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-code.ts';

/** Flags that say what a plan covers and what it may do. */
export interface PlanFlags extends ConnectionFlags, TokenFlags {
  readonly target: readonly string[];
  readonly exclude?: readonly string[];
  readonly allowDeletes?: boolean;
  readonly allowProtected: readonly string[];
  readonly allowRejected?: readonly string[];
  readonly rotate?: readonly string[];
  /** Other stacks whose resources may be taken over. */
  readonly takeOver?: readonly string[];
  /** False with --no-revert-drift. */
  readonly revertDrift?: boolean;
  /** False with --no-delete. */
  readonly delete?: boolean;
  /** Files and folders of policies. */
  readonly policies?: readonly string[];
  /** False with --no-rehearsal. */
  readonly rehearsal?: boolean;
  /** Whether the plan omits writes that the service will reject. */
  readonly skipRejected?: boolean;
  /** Whether the commands of `spec.render` may run. */
  readonly render?: boolean;
  /** The variables that manifests may read. */
  readonly env?: readonly string[];
}

/** Resolves the connection of a run on manifests: flags override variables, and variables override the Stack. */
export function resolveStackConnection(
  flags: ConnectionFlags,
  context: Context,
  { stack }: DesiredState,
): ServiceSettings {
  return resolveSettingsFromManifests(createSettingOverrides(flags), context, stack.api);
}

export function toPlanOptions(
  { target, exclude = [], rotate = [], takeOver = [], ...flags }: Partial<PlanFlags> & Pick<PlanFlags, 'target'>,
  mode: Plan['mode'] = 'apply',
): PlanOptions {
  return {
    mode,
    targets: target,
    exclusions: exclude,
    rotate,
    takeOver,
    revertDrift: flags.revertDrift !== false,
    delete: flags.delete !== false,
    rehearsal: flags.rehearsal !== false,
    skipRejected: flags.skipRejected === true,
  };
}

export function toAllowances({ allowDeletes, allowProtected, allowRejected = [] }: PlanFlags): Allowances {
  return { deletes: allowDeletes === true, protected: allowProtected, rejected: allowRejected };
}

/** Like `toAllowances`, but returns options of `stack.apply`. */
export function toConsentOptions({
  allowDeletes,
  allowProtected,
  allowRejected = [],
}: PlanFlags): Pick<ApplyOptions, 'allowDeletes' | 'allowProtected' | 'allowRejected'> {
  return { allowDeletes: allowDeletes === true, allowProtected, allowRejected };
}

export function listUnconsentedViolations(plan: Plan, flags: PlanFlags): readonly SafetyViolation[] {
  return listBlockingViolations(plan.violations, toAllowances(flags));
}

/** Returns the exit code of a command that plans but does not apply. */
export function exitCodeOfPlan(
  plan: Plan,
  blocking: readonly SafetyViolation[],
  { detailedExitcode }: { readonly detailedExitcode?: boolean },
): ExitCode {
  if (hasPlanErrors(plan)) return EXIT.invalid;
  if (blocking.length > 0) return EXIT.refused;
  return detailedExitcode === true && hasKnownChanges(plan) ? EXIT.changes : EXIT.success;
}

/** Whether an apply would change anything, apart from writing again what the service does not show. */
function hasKnownChanges({ changes, writes, files }: Plan): boolean {
  const rewritten = new Set(changes.filter(isHiddenChange).map(({ address }) => address));
  return files.length > 0 || writes.some(({ address }) => !rewritten.has(address));
}

/**
 * Returns the connection for a plan file that is used without manifests. An edited file could name another service,
 * which would then get the API key. So the user must name the service too, except for the embedded server.
 */
export function resolveSavedPlanConnection(
  saved: SavedFile,
  flags: ConnectionFlags,
  { env, isUntrusted = false }: Pick<Context, 'env' | 'isUntrusted'>,
): ServiceSettings {
  const { plan } = saved;
  const baseUrl = isEmbedded(plan.baseUrl) ? plan.baseUrl : undefined;
  const stored = isUntrusted ? {} : { ...plan.settings, baseUrl, keyEnv: undefined };
  const settings = resolveServiceSettings(createSettingOverrides(flags), env, stored);
  refuseMismatchedPlanFile(saved, { settings });
  return settings;
}

/** Throws if a plan file is for another stack than the manifests, or for another service or API key than this run. */
export function refuseMismatchedPlanFile(
  saved: SavedFile,
  { settings, stack }: { readonly settings: ServiceSettings; readonly stack?: StackSettings },
): void {
  const { plan, name } = saved;
  if (stack !== undefined && stack.name !== plan.stack) {
    const message = `${name} was made for the stack ${plan.stack}, and the manifests are of the stack ${stack.name}.`;
    throw new CommandError(message, { exitCode: EXIT.stale, remedy: 'Name the manifests that it was made from.' });
  }
  refuseOtherKey(saved, { settings, stack });
  if (settings.baseUrl === plan.baseUrl) return;
  const message = `${name} was made for ${plan.baseUrl}, not for ${settings.baseUrl}.`;
  throw new CommandError(message, { exitCode: EXIT.stale, remedy: 'Make a new plan.' });
}

/**
 * Throws if the plan was made with another API key than this run uses. Otherwise the plan of another account would
 * create all its resources again in this account, and an edited plan file could choose which key is used.
 */
function refuseOtherKey(
  { plan, name }: SavedFile,
  { settings, stack }: { readonly settings: ServiceSettings; readonly stack: StackSettings | undefined },
): void {
  const { keyEnv } = plan.settings;
  if (isEmbedded(plan.baseUrl) || keyEnv === settings.keyEnv) return;
  const made = `${name} was made with the key in ${keyEnv ?? KEY_VARIABLE}`;
  if (stack !== undefined || settings.keyEnv !== undefined) {
    const message = `${made}, and this run uses ${settings.keyEnv ?? KEY_VARIABLE}.`;
    throw new CommandError(message, { exitCode: EXIT.stale, remedy: 'Make a new plan.' });
  }
  throw new CommandError(`${made}, but a plan file alone cannot choose the key.`, {
    exitCode: EXIT.invalid,
    remedy: 'Name the manifests with --manifests, or the variable with --key-env.',
  });
}

/**
 * Like `refuseMismatchedPlanFile`. Also throws if an `External` has another id in the plan than in the manifests, because the
 * approver read only the name of the `External`.
 */
export function refusePlanFileMismatchingExternals(
  saved: SavedFile,
  {
    settings,
    state: { stack, externals },
  }: { readonly settings: ServiceSettings; readonly state: Pick<DesiredState, 'stack' | 'externals'> },
): void {
  refuseMismatchedPlanFile(saved, { settings, stack });
  const { plan, name } = saved;
  for (const [address, named] of externals) {
    const id = plan.externals[address];
    if (id === undefined || id === named) continue;
    const message = `${name} uses the name ${address} for ${id}, but in the manifests ${address} is ${named}.`;
    throw new CommandError(message, { exitCode: EXIT.stale, remedy: 'Make a new plan.' });
  }
}
