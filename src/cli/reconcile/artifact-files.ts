import { dirname, resolve } from 'node:path';
import { isBelow, listCheckouts } from '../../files/boundary.ts';
import { findStats, resolveEachLink, resolveLinks } from '../../files/real-path.ts';
import type { TokenSettings } from '../../model/stack.ts';
import { StackError } from '../../model/user-errors.ts';
import { findProgram, SYSTEM } from '../../programs/find-program.ts';
import { isEmbedded, parseEmbeddedDataFile } from '../../settings/base-url.ts';
import { readSetting } from '../../stack/settings.ts';
import type { Context } from '../context.ts';
import { KEY_FILE_VARIABLE } from '../output/output-files.ts';
import type { PlanFlags } from './plan-flags.ts';

/**
 * An approved plan often comes with an artifact, and who can edit that can add files to it. A plan approves and brings
 * nothing: a file in its folder is neither read nor run, unless the user chose the folder for that, too.
 */

/** The command line of an apply. */
interface ApplyCommandLine {
  readonly paths: readonly string[];
  readonly flags: Pick<PlanFlags, 'policies' | 'tokenCommand'> & {
    readonly recursive?: boolean;
    readonly approved?: string;
  };
}

/**
 * Returns a context whose `onInput` throws a `StackError` for each file that came with the approved plans. It ends the
 * whole run, also if only one stack uses the file.
 */
export function withoutArtifactFiles(line: ApplyCommandLine, context: Context): Context {
  const { approved, recursive } = line.flags;
  if (approved === undefined) return context;
  const { cwd } = context;
  const folder = recursive === true ? approved : dirname(approved);
  const file = resolveLinks(resolve(cwd, approved));
  const guarded = [...listSpellings(folder, cwd), recursive === true ? file : dirname(file)];
  const chosen = listChosenPaths(line, context).flatMap((path) => listSpellings(path, cwd, { isWhole: false }));
  if (guarded.some((one) => chosen.some((path) => isBelow(path, one)))) return context;
  let refusal: StackError | undefined;
  const onInput = (input: string): void => {
    const steps = input === '-' ? [] : listSteps(resolve(cwd, input));
    if (steps.some((step) => guarded.some((one) => isBelow(step, one)))) {
      refusal ??= createError(input, folder);
      throw refusal;
    }
    context.onInput?.(input);
  };
  return { ...context, onInput, endsRun: (error) => error === refusal };
}

/**
 * The absolute forms of a path. `isWhole: false`: the links on the path itself are not followed, only those to the working
 * folder, because a link can lead from a path that the user chose to one that the artifact brought.
 */
function listSpellings(path: string, cwd: string, { isWhole = true } = {}): readonly string[] {
  return [resolve(cwd, path), isWhole ? resolveLinks(resolve(cwd, path)) : resolve(resolveLinks(cwd), path)];
}

/** Lists what decides the content of a file: its path, each link on the way, and its real path. */
function listSteps(path: string): readonly string[] {
  const links: string[] = [];
  const real = resolveEachLink(path, { onLink: (link) => links.push(link) });
  return [path, ...links, ...(real === undefined ? [] : [real])];
}

/** Lists the paths that the user chose to be read or run. */
function listChosenPaths({ paths, flags }: ApplyCommandLine, { cwd, env, root }: Context): readonly string[] {
  const sources = { flags, env };
  const [baseUrl = '', caFile] = [readSetting('baseUrl', sources), readSetting('caFile', sources)];
  return [
    cwd,
    ...paths.filter((path) => path !== '-'),
    ...(flags.policies ?? []),
    // A command of a flag. Only a word with a folder names a file.
    ...(flags.tokenCommand ?? []).filter((word) => word.includes('/')),
    ...Object.entries(env).flatMap(([name, file]) => (KEY_FILE_VARIABLE.test(name) ? [file] : [])),
    ...[root, caFile, isEmbedded(baseUrl) ? parseEmbeddedDataFile(baseUrl) : undefined],
  ].filter((path): path is string => path !== undefined && path !== '');
}

function createError(file: string, folder: string): StackError {
  return new StackError(`${file} is in ${folder}, the folder of the approved plan, and would be used.`, {
    reason: 'invalid',
    remedy:
      'A plan approves, and brings no files. Unpack it into a new folder outside of the checkout, and name the manifests of the checkout. Nothing was written.',
  });
}

/** Reports the files of token commands to `onInput`: programs, and arguments that name files, such as scripts. */
export function noteTokenCommands(
  { default: all, credentials }: TokenSettings,
  {
    cwd,
    env,
    root,
    namedPaths,
    onInput = () => undefined,
  }: Pick<Context, 'cwd' | 'env' | 'root' | 'namedPaths' | 'onInput'>,
): void {
  for (const sink of [all, ...Object.values(credentials)]) {
    if (sink === undefined || !('command' in sink)) continue;
    const folder = resolve(cwd, sink.folder ?? '');
    const checkouts = listCheckouts([folder, cwd], { cwd, root, env, namedPaths });
    for (const [program = '', ...words] of [sink.command, sink.test ?? []]) {
      const file = program === '' ? undefined : findProgram(program, { cwd: folder, env, checkouts }, SYSTEM);
      for (const word of [...(file === undefined ? [] : [file]), program, ...words])
        if (word.includes('/') || findStats(resolve(folder, word)) !== undefined) onInput(resolve(folder, word));
    }
  }
}
