import type { Kind } from '../../kinds/kind.ts';
import { renderPlainYaml } from '../../manifest/render-document.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { hasDrift, isEveryTargetCompared, type StackInventory } from '../../model/drift.ts';
import type { Plan } from '../../model/plan.ts';
import { createHiddenNumbers } from '../../model/secret-value.ts';
import type { StackFolder, StackTree } from '../../model/stack-tree.ts';
import { listWriteToPaths } from '../../plan/plan-input.ts';
import { createStackResourcesDocument } from '../../report/machine/inventory.ts';
import { renderPrintableJson } from '../../report/machine/json.ts';
import { renderRunText } from '../../report/render-text.ts';
import type { StackReportPart } from '../../report/report.ts';
import { redactInventory } from '../../report/view/redact.ts';
import { formatStackTitle } from '../../report/view/stacks-view.ts';
import { findEffectiveShard } from '../../repository/select-stacks.ts';
import { createAccountKeyContainingSecret } from '../../stack/account-key.ts';
import { hasPlanErrors } from '../../stack/plan-live.ts';
import { readManifests } from '../../stack/read-manifests.ts';
import { warnOfClockSkew } from '../connection/clock.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode, exitCodeOfValidation } from '../exit-code.ts';
import { getTextOptions, TEXT_ONLY_FORMAT_FLAGS } from '../output/present.ts';
import { createStacksApplyCommandLine } from '../reconcile/apply-command.ts';
import { exitCodeOfPlan, listUnconsentedViolations, type PlanFlags, toPlanOptions } from '../reconcile/plan-flags.ts';
import { createPlanFolderWriter, type PlanFolderWriter } from './plan-folder.ts';
import {
  computeWorstExitCode,
  createOtherStacksLookUps,
  createStacksReport,
  failConflictingStacks,
  forEachStack,
  openStackFolder,
  planOpenedStack,
  recordClaims,
  reportStacksRun,
  runTaskOnSelectedStacks,
  type StackResult,
  type StacksFlags,
  type StacksRun,
  toStackFilter,
} from './stacks-run.ts';

interface PlanStacksFlags extends StacksFlags, PlanFlags {
  /** The folder to which a plan file for each stack is written. */
  readonly out?: string;
  readonly detailedExitcode?: boolean;
}

/** Plans every stack below a folder, and shows one report on all of them. */
export async function planAndReportStacks(
  paths: readonly string[],
  flags: PlanStacksFlags,
  context: Context,
): Promise<ExitCode> {
  const { out } = flags;
  const shard = findEffectiveShard(toStackFilter(flags), context);
  const plans = out === undefined ? undefined : await createPlanFolderWriter(out, shard, context);
  return runTaskOnSelectedStacks(paths, { flags, command: 'plan' }, context, async (run) => {
    const { selected } = run;
    const parts = await forEachStack(run, (folder) => planOne(run, folder, { flags, plans }));
    const shown = await failConflictingStacks(run, parts, (folder) =>
      plans?.withdraw(formatPlanFileName(folder, selected.tree)),
    );
    await plans?.finish(selected);
    const planned = { paths: [selected.tree.root], flags, env: context.env };
    const applyCommand = isApplicable(shown)
      ? createStacksApplyCommandLine(planned, { filter: flags, out })
      : undefined;
    return reportStacksRun(run, shown, { applyCommand });
  });
}

/** Whether at least one plan contains changes, no plan is blocked, and no stack failed. */
function isApplicable(parts: readonly StackReportPart[]): boolean {
  const plans = parts.map(({ report }) => (report.about === 'plan' ? report.plan : undefined));
  const isPassed = parts.every(({ exitCode }) => exitCode === EXIT.success || exitCode === EXIT.changes);
  return isPassed && plans.some((plan) => plan !== undefined && plan.writes.length + plan.files.length > 0);
}

async function planOne(
  run: StacksRun,
  folder: StackFolder,
  { flags, plans }: { readonly flags: PlanStacksFlags; readonly plans: PlanFolderWriter | undefined },
): Promise<StackResult> {
  const opened = await openStackFolder(run, folder, { lint: 'for-plan', listOutputs: listWriteToPaths });
  const { plan } = await planOpenedStack(run, opened, { options: toPlanOptions(flags) });
  const file = formatPlanFileName(folder, run.selected.tree);
  if (!hasPlanErrors(plan)) await plans?.write(file, plan);
  const blocking = listUnconsentedViolations(plan, flags);
  return {
    report: { about: 'plan', plan, blocking },
    exitCode: exitCodeOfPlan(plan, blocking, flags),
    options: { locate: opened.locate },
  };
}

/** Formats the name of a plan file: the name of the stack, followed by the folder if the name is not unique. */
function formatPlanFileName({ name, folder }: StackFolder, { stacks }: Pick<StackTree, 'stacks'>): string {
  const isUnique = name !== '' && stacks.filter((stack) => stack.name === name).length === 1;
  return isUnique ? `${name}.json` : `${name}@${folder.replace(/[^\w.-]+/g, '-')}.json`;
}

