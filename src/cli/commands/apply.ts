import type { Command } from 'commander';
import { checkPlan, type Moved, toCheckRequest } from '../../apply/check-plan.ts';
import { readLive } from '../../client/read-live.ts';
import { toCanonicalJson } from '../../model/json.ts';
import type { Plan } from '../../model/plan.ts';
import { renderApplyJson } from '../../report/json.ts';
import type { Act } from '../act.ts';
import type { Context } from '../context.ts';
import { executePlan } from '../execute-plan.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-code.ts';
import { isInvalid, listRefused, makePlan, type PlanFlags, resolveStackSettings } from '../make-plan.ts';
import { readValidManifests } from '../manifests.ts';
import { addExamples, addFormatOptions, addPlanOptions } from '../options.ts';
import { isPlanFile, readPlanFile } from '../plan-file.ts';
import { type FormatFlags, showPlan } from '../present.ts';
import { withSession } from '../session.ts';
import { resolveSettings } from '../settings.ts';

/** Flags of the commands that write. */
export interface ApplyFlags extends PlanFlags, FormatFlags {
  readonly yes?: boolean;
}

/** `edgewise apply`. */
export function defineApply(program: Command, act: Act): void {
  const command = program
    .command('apply')
    .description('Make live what the manifests say: plan, show, ask, apply. Or apply exactly a plan that was saved.')
    .argument('[paths...]', 'files, folders, or - for standard input; or one plan file (default: the current folder)');
  addExamples(addWriteOptions(command), [
    ['edgewise apply', 'plan, show, ask, apply'],
    ['edgewise apply manifests --yes', 'without asking, for a pipeline'],
    ['edgewise apply plan.json --yes', 'that very plan; refused when what it touches has moved'],
  ]).action((paths: string[], flags: ApplyFlags) => act(flags, (context) => apply(paths, flags, context)));
}

/** Options of the commands that write. */
export function addWriteOptions(command: Command): Command {
  return addFormatOptions(addPlanOptions(command))
    .option('--token-directory <path>', 'folder for the tokens of new credentials, one file each')
    .option('--yes', 'do not ask');
}

async function apply(paths: readonly string[], flags: ApplyFlags, context: Context): Promise<ExitCode> {
  const [first, ...more] = paths;
  if (first !== undefined && more.length === 0 && (await isPlanFile(first, context.cwd)))
    return applySaved(first, flags, context);
  return applyManifests(paths, { flags, mode: 'apply' }, context);
}

/** Plans from manifests and applies that plan. */
export async function applyManifests(
  paths: readonly string[],
  { flags, mode }: { readonly flags: ApplyFlags; readonly mode: Plan['mode'] },
  context: Context,
): Promise<ExitCode> {
  const { state, diagnostics } = await readValidManifests(paths, context);
  const settings = resolveStackSettings(flags, context, state);
  return withSession(settings, context, async (client) => {
    const plan = await makePlan(client, { state, diagnostics, flags, mode, settings });
    const standing = listRefused(plan, flags);
    const isStopped = isInvalid(plan) || standing.length > 0 || plan.writes.length === 0;
    if (flags.format === 'text' || isInvalid(plan) || standing.length > 0) showPlan(plan, context, { flags, standing });
    if (!isStopped) return executePlan(client, { plan, settings, flags, done: new Map(), ids: new Map() }, context);
    if (isInvalid(plan)) return EXIT.invalid;
    if (standing.length > 0) return EXIT.refused;
    if (flags.format === 'json')
      context.stdout.write(renderApplyJson(plan, { outcomes: [], tokens: [], interrupted: false }));
    return EXIT.done;
  });
}

async function applySaved(file: string, flags: ApplyFlags, context: Context): Promise<ExitCode> {
  const plan = await readPlanFile(file, context.cwd);
  if (flags.target.length > 0)
    throw new CommandError('A saved plan is applied as a whole: --target goes with manifests.', {
      exitCode: EXIT.invalid,
    });
  const settings = resolveSettings(flags, context.env, { ...plan.settings, baseUrl: plan.baseUrl });
  if (settings.baseUrl !== plan.baseUrl)
    throw new CommandError(`${file} was made for ${plan.baseUrl}, not for ${settings.baseUrl}.`, {
      exitCode: EXIT.stale,
      remedy: 'Make a new plan.',
    });
  const standing = listRefused(plan, flags);
  if (flags.format === 'text' || standing.length > 0) showPlan(plan, context, { flags, standing });
  if (isInvalid(plan)) return EXIT.invalid;
  if (standing.length > 0) return EXIT.refused;
  return withSession(settings, context, async (client) => {
    const { moved, done, ids } = checkPlan(plan, await readLive(client, toCheckRequest(plan)));
    if (moved.length > 0)
      throw new CommandError(toStaleMessage(file, moved), {
        exitCode: EXIT.stale,
        remedy: 'Nothing was written. Make a new plan and have that approved.',
      });
    return executePlan(client, { plan, settings, flags, done, ids }, context);
  });
}

function toStaleMessage(file: string, moved: readonly Moved[]): string {
  const lines = moved.map(({ address, field, message, planned, live }) => {
    if (field === undefined) return `  ${address}: ${message}`;
    const from = planned === undefined ? 'nothing' : toCanonicalJson(planned);
    return `  ${address}: ${field} was ${from} when the plan was made and is ${toCanonicalJson(live ?? null)} now`;
  });
  return `${file} is stale, because what it would change has moved since:\n${lines.join('\n')}`;
}
