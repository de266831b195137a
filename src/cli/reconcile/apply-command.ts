import type { PlanFlags } from './make-plan.ts';

/** The command line that plans the same from the same manifests, and applies it. It can be pasted into a shell. */
export function toApplyCommand(paths: readonly string[], flags: PlanFlags): string {
  return ['edgewise', 'apply', ...paths.map(toPath), ...listConnectionWords(flags), ...listPlanWords(flags)]
    .map(quote)
    .join(' ');
}

/** The command line that applies a saved plan. */
export function toSavedCommand(file: string): string {
  return `edgewise apply ${quote(toPath(file))}`;
}

function listConnectionWords(flags: PlanFlags): readonly string[] {
  return [
    ...listOption('--base-url', flags.baseUrl),
    ...listOption('--version-header', flags.versionHeader),
    ...listOption('--concurrency', flags.concurrency),
    ...listOption('--page-size', flags.pageSize),
    ...listOption('--rate-limit', flags.rateLimit),
    ...listOption('--connect-timeout', flags.connectTimeout),
    ...listOption('--headers-timeout', flags.headersTimeout),
    ...listOption('--body-timeout', flags.bodyTimeout),
    ...listOption('--request-timeout', flags.requestTimeout),
    ...listOption('--ca-file', flags.caFile),
  ];
}

function listPlanWords(flags: PlanFlags): readonly string[] {
  const { tokenCommand } = flags;
  return [
    ...flags.target.flatMap((address) => ['--target', address]),
    ...(flags.rotate ?? []).flatMap((address) => ['--rotate', address]),
    ...(flags.takeOver ?? []).flatMap((stack) => ['--take-over', stack]),
    ...(flags.delete === false ? ['--no-delete'] : []),
    ...(flags.revertDrift === false ? ['--no-revert-drift'] : []),
    ...(flags.allowDeletes === true ? ['--allow-deletes'] : []),
    ...flags.allowProtected.flatMap((address) => ['--allow-protected', address]),
    ...listOption('--token-directory', flags.tokenDirectory),
    ...listOption('--token-command', tokenCommand === undefined ? undefined : JSON.stringify(tokenCommand)),
  ];
}

function listOption(name: string, value: string | number | undefined): readonly string[] {
  return value === undefined ? [] : [name, String(value)];
}

/** A path that looks like an option would be taken for one. */
function toPath(path: string): string {
  return path.startsWith('-') && path !== '-' ? `./${path}` : path;
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
