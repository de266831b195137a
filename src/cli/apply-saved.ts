import { checkPlan, type Moved, toCheckRequest } from '../apply/check-plan.ts';
import { readLive } from '../client/read-live.ts';
import { toCanonicalJson } from '../model/json.ts';
import { NO_SINKS, type TokenSettings } from '../model/stack.ts';
import type { ApplyFlags } from './apply-manifests.ts';
import type { Context } from './context.ts';
import { executePlan } from './execute-plan.ts';
import { CommandError, EXIT, type ExitCode } from './exit-code.ts';
import { isInvalid, listRefused } from './make-plan.ts';
import { readValidManifests } from './manifests.ts';
import { readPlanFile } from './plan-file.ts';
import { showPlan } from './present.ts';
import { withSession } from './session.ts';
import { resolveSettings } from './settings.ts';
import { resolveTokens } from './token-sinks.ts';

/** Applies exactly a plan that was saved, when nothing that it would touch has moved since. */
export async function applySaved(file: string, flags: ApplyFlags, context: Context): Promise<ExitCode> {
  const plan = await readPlanFile(file, context.cwd);
  if (flags.target.length > 0) {
    const message = 'A saved plan is applied as a whole: --target goes with manifests.';
    throw new CommandError(message, { exitCode: EXIT.invalid });
  }
  if ((flags.rotate ?? []).length > 0) {
    const message = 'A saved plan does what it shows: --rotate goes with manifests, or with edgewise plan -o.';
    throw new CommandError(message, { exitCode: EXIT.invalid });
  }
  const settings = resolveSettings(flags, context.env, { ...plan.settings, baseUrl: plan.baseUrl });
  if (settings.baseUrl !== plan.baseUrl) {
    const message = `${file} was made for ${plan.baseUrl}, not for ${settings.baseUrl}.`;
    throw new CommandError(message, { exitCode: EXIT.stale, remedy: 'Make a new plan.' });
  }
  const tokens = resolveTokens(flags, await readStackTokens(flags.stack, context));
  const standing = listRefused(plan, flags);
  if (flags.format === 'text' || standing.length > 0) showPlan(plan, context, { flags, standing });
  if (isInvalid(plan)) return EXIT.invalid;
  if (standing.length > 0) return EXIT.refused;
  return withSession(settings, context, async (client) => {
    const { moved, done, ids, texts } = checkPlan(plan, await readLive(client, toCheckRequest(plan)));
    if (moved.length > 0) throw new CommandError(toStaleMessage(file, moved), STALE);
    return executePlan(client, { plan, tokens, flags, done, ids, texts }, context);
  });
}

const STALE = {
  exitCode: EXIT.stale,
  remedy: 'Nothing was written. Make a new plan and have that approved.',
};

/** A plan file does not say where tokens go, since what it says could be run: the Stack does, or a flag. */
async function readStackTokens(path: string | undefined, context: Context): Promise<TokenSettings> {
  if (path === undefined) return NO_SINKS;
  const { state } = await readValidManifests([path], context);
  return state.stack.tokens;
}

function toStaleMessage(file: string, moved: readonly Moved[]): string {
  const lines = moved.map(({ address, field, message, planned, live }) => {
    if (field === undefined) return `  ${address}: ${message}`;
    const from = planned === undefined ? 'nothing' : toCanonicalJson(planned);
    return `  ${address}: ${field} was ${from} when the plan was made and is ${toCanonicalJson(live ?? null)} now`;
  });
  return `${file} is stale, because what it would change has moved since:\n${lines.join('\n')}`;
}
