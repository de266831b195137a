import { readLive } from '../../client/read-live.ts';
import { toCanonicalJson } from '../../model/json.ts';
import type { Plan } from '../../model/plan.ts';
import { type GuardSettings, NO_SINKS } from '../../model/stack.ts';
import type { LiveState } from '../../model/state.ts';
import { countOwned, guardPlan } from '../../plan/guard.ts';
import { checkPlan, type Moved, toCheckRequest } from '../../plan/saved/check-plan.ts';
import { withSession } from '../connection/session.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-code.ts';
import { showPlanFirst } from '../output/present.ts';
import { publish } from '../output/publish.ts';
import { VERSION } from '../version.ts';
import type { ApplyFlags } from './apply-manifests.ts';
import { executePlan } from './execute-plan.ts';
import { isInvalid, listRefused } from './make-plan.ts';
import { readPlanFile } from './plan-file.ts';
import { readStack, resolvePlanSettings } from './plan-settings.ts';
import { resolveTokens } from './token-sinks.ts';

/** Applies exactly a plan that was saved, when nothing that it would touch has moved since. */
export async function applySaved(file: string, flags: ApplyFlags, context: Context): Promise<ExitCode> {
  const plan = await readPlanFile(file, context);
  refuseOtherVersion(file, plan);
  refusePlanFlags(flags);
  const { settings: stack, locate } = await readStack(file, flags, context);
  const settings = resolvePlanSettings(file, plan, { flags, stack, context });
  const tokens = resolveTokens(flags, stack?.tokens ?? NO_SINKS);
  const standing = listRefused(plan, flags);
  if (isInvalid(plan) || standing.length > 0) {
    const exitCode = isInvalid(plan) ? EXIT.invalid : EXIT.refused;
    return publish({ about: 'plan', plan, standing }, { flags, exitCode, locate }, context);
  }
  showPlanFirst(plan, flags, context);
  return withSession(settings, context, async ({ client, tellBy, signal }) => {
    const live = await readLive(client, { ...toCheckRequest(plan), signal });
    const { moved, done, ids, texts } = checkPlan(plan, live);
    if (moved.length > 0) throw new CommandError(toStaleMessage(file, moved), STALE);
    refuseStanding(plan, live, { flags, guard: stack?.guard ?? plan.settings.guard });
    return executePlan(client, { plan, tokens, flags, done, ids, texts, tellBy, signal, locate }, context);
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
  ];
  if (given.length === 0) return;
  const names = given.join(' and ');
  const message = `A saved plan does what it shows, as a whole: ${names} goes with manifests, or with edgewise plan -o.`;
  throw new CommandError(message, { exitCode: EXIT.invalid });
}

/** What a plan's writes do is known for the version that made it, and for no other. */
function refuseOtherVersion(file: string, { tool }: Plan): void {
  if (tool.version === VERSION) return;
  const message = `${file} was made by edgewise ${tool.version}, and this is edgewise ${VERSION}.`;
  throw new CommandError(message, {
    exitCode: EXIT.stale,
    remedy: 'Make a new plan, or apply it with the version that made it. Nothing was written.',
  });
}

const STALE = {
  exitCode: EXIT.stale,
  remedy: 'Nothing was written. Make a new plan and have that approved.',
};

/** The safety rules once more, on what is live now: what the file says of them could have been taken out. */
function refuseStanding(
  plan: Plan,
  live: LiveState,
  { flags, guard }: { readonly flags: ApplyFlags; readonly guard: GuardSettings },
): void {
  const { changes, stack, targets } = plan;
  const owned = countOwned(live, stack);
  const marks = new Map([...live.resources.values()].flat().map(({ id, mark }) => [id, mark?.protect === true]));
  const known = changes.map((change) =>
    marks.get(change.live?.id ?? '') === true ? { ...change, protect: true } : change,
  );
  // No command saves a plan that was made to delete everything: a file that says so is held to the limits too.
  const violations = guardPlan({
    changes: known,
    owned,
    settings: guard,
    stack,
    mode: 'apply',
    isTargeted: targets.length > 0,
  });
  const [first] = listRefused({ ...plan, violations }, flags);
  if (first !== undefined) throw new CommandError(first.message, { exitCode: EXIT.refused, remedy: first.remedy });
}

function toStaleMessage(file: string, moved: readonly Moved[]): string {
  const lines = moved.map(({ address, field, message, planned, live }) => {
    if (field === undefined) return `  ${address}: ${message}`;
    const from = planned === undefined ? 'nothing' : toCanonicalJson(planned);
    return `  ${address}: ${field} was ${from} when the plan was made and is ${toCanonicalJson(live ?? null)} now`;
  });
  return `${file} is stale, because what it would change has moved since:\n${lines.join('\n')}`;
}