/** Validates every stack below a folder. Sends no request. */
export async function validateAndReportStacks(
  paths: readonly string[],
  flags: StacksFlags & { readonly toShown: (found: Diagnostic) => Diagnostic },
  context: Context,
): Promise<ExitCode> {
  return runTaskOnSelectedStacks(paths, { flags, command: 'validate' }, context, async (run) => {
    const { onSubject: _, ...quiet } = context;
    const parts = await forEachStack(run, async (one): Promise<StackResult> => {
      const { name, folder } = one;
      const {
        state,
        diagnostics: found,
        files,
        subject,
      } = await readManifests([folder], quiet, {
        lint: 'all',
        policies: flags.policies ?? [],
      });
      if (state !== undefined)
        recordClaims(
          { state, tokens: state.stack.tokens },
          { folder: one, account: createAccountKeyContainingSecret(one, context) },
          run,
        );
      const diagnostics = found.map(flags.toShown);
      const addresses = [...(state?.resources.keys() ?? [])];
      const stack = name === '' ? {} : { stack: name };
      const validation = { diagnostics, files, resources: addresses.length, addresses, ...stack };
      return {
        report: { about: 'validation', command: 'validate', validation },
        exitCode: state === undefined ? EXIT.invalid : exitCodeOfValidation(diagnostics),
        options: { locate: subject.locate },
      };
    });
    return reportStacksRun(run, await failConflictingStacks(run, parts));
  });
}

/** Compares every stack below a folder with the live state. Sends GET requests only. */
export async function showDriftOfStacks(
  paths: readonly string[],
  flags: StacksFlags & { readonly target: readonly string[]; readonly exclude: readonly string[] },
  context: Context,
): Promise<ExitCode> {
  return runTaskOnSelectedStacks(paths, { flags, command: 'drift' }, context, async (run) => {
    const parts = await forEachStack(run, async (folder): Promise<StackResult> => {
      const { stack, locate } = await openStackFolder(run, folder);
      const onPlanned = (plan: Plan): void => run.planned.note(createAccountKeyContainingSecret(folder, context), plan);
      const drift = await stack.drift({
        signal: run.signal,
        targets: flags.target,
        exclusions: flags.exclude,
        ...createOtherStacksLookUps(run, folder),
        onPlanned,
      });
      const differs = hasDrift(drift) ? EXIT.changes : EXIT.success;
      return {
        report: { about: 'drift', drift },
        exitCode: isEveryTargetCompared(drift) ? differs : EXIT.invalid,
        options: { locate },
      };
    });
    return reportStacksRun(run, await failConflictingStacks(run, parts));
  });
}

/** A query on many stacks, and the function that renders one stack. */
interface GetStacks {
  readonly flags: Omit<StacksFlags, 'format'> & { readonly format: 'table' | 'json' | 'yaml' | 'name' | 'value' };
  readonly names: readonly string[];
  readonly mayRead: (kind: Kind) => boolean;
  /** Renders one stack. Called only for the formats table, name and value. */
  readonly render: (inventory: StackInventory) => string;
}

/** Shows what every stack below a folder owns. Reads each account once. Errors of a stack are shown on stderr. */
export async function showResourcesOfStacks(
  paths: readonly string[],
  asked: GetStacks,
  context: Context,
): Promise<ExitCode> {
  const { names, mayRead } = asked;
  const flags = { ...asked.flags, ...TEXT_ONLY_FORMAT_FLAGS };
  return runTaskOnSelectedStacks(paths, { flags, command: 'get' }, context, async (run) => {
    const found = new Map<StackFolder, StackInventory>();
    const parts = await forEachStack(run, async (folder) => {
      const { stack } = await openStackFolder(run, folder);
      found.set(folder, await stack.get({ names, mayRead, signal: run.signal }));
      return { report: { about: 'failure', failure: {} }, exitCode: EXIT.success };
    });
    warnOfClockSkew([...found.values()], context);
    const numbers = createHiddenNumbers();
    context.stdout.write(
      render(
        Array.from(found, ([folder, one]) => [folder, redactInventory(one, numbers)]),
        asked,
      ),
    );
    const failed = parts.filter(({ exitCode }) => exitCode !== EXIT.success);
    if (failed.length > 0) showFailedStacks(failed, run, context);
    return computeWorstExitCode(parts.map(({ exitCode }) => exitCode));
  });
}

function showFailedStacks(
  failed: readonly StackReportPart[],
  run: Parameters<typeof createStacksReport>[0],
  context: Context,
): void {
  const options = getTextOptions(context.stderr, context, TEXT_ONLY_FORMAT_FLAGS);
  context.stderr.write(renderRunText(createStacksReport(run, failed), options));
}

function render(
  found: readonly (readonly [StackFolder, StackInventory])[],
  { flags, render: renderOne }: GetStacks,
): string {
  const stacks = found.map(([{ folder }, inventory]) => ({ folder, ...createStackResourcesDocument(inventory) }));
  const document = { format: 1, command: 'get', ok: true, stacks };
  switch (flags.format) {
    case 'json':
      return renderPrintableJson(document);
    case 'yaml':
      return renderPlainYaml(document);
    case 'table':
      return found.map(([folder, inventory]) => `── ${formatStackTitle(folder)}\n${renderOne(inventory)}\n`).join('');
    default:
      return found.map(([{ name }, inventory]) => renderOne(inventory).replace(/^(?=.)/gm, `${name}\t`)).join('');
  }
}
