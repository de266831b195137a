import { isAbsolute, normalize } from 'node:path';
import type { Plan } from '../../model/plan.ts';
import { escapePath, quoteForShell } from '../../model/shell-words.ts';
import type { CommandLine } from '../../report/report.ts';
import { isEmbedded } from '../../settings/base-url.ts';
import { findSetting, getFlagWord } from '../../settings/resolve.ts';
import { NAMED_SETTINGS } from '../../settings/table.ts';
import { readSetting } from '../../stack/settings.ts';
import type { Context } from '../context.ts';
import type { PlanFlags } from './plan-flags.ts';

/** The run that a command line must repeat. */
export interface PlanRunToRepeat {
  readonly paths: readonly string[];
  readonly flags: PlanFlags;
  readonly env: Context['env'];
}

/**
 * Formats a command line that plans again from the same manifests, and applies the plan. The line can be pasted into a
 * shell, and needs no variable but the API key.
 */
export function createApplyManifestsCommandLine(planned: PlanRunToRepeat): CommandLine {
  const line = formatApplyCommand(listApplyWords(planned));
  return { line, lineElsewhere: line, readsInput: readsInput(planned) };
}

function listApplyWords({ paths, flags, env }: PlanRunToRepeat): readonly string[] {
  return [
    ...paths.map(escapePath),
    ...listOfferWords({ flags, env }),
    ...listConnectionWords({ flags, env }),
    ...listPlanWords(flags),
    ...listConsentWords(flags),
  ];
}

/**
 * Formats a command line that applies a saved plan. The plan is computed again, so the line repeats the flags of the
 * plan, and says where the API key and tokens are sent. Elsewhere, a plan file outside of the working folder is unknown:
 * `fresh` then plans without it.
 */
export function createSavedPlanCommandLine(
  file: string,
  planned: PlanRunToRepeat,
  fresh: CommandLine = createApplyManifestsCommandLine(planned),
): CommandLine {
  const line = formatApplyCommand(listSavedPlanWords(file, planned));
  const isElsewhereToo = !isAbsolute(file) && !normalize(file).startsWith('..');
  return { line, lineElsewhere: isElsewhereToo ? line : fresh.line, readsInput: readsInput(planned) };
}

function listSavedPlanWords(file: string, { paths, flags, env }: PlanRunToRepeat): readonly string[] {
  return [
    escapePath(file),
    ...paths.flatMap((path) => ['--manifests', escapePath(path)]),
    ...listOfferWords({ flags, env }),
    ...listConnectionWords({ flags, env }),
    ...listPlanWords(flags),
    ...listConsentWords(flags),
  ];
}

/** Flags that select some of the stacks. */
interface StackFilter {
  readonly stack?: readonly string[];
  readonly changedSince?: string | undefined;
}

/**
 * Formats a command line that applies the plans of a run on many stacks: the plans in the folder `out` or, without
 * `out`, new plans of the selected stacks.
 */
export function createStacksApplyCommandLine(
  planned: PlanRunToRepeat,
  { filter, out }: { readonly filter: StackFilter; readonly out: string | undefined },
): CommandLine {
  const { stack = [], changedSince } = filter;
  const words = [
    '-R',
    ...stack.flatMap((name) => ['--stack', name]),
    ...(changedSince === undefined ? [] : ['--changed-since', changedSince]),
  ];
  const line = formatApplyCommand([...words, ...listApplyWords(planned)]);
  const fresh = { line, lineElsewhere: line, readsInput: readsInput(planned) };
  return out === undefined ? fresh : createSavedPlanCommandLine(out, planned, fresh);
}

/**
 * Finds a command line that applies a plan file, with the manifests of `--manifests`, else the manifests that the file
 * names. `undefined`: the service, a token sink or the manifests are unknown, or the plan needs `--rotate`,
 * `--retire` or `--take-over`. Ignores these options, the service and the token sinks in the file, because an edited file could get
 * the user to paste them.
 */
export function findPlanFileApplyCommand(
  file: string,
  plan: Plan,
  { manifests, env }: { readonly manifests: readonly string[]; readonly env: Context['env'] },
): CommandLine | undefined {
  const paths = manifests.length > 0 ? manifests : (plan.manifests ?? []);
  const { options, targets: target, takeOver } = plan;
  const isPlaceKnown =
    isEmbedded(plan.baseUrl) || findSetting('baseUrl', { env }) !== undefined || manifests.length > 0;
  const isEnough =
    paths.length > 0 && isPlaceKnown && options.rotate.length + options.retire.length + takeOver.length === 0;
  if (hasMissingTokenSinkDiagnostic(plan) || !isEnough) return undefined;
  const scope = { target, exclude: plan.exclusions ?? [] };
  const flags = { ...scope, allowProtected: [], revertDrift: !options.keepDrift };
  return createSavedPlanCommandLine(file, { paths, flags, env });
}

/** Whether apply would reject the plan because neither the Stack nor a flag names a sink for its new tokens. */
export function hasMissingTokenSinkDiagnostic({ diagnostics }: Pick<Plan, 'diagnostics'>): boolean {
  return diagnostics.some(({ code }) => code === 'token-sink-missing');
}

function formatApplyCommand(words: readonly string[]): string {
  return ['edgewise', 'apply', ...words].map(quoteForShell).join(' ');
}

function readsInput({ paths }: PlanRunToRepeat): boolean {
  return paths.includes('-');
}

/** Lists the flags of the connection. A variable becomes a flag, because the line may be pasted elsewhere. */
function listConnectionWords({ flags, env }: Pick<PlanRunToRepeat, 'flags' | 'env'>): readonly string[] {
  const connection = NAMED_SETTINGS.filter(({ topic }) => topic === 'connection');
  return connection.flatMap((setting) => {
    const found = findSetting(setting.name, { flags, env });
    return found === undefined ? [] : [getFlagWord(setting) ?? '', String(found.value)];
  });
}

/** Lists the flags for the variables that manifests may read. */
function listOfferWords({ flags, env }: Pick<PlanRunToRepeat, 'flags' | 'env'>): readonly string[] {
  return (readSetting('env', { flags, env }) ?? []).flatMap((name) => ['--env', name]);
}

/** Lists the flags that decide the content of a plan. */
function listPlanWords(flags: PlanFlags): readonly string[] {
  return [
    ...flags.target.flatMap((address) => ['--target', address]),
    ...(flags.exclude ?? []).flatMap((address) => ['--exclude', address]),
    ...(flags.rotate ?? []).flatMap((address) => ['--rotate', address]),
    ...(flags.retire ?? []).flatMap((address) => ['--retire', address]),
    ...(flags.takeOver ?? []).flatMap((stack) => ['--take-over', stack]),
    ...(flags.revertDrift === false ? ['--no-revert-drift'] : []),
    ...(flags.rehearsal === false ? ['--no-rehearsal'] : []),
  ];
}

/** Lists the flags for policies, consents and token sinks, none of which a plan file contains. */
function listConsentWords({ tokenCommand, ...flags }: PlanFlags): readonly string[] {
  return [
    ...(flags.policies ?? []).flatMap((path) => ['--policies', escapePath(path)]),
    ...(flags.allowDeletes === true ? ['--allow-deletes'] : []),
    ...flags.allowProtected.flatMap((address) => ['--allow-protected', address]),
    ...(flags.allowRejected ?? []).flatMap((address) => ['--allow-rejected', address]),
    ...(flags.tokenDirectory === undefined ? [] : ['--token-directory', flags.tokenDirectory]),
    ...(tokenCommand === undefined ? [] : ['--token-command', JSON.stringify(tokenCommand)]),
  ];
}
