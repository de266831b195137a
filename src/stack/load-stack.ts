import { dirname, resolve, sep } from 'node:path';
import { STDIN } from '../manifest/field-files.ts';
import { isBlank, type LoadedManifests, loadLocated, type WatchedLoad } from '../manifest/load.ts';
import { findStackRender, type StackRender } from '../manifest/stack-render.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { toCommandName, toOutputName } from '../model/source-name.ts';
import type { Surroundings } from './surroundings.ts';

/** What loading the manifests of a stack needs of the process. */
export type LoadStackContext = Pick<Surroundings, 'cwd' | 'env' | 'readStdin' | 'render' | 'onInput'> &
  Pick<WatchedLoad, 'onRead'>;

/** Manifests, and whether they are all that there are. */
export interface LoadedStack extends LoadedManifests {
  /** A command would print the others. */
  readonly isPartial: boolean;
}

/**
 * Reads manifests; those of a stack with `spec.render` are what its command prints, and the file of the Stack. Files below its folder are read only where they
 * are named one by one. Standard input among the paths takes the place of the command. Without `isRendered`, no command is run and none is missed.
 */
export async function loadStack(
  paths: readonly string[],
  context: LoadStackContext,
  { isRendered = true }: { readonly isRendered?: boolean } = {},
): Promise<LoadedStack> {
  const { sources, faults } = await loadLocated(paths, context);
  const renders = sources.flatMap((source) =>
    source.file === STDIN ? [] : (findStackRender(source, context.env) ?? []),
  );
  const named = new Set([...paths, ...renders.map(({ file }) => file)]);
  const folders = renders.map(({ file }) => resolve(context.cwd, dirname(file)));
  const isOwn = (folder: string): boolean => !folders.some((one) => isIn(resolve(context.cwd, folder), one));
  const isRead = (file: string): boolean => file === STDIN || named.has(file) || isOwn(dirname(file));
  for (const { file } of sources) if (!isRead(file)) context.onInput?.(file);
  const own = sources.filter(({ file }) => isRead(file));
  const diagnostics = faults.filter(({ folder }) => folder === '' || isOwn(folder)).map(({ diagnostic }) => diagnostic);
  const [render, second] = renders;
  if (render === undefined || paths.includes('-')) return { sources: own, diagnostics, isPartial: false };
  const { words, place } = render;
  // What is no command, and a second Stack, is told by validation.
  if (!isRendered || words === undefined || second !== undefined) return { sources: own, diagnostics, isPartial: true };
  const output = await runRender({ ...render, words }, context);
  if ('code' in output) return { sources: own, diagnostics: [...diagnostics, output], isPartial: true };
  return { sources: [...own, { file: toOutputName(words, place), bytes: output }], diagnostics, isPartial: false };
}

function isIn(folder: string, other: string): boolean {
  return folder === other || folder.startsWith(other.endsWith(sep) ? other : `${other}${sep}`);
}

/** What the command prints, or why there is nothing. */
async function runRender(
  { file, words, place }: StackRender & { readonly words: readonly string[] },
  { render }: LoadStackContext,
): Promise<Uint8Array | Diagnostic> {
  const command = toCommandName(words);
  if (render === undefined)
    return {
      code: 'render-not-allowed',
      severity: 'error',
      message: `${command} makes the manifests of this stack, and this run may not start it`,
      remedy: `Add --render if you trust what ${file} has run, or print the manifests yourself and give them on standard input, with \`-\`.`,
      place,
    };
  const output = await render({ words, folder: dirname(file) });
  if ('fault' in output)
    return {
      code: 'render-failed',
      severity: 'error',
      message: `${command} ${output.fault}`,
      remedy: `Run the command yourself in the folder of ${file}. Nothing is planned from a part of the manifests.`,
      place,
    };
  if (!isBlank(output.bytes)) return output.bytes;
  const remedy = `Run the command yourself in the folder of ${file}. Without manifests everything would be deleted.`;
  return { code: 'no-manifests', severity: 'error', message: `${command} prints nothing`, remedy, place };
}
