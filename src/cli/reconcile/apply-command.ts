import type { Plan } from '../../model/plan.ts';
import type { Shard } from '../../model/stack-tree.ts';
import type { CommandLine } from '../../report/report.ts';
import { createsToken } from '../../stack/run-plan.ts';
import { isEmbedded } from '../../stack/settings.ts';
import { listOffered } from '../../stack/trust.ts';
import type { Context } from '../context.ts';
import type { PlanFlags } from './plan-flags.ts';

/** The run that a command is to repeat: what its command line and its environment said. */
export interface PlannedCommand {
  /** Its manifests. */
  readonly paths: readonly string[];
  readonly flags: PlanFlags;
  readonly env: Context['env'];
}

/** The command line that plans the same from the same manifests, and applies it. It can be pasted into a shell, and needs the API key only. */
export function formatApplyCommand(planned: PlannedCommand): CommandLine {
  return toLine(listApplyWords(planned), planned.paths);
}

function listApplyWords({ paths, flags, env }: PlannedCommand): readonly string[] {
  return [
    ...paths.map(toPath),
    ...listOfferWords({ flags, env }),
    ...CONNECTION.flatMap((option) => listConnectionWords(option, { flags, env })),
    ...listPlanWords(flags),
    ...listConsentWords(flags),
  ];
}

/**
 * The command line that applies a plan that was saved, with what a plan file must not say: where the key and the tokens may go. With manifests the plan is made again,
 * so it has what the plan was made with.
 */
export function formatSavedPlanCommand(file: string, { paths, flags, env }: PlannedCommand): CommandLine {
  const isPlannedAgain = paths.length > 0;
  const options = CONNECTION.filter(({ isInPlan }) => isPlannedAgain || !isInPlan);
  const words = [
    toPath(file),
    ...(isPlannedAgain ? paths.flatMap((path) => ['--manifests', toPath(path)]) : ['--no-manifests']),
    ...(isPlannedAgain ? listOfferWords({ flags, env }) : []),
    ...options.flatMap((option) => listConnectionWords(option, { flags, env })),
    ...(isPlannedAgain ? listPlanWords(flags) : []),
    ...listConsentWords(flags),
  ];
  return toLine(words, paths);
}

/** Which of many stacks are meant, as flags say it. */
interface Narrowing {
  readonly stack?: readonly string[];
  readonly changedSince?: string;
  readonly shard?: Pick<Shard, 'index' | 'total'>;
}

/** The command line that applies what a run over many stacks planned: the folder of plans that it wrote, else the stacks that were selected. */
export function formatStacksCommand(
  planned: PlannedCommand,
  { narrowing, out }: { readonly narrowing: Narrowing; readonly out: string | undefined },
): CommandLine {
  if (out !== undefined) return formatSavedPlanCommand(out, planned);
  const { stack = [], changedSince, shard } = narrowing;
  const words = [
    '-R',
    ...stack.flatMap((name) => ['--stack', name]),
    ...(changedSince === undefined ? [] : ['--changed-since', changedSince]),
    ...(shard === undefined ? [] : ['--shard', `${shard.index}/${shard.total}`]),
  ];
  return toLine([...words, ...listApplyWords(planned)], planned.paths);
}

/**
 * The command line that applies a plan file, with the manifests in `--manifests`, or those that it names; `undefined` when that is not enough. It ignores the file's own
 * service and token sinks: an edited file could make the user paste them.
 */
export function findShownCommand(
  file: string,
  plan: Plan,
  { manifests, env }: { readonly manifests: readonly string[]; readonly env: Context['env'] },
): CommandLine | undefined {
  const isPlaceKnown = isEmbedded(plan.baseUrl) || (env['EDGEWISE_BASE_URL'] ?? '') !== '';
  const paths = manifests.length > 0 ? manifests : (plan.manifests ?? []);
  const isEnough = manifests.length > 0 || (isPlaceKnown && (paths.length > 0 || !plan.writes.some(createsToken)));
  if (lacksSink(plan) || !isEnough) return undefined;
  return formatSavedPlanCommand(file, { paths, flags: { target: plan.targets, allowProtected: [] }, env });
}

