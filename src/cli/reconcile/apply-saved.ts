import type { Locate } from '../../model/diagnostic.ts';
import type { Plan } from '../../model/plan.ts';
import { DEFAULT_GUARD, NO_SINKS } from '../../model/stack.ts';
import { toStricter } from '../../plan/guard.ts';
import type { ApprovedPlan } from '../../stack/account.ts';
import { refuseOtherVersion } from '../../stack/check-saved.ts';
import { checkPolicies, isInvalid } from '../../stack/plan-live.ts';
import type { RunSettings } from '../../stack/settings.ts';
import { resolveTokens } from '../../stack/token-sinks.ts';
import { withAccount } from '../connection/stack-session.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-code.ts';
import { publish } from '../output/publish.ts';
import { refuseInputs } from '../output/run-inputs.ts';
import { showPlanFirst } from '../output/show-plan.ts';
import { VERSION } from '../version.ts';
import type { ApplyFlags } from './apply-manifests.ts';
import { type Execution, executePlan } from './execute-plan.ts';
import { readPlanFile } from './plan-file.ts';
import { listRefused, toAllowances } from './plan-flags.ts';
import { readStack, refuseOtherNames, resolvePlanSettings } from './plan-settings.ts';

/** A saved plan, with what may be done and how its service is reached. */
export interface PreparedPlan {
  readonly plan: Plan;
  readonly settings: RunSettings;
  readonly approved: ApprovedPlan;
  readonly locate: Locate;
}

/** Reads a plan file and the Stack that goes with it. Refuses what was edited, or is for another version, stack or service. Sends nothing. */
export async function prepareSaved(file: string, flags: ApplyFlags, context: Context): Promise<PreparedPlan> {
  const read = await readPlanFile(file, context);
  refuseOtherVersion({ plan: read, name: file }, VERSION);
  refusePlanFlags(flags);
  const { settings: stack, externals, locate, state, policies } = await readStack(file, flags, context);
  refuseOtherNames(file, read, { externals });
  const settings = resolvePlanSettings(file, read, { flags, stack, context });
  const plan = await checkPolicies(read, { policies, state, now: context.now(), isSaved: true });
  await refuseInputs(flags, { files: plan.files.map(({ path }) => path), settings }, context);
  const tokens = resolveTokens(flags, stack?.tokens ?? NO_SINKS, plan.stack);
  // A file that was edited could say that anything may be deleted.
  const guard = stack?.guard ?? toStricter(plan.settings.guard, DEFAULT_GUARD);
  return {
    plan,
    settings,
    approved: { plan, name: file, allowances: toAllowances(flags), guard, tokens },
    locate,
  };
}

/** Applies exactly a plan that was saved, when nothing that it would touch has moved since. */
export async function applySaved(file: string, flags: ApplyFlags, context: Context): Promise<ExitCode> {
  const { plan, settings, approved, locate } = await prepareSaved(file, flags, context);
  const standing = listRefused(plan, flags);
  if (isInvalid(plan) || standing.length > 0) {
    const exitCode = isInvalid(plan) ? EXIT.invalid : EXIT.refused;
    return publish({ about: 'plan', plan, standing }, { flags, exitCode, locate }, context);
  }
  showPlanFirst(plan, flags, context);
  return withAccount(settings, context, ({ account, ...session }) => {
    const apply: Execution['apply'] = (options) => account.apply(approved, options);
    return executePlan({ plan, apply, flags, locate, ...session }, context);
  });
}

/** What a plan covers and does was said when it was made. */
function refusePlanFlags({ target, rotate = [], takeOver = [], revertDrift, ...flags }: ApplyFlags): void {
  const given = [
    ...(target.length > 0 ? ['--target'] : []),
    ...(rotate.length > 0 ? ['--rotate'] : []),
    ...(takeOver.length > 0 ? ['--take-over'] : []),
    ...(revertDrift === false ? ['--no-revert-drift'] : []),
    ...(flags.delete === false ? ['--no-delete'] : []),
    ...(flags.approved !== undefined ? ['--approved'] : []),
    ...(flags.render === true ? ['--render'] : []),
  ];
  if (given.length === 0) return;
  const names = given.join(' and ');
  const message = `A saved plan is applied as a whole. Use ${names} with manifests, or with edgewise plan -o.`;
  throw new CommandError(message, { exitCode: EXIT.invalid });
}
