import type { Plan } from '../../model/plan.ts';
import type { CommandLine } from '../../report/report.ts';
import { isEmbedded } from '../../stack/embedded-url.ts';
import { givesToken } from '../../stack/token-sinks.ts';
import type { Context } from '../context.ts';
import type { PlanFlags } from './plan-flags.ts';

/** The run that a command is to repeat: what its command line and its environment said. */
export interface Planned {
  /** Its manifests. */
  readonly paths: readonly string[];
  readonly flags: PlanFlags;
  readonly env: Context['env'];
}

/** The command line that plans the same from the same manifests, and applies it. It can be pasted into a shell, and needs the API key only. */
export function toApplyCommand({ paths, flags, env }: Planned): CommandLine {
  const words = [
    ...paths.map(toPath),
    ...CONNECTION.flatMap((option) => listConnectionWords(option, { flags, env })),
    ...listPlanWords(flags),
    ...listConsentWords(flags),
  ];
  return toLine(words, paths);
}

/** The command line that applies a plan that was saved, with what a plan file must not say: where the key and the tokens may go. */
export function toSavedCommand(file: string, { paths, flags, env }: Planned): CommandLine {
  const words = [
    toPath(file),
    ...paths.flatMap((path) => ['--stack', toPath(path)]),
    ...CONNECTION.filter(({ isInPlan }) => !isInPlan).flatMap((option) => listConnectionWords(option, { flags, env })),
    ...listConsentWords(flags),
  ];
  return toLine(words, paths);
}

/**
 * The command line that applies a plan file of which nothing more is known than what `--stack` names; nothing when that is not enough. The file
 * itself must not say where the key and the tokens go: whoever edited it would have that pasted.
 */
export function findShownCommand(
  file: string,
  plan: Plan,
  { stack, env }: { readonly stack: readonly string[]; readonly env: Context['env'] },
): CommandLine | undefined {
  const isPlaceKnown = isEmbedded(plan.baseUrl) || (env['EDGEWISE_BASE_URL'] ?? '') !== '';
  const isEnough = isPlaceKnown && !plan.writes.some(givesToken);
  if (lacksSink(plan) || (stack.length === 0 && !isEnough)) return undefined;
  return toSavedCommand(file, { paths: stack, flags: { target: [], allowProtected: [] }, env });
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
  { name: '--version-header', flag: 'versionHeader', variable: 'EDGEWISE_VERSION_HEADER', isInPlan: true },
  { name: '--concurrency', flag: 'concurrency', variable: 'EDGEWISE_CONCURRENCY', isInPlan: true },
  { name: '--page-size', flag: 'pageSize', variable: 'EDGEWISE_PAGE_SIZE', isInPlan: true },
  { name: '--rate-limit', flag: 'rateLimit', variable: 'EDGEWISE_RATE_LIMIT', isInPlan: true },
  { name: '--connect-timeout', flag: 'connectTimeout', variable: 'EDGEWISE_CONNECT_TIMEOUT' },
  { name: '--headers-timeout', flag: 'headersTimeout', variable: 'EDGEWISE_HEADERS_TIMEOUT' },
  { name: '--body-timeout', flag: 'bodyTimeout', variable: 'EDGEWISE_BODY_TIMEOUT' },
  { name: '--request-timeout', flag: 'requestTimeout', variable: 'EDGEWISE_REQUEST_TIMEOUT' },
  { name: '--ca-file', flag: 'caFile', variable: 'EDGEWISE_CA_FILE' },
];

/** What the environment said is said by the flag: whoever pastes the command has another environment. */
function listConnectionWords(
  { name, flag, variable }: ConnectionOption,
  { flags, env }: Pick<Planned, 'flags' | 'env'>,
): readonly string[] {
  const value = flags[flag] ?? env[variable];
  return typeof value === 'string' && value !== '' ? [name, value] : [];
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
  ];
}

/** What an apply is held to and allowed besides, and where tokens go: no plan file says it. */
function listConsentWords({ tokenCommand, ...flags }: PlanFlags): readonly string[] {
  return [
    ...(flags.policies ?? []).flatMap((path) => ['--policies', toPath(path)]),
    ...(flags.allowDeletes === true ? ['--allow-deletes'] : []),
    ...flags.allowProtected.flatMap((address) => ['--allow-protected', address]),
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
