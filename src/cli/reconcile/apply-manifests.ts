import type { Plan } from '../../model/plan.ts';
import { listFilePaths } from '../../plan/files.ts';
import { isInvalid } from '../../stack/plan-live.ts';
import { readValidManifests } from '../../stack/read-manifests.ts';
import { NOTHING_DONE } from '../../stack/run-plan.ts';
import { resolveTokens } from '../../stack/token-sinks.ts';
import { withStack } from '../connection/stack-session.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import type { FormatFlags } from '../output/present.ts';
import { publish } from '../output/publish.ts';
import { refuseInputs } from '../output/run-inputs.ts';
import { showPlanFirst } from '../output/show-plan.ts';
import { findUnapproved, readApproved } from './approval.ts';
import { type Execution, executePlan } from './execute-plan.ts';
import { listRefused, type PlanFlags, resolveStackSettings, toConsent, toPlanOptions } from './plan-flags.ts';

/** Flags of the commands that write. */
export interface ApplyFlags extends PlanFlags, FormatFlags {
  readonly yes?: boolean;
  /** File that gets a line before and after each request. */
  readonly journal?: string;
  /** With a saved plan: manifests whose Stack says where tokens go. */
  readonly stack?: readonly string[];
  /** A plan file: nothing is written unless it shows all that the plan does. */
  readonly approved?: string;
}

/** Plans from manifests and applies that plan. */
export async function applyManifests(
  paths: readonly string[],
  { flags, mode }: { readonly flags: ApplyFlags; readonly mode: Plan['mode'] },
  context: Context,
): Promise<ExitCode> {
  const approved = await readApproved(flags.approved, context);
  const { state, diagnostics, policies, locate } = await readValidManifests(paths, context, {
    ...(mode === 'apply' && { lint: 'for-plan' }),
    policies: flags.policies ?? [],
  });
  const settings = resolveStackSettings(flags, context, state);
  await refuseInputs(flags, { files: listFilePaths(state), settings }, context);
  const tokens = resolveTokens(flags, state.stack.tokens, state.stack.name);
  return withStack({ state, diagnostics, policies, settings, tokens }, context, async ({ stack, tellBy, signal }) => {
    const plan = await stack.plan({ ...toPlanOptions(flags, mode), signal });
    const standing = listRefused(plan, flags);
    const isRefused = isInvalid(plan) || standing.length > 0;
    if (isRefused) {
      const exitCode = isInvalid(plan) ? EXIT.invalid : EXIT.refused;
      return publish({ about: 'plan', plan, standing }, { flags, exitCode, locate }, context);
    }
    const unapproved = findUnapproved(plan, approved);
    if (unapproved !== undefined) return publish(unapproved, { flags, exitCode: EXIT.stale, locate }, context);
    showPlanFirst(plan, flags, context);
    if (plan.writes.length + plan.files.length > 0) {
      const apply: Execution['apply'] = (options) => stack.apply(plan, { ...toConsent(flags), ...options });
      return executePlan({ plan, apply, flags, locate, tellBy, signal }, context);
    }
    const isShown = flags.format === 'text';
    return publish(
      { about: 'apply', plan, result: NOTHING_DONE },
      { flags, isShown, exitCode: EXIT.done, locate },
      context,
    );
  });
}