/** Whether an apply would refuse a plan for something that no file and no flag of the run says: where new tokens are to go. */
export function lacksSink({ diagnostics }: Pick<Plan, 'diagnostics'>): boolean {
  return diagnostics.some(({ code }) => code === 'token-sink-missing');
}

function toLine(words: readonly string[], paths: readonly string[]): CommandLine {
  return { line: ['edgewise', 'apply', ...words].map(quote).join(' '), readsInput: paths.includes('-') };
}

interface ConnectionOption {
  readonly name: string;
  readonly flag: keyof PlanFlags;
  readonly variable: string;
  /** A plan file says it too. */
  readonly isInPlan?: boolean;
}

const CONNECTION: readonly ConnectionOption[] = [
  { name: '--base-url', flag: 'baseUrl', variable: 'EDGEWISE_BASE_URL' },
  { name: '--key-env', flag: 'keyEnv', variable: 'EDGEWISE_KEY_ENV' },
  { name: '--version-header', flag: 'versionHeader', variable: 'EDGEWISE_VERSION_HEADER', isInPlan: true },
  { name: '--rate-limit', flag: 'rateLimit', variable: 'EDGEWISE_RATE_LIMIT', isInPlan: true },
  { name: '--timeout', flag: 'timeout', variable: 'EDGEWISE_TIMEOUT' },
  { name: '--ca-file', flag: 'caFile', variable: 'EDGEWISE_CA_FILE' },
];

/** A value from the environment becomes a flag: the user who pastes the command may have another environment. */
function listConnectionWords(
  { name, flag, variable }: ConnectionOption,
  { flags, env }: Pick<PlannedCommand, 'flags' | 'env'>,
): readonly string[] {
  const value = flags[flag] ?? env[variable];
  return typeof value === 'string' && value !== '' ? [name, value] : [];
}

/** The variables that the manifests may read. */
function listOfferWords({ flags, env }: Pick<PlannedCommand, 'flags' | 'env'>): readonly string[] {
  return listOffered({ env: flags.env ?? [] }, env).flatMap((name) => ['--env', name]);
}

/** What a plan covers. */
function listPlanWords(flags: PlanFlags): readonly string[] {
  return [
    ...(flags.render === true ? ['--render'] : []),
    ...flags.target.flatMap((address) => ['--target', address]),
    ...(flags.rotate ?? []).flatMap((address) => ['--rotate', address]),
    ...(flags.takeOver ?? []).flatMap((stack) => ['--take-over', stack]),
    ...(flags.delete === false ? ['--no-delete'] : []),
    ...(flags.revertDrift === false ? ['--no-revert-drift'] : []),
    ...(flags.skipRejected === true ? ['--skip-rejected'] : []),
    ...(flags.rehearsal === false ? ['--no-rehearsal'] : []),
  ];
}

/** Limits, consents and token sinks of an apply, which no plan file contains. */
function listConsentWords({ tokenCommand, ...flags }: PlanFlags): readonly string[] {
  return [
    ...(flags.policies ?? []).flatMap((path) => ['--policies', toPath(path)]),
    ...(flags.allowDeletes === true ? ['--allow-deletes'] : []),
    ...flags.allowProtected.flatMap((address) => ['--allow-protected', address]),
    ...(flags.allowRejected ?? []).flatMap((address) => ['--allow-rejected', address]),
    ...(flags.tokenDirectory === undefined ? [] : ['--token-directory', flags.tokenDirectory]),
    ...(tokenCommand === undefined ? [] : ['--token-command', JSON.stringify(tokenCommand)]),
  ];
}

/** A path that looks like an option would be taken for one. */
function toPath(path: string): string {
  return path.startsWith('-') && path !== '-' ? `./${path}` : path;
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
