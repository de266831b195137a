import { isAbsolute, normalize } from 'node:path';
import type { Plan } from '../../model/plan.ts';
import { escapePath, quoteForShell } from '../../model/shell-words.ts';
import { toRequest } from '../../plan/asked-members.ts';
import type { CommandLine } from '../../report/report.ts';
import { findSetting, getFlagWord } from '../../settings/resolve.ts';
import { NAMED_SETTINGS } from '../../settings/table.ts';
import { readSetting } from '../../stack/settings.ts';
import type { Context } from '../context.ts';
import { detectInvocation } from '../output/invocation.ts';
import { listPlanWords, type PlanFlags } from './plan-flags.ts';
import type { StackFilterFlags } from './with-stacks.ts';

/** The run that a command line must repeat. */
interface RunToRepeat {
  /** For many stacks (`recursive`), their folder; else the manifests of one. */
  readonly paths: readonly string[];
  readonly flags: PlanFlags & StackFilterFlags & { readonly out?: string };
  readonly env: Context['env'];
  /** How edgewise was started here. Elsewhere, it is on PATH. */
  readonly invocation?: string;
}

/**
 * Formats a command line that plans again from the same manifests, and applies the plan, as approved by what `--out`
 * writes. The line can be pasted into a shell, and needs no variable but the API key. Elsewhere, a plan outside of the
 * working folder is unknown: there, the line does without it.
 */
export function createApplyCommandLine({ paths, flags, env, invocation = 'edgewise' }: RunToRepeat): CommandLine {
  const { out } = flags;
  const format = (program: string, approved: string | undefined): string => {
    const words = [
      'apply',
      ...listFilterWords(flags),
      ...paths.map(escapePath),
      ...(approved === undefined ? [] : ['--approved', escapePath(approved)]),
      ...listOfferWords({ flags, env }),
      ...listConnectionWords({ flags, env }),
      ...listPlanWords(flags),
      ...listSinkWords(flags),
    ];
    return [program, ...words.map(quoteForShell)].join(' ');
  };
  const isElsewhereToo = out !== undefined && !isAbsolute(out) && !normalize(out).startsWith('..');
  return {
    line: format(invocation, out),
    lineElsewhere: format('edgewise', isElsewhereToo ? out : undefined),
    readsInput: paths.includes('-'),
  };
}

function listFilterWords({ recursive = false, stack = [], changedSince }: StackFilterFlags): readonly string[] {
  if (!recursive) return [];
  return [
    '-R',
    ...stack.flatMap((name) => ['--stack', name]),
    ...(changedSince === undefined ? [] : ['--changed-since', changedSince]),
  ];
}

/** What stands for the manifests in the command line for a plan file: the file does not decide which are read. */
const MANIFESTS = 'MANIFESTS';

/**
 * Finds a command line that applies as a plan file approves. `undefined`: the plan needs `--rotate`
 * or `--retire`. Ignores these options, the service and the token sinks in the file, because an edited file
 * could get the user to paste them.
 */
export function findPlanFileApplyCommand(
  file: string,
  plan: Plan,
  context: Pick<Context, 'env' | 'cwd' | 'uid' | 'root'>,
): CommandLine | undefined {
  const { env } = context;
  const { rotate = [], retire = [], ...flags } = toRequest(plan);
  if (rotate.length + retire.length > 0) return undefined;
  const repeated = { ...flags, out: file };
  return createApplyCommandLine({ paths: [MANIFESTS], flags: repeated, env, invocation: detectInvocation(context) });
}

/** Lists the flags of the connection. A variable becomes a flag, because the line may be pasted elsewhere. */
function listConnectionWords({ flags, env }: Pick<RunToRepeat, 'flags' | 'env'>): readonly string[] {
  const connection = NAMED_SETTINGS.filter(({ topic }) => topic === 'connection');
  return connection.flatMap((setting) => {
    const found = findSetting(setting.name, { flags, env });
    return found === undefined ? [] : [getFlagWord(setting) ?? '', String(found.value)];
  });
}

/** Lists the flags for the variables that manifests may read and send. */
function listOfferWords({ flags, env }: Pick<RunToRepeat, 'flags' | 'env'>): readonly string[] {
  return (['env', 'secret'] as const).flatMap((setting) =>
    (readSetting(setting, { flags, env }) ?? []).flatMap((name) => [`--${setting}`, name]),
  );
}

/** Lists the flags for token sinks, which no plan file contains. */
function listSinkWords({ tokenDirectory, tokenCommand }: PlanFlags): readonly string[] {
  return [
    ...(tokenDirectory === undefined ? [] : ['--token-directory', tokenDirectory]),
    ...(tokenCommand === undefined ? [] : ['--token-command', JSON.stringify(tokenCommand)]),
  ];
}
