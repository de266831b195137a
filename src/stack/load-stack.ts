import { dirname, isAbsolute, normalize, relative, resolve, sep } from 'node:path';
import { listRootsOfPaths } from '../files/boundary.ts';
import { toBuffer } from '../files/read-input.ts';
import { createManifestEnvironment, type ManifestEnvironment, STDIN_FILE_NAME } from '../manifest/environment.ts';
import {
  isOnlyWhitespace,
  type LoadContext,
  type LoadedManifestSources,
  loadManifestsWithDiagnosticFolders,
  type ManifestBytes,
  visitManifestFiles,
} from '../manifest/load.ts';
import { type DefaultsStart, findStackFileUpward, readDefaultsUpward } from '../manifest/load-upward.ts';
import { findSkipRuleInFile, type SkipRule, skipFiles } from '../manifest/skip-files.ts';
import { hasStackDocument, mayContainDefaultsDocument, mayContainStackDocument } from '../manifest/stack-folders.ts';
import { findRenderInFile, type LocatedRenderCommand } from '../manifest/stack-render.ts';
import { listDefaultsNearestFirst } from '../manifest/stack-settings.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import {
  formatRenderCommandAndPosition,
  formatShortenedRenderCommand,
  parseRenderCommandAndPosition,
  type RenderCommandPosition,
} from '../model/stack.ts';
import type { SkippedFile } from '../model/state.ts';
import { DOCUMENT_KINDS } from '../schemas/document.ts';
import { type Host, InvalidManifests, type RenderCommand } from './host.ts';

type LoadStackContext = Pick<
  Host,
  'cwd' | 'uid' | 'root' | 'env' | 'offered' | 'readStdin' | 'render' | 'renderWith' | 'isUntrusted' | 'onInput'
> &
  Pick<LoadContext, 'budget'>;

interface LoadedStack extends LoadedManifestSources {
  /** Whether manifests are missing because a render command did not run or failed. */
  readonly isPartial: boolean;
  /** The files that `spec.skip_files` names. */
  readonly skipped: readonly SkippedFile[];
}

/**
 * Reads the manifests of a stack and its Defaults. If the Stack has `spec.render`, runs that command, or the one of
 * `renderWith`, and reads only the file of the Stack, the output of the command, and files that the user names. If standard input is among the paths, it
 * is read instead of the output, and no command runs. With `isRendered: false`, no command runs and no output is read.
 */
export async function loadStackManifestSources(
  paths: readonly string[],
  context: LoadStackContext,
  { isRendered = true }: { readonly isRendered?: boolean } = {},
): Promise<LoadedStack> {
  const env = createManifestEnvironment(context);
  const { sources: found, findings } = await loadManifestsWithDiagnosticFolders(paths, context);
  const above = readDefaultsOf(found, paths, context);
  const rule = findSkipRule([...found, ...above.sources], env);
  const { sources, skipped, diagnostics: refused } = skipFiles(found, { rule, env });
  const renders = listRenderedFolders([...sources, ...above.sources], env);
  const { isReadFile, isReadFolder } = createReadRule(paths, renders, context);
  const own = sources.filter(({ file }) => isReadFile(file));
  const replaced = sources.filter(({ file }) => !isReadFile(file));
  for (const { file } of replaced) context.onInput?.(file);
  const defaults = replaced.filter(({ bytes }) => mayContainDefaultsDocument(bytes));
  const loaded = {
    sources: [...own, ...defaults.map((source) => ({ ...source, onlyDefaults: true as const })), ...above.sources],
    diagnostics: [
      ...findings
        .filter(({ folder, link }) => isReadFolder(folder) && (link === undefined || !rule?.find(link)))
        .map(({ diagnostic }) => diagnostic),
      ...above.diagnostics,
      ...refused,
    ],
    skipped: skipped.filter(({ file }) => isReadFile(file)),
  };
  const [render, second] = renders;
  if (render === undefined || paths.includes('-')) return { ...loaded, isPartial: false };
  const command = createRenderCommand(render, context);
  // Validation reports the error if the value is not a command, or if there is a second Stack.
  if (!isRendered || command === undefined || second !== undefined) return { ...loaded, isPartial: true };
  const output = await runRender(command, render, context);
  if ('code' in output) return { ...loaded, diagnostics: [...loaded.diagnostics, output], isPartial: true };
  const file = formatRenderCommandAndPosition(command.words, createOutputSource(render));
  return { ...loaded, sources: [...loaded.sources, { file, bytes: output }], isPartial: false };
}

interface ReadRule {
  readonly isReadFile: (file: string) => boolean;
  readonly isReadFolder: (folder: string) => boolean;
}

/** In a folder that a command renders, only the file with the command and files that the user names are read. */
function createReadRule(
  paths: readonly string[],
  renders: readonly LocatedRenderCommand[],
  { cwd }: LoadStackContext,
): ReadRule {
  const named = new Set([...paths, ...renders.map(({ file }) => file), STDIN_FILE_NAME]);
  const rendered = renders.map(({ file }) => resolve(cwd, dirname(file)));
  const isReadFolder = (folder: string): boolean =>
    folder === '' || !rendered.some((one) => isIn(resolve(cwd, folder), one));
  return { isReadFolder, isReadFile: (file) => named.has(file) || isReadFolder(dirname(file)) };
}

/** Returns the rule of the Stack or, if it has none, of the nearest Defaults. */
function findSkipRule(all: readonly ManifestBytes[], env: ManifestEnvironment): SkipRule | undefined {
  return findInStackOrDefaults(all, (source, kind) => findSkipRuleInFile(source, env, kind))[0]?.found;
}

/**
 * Reads the Defaults documents that apply to the Stacks in these manifests. A Stack on standard input is treated as if
 * it were in the working folder.
 */
function readDefaultsOf(
  sources: readonly ManifestBytes[],
  paths: readonly string[],
  context: LoadStackContext,
): LoadedManifestSources {
  const stacks = sources.filter(({ bytes }) => mayContainStackDocument(bytes));
  const resolvePath = (path: string): string => resolve(context.cwd, path);
  const starts = stacks.map(({ file }): [string, DefaultsStart] => {
    const named = paths.find((path) => path !== '-' && file !== path && isIn(resolvePath(file), resolvePath(path)));
    const folder = file === STDIN_FILE_NAME ? '.' : (named ?? dirname(file));
    // All files of a folder that the user named were already read.
    return [folder, { folder, isRead: named !== undefined }];
  });
  const known = sources.map(({ file }) => file);
  return readDefaultsUpward([...new Map(starts).values()], known, { ...context, paths });
}

/**
 * Finds the render commands of the Stacks. If no Stack has one, returns the command of the nearest Defaults, to be run
 * in the folder of the Stack.
 */
function listRenderedFolders(all: readonly ManifestBytes[], env: ManifestEnvironment): readonly LocatedRenderCommand[] {
  const sources = all.filter(({ file }) => file !== STDIN_FILE_NAME);
  const found = findInStackOrDefaults(sources, (source, kind) => findRenderInFile(source, env, kind));
  return found.map((one) => ({ ...one.found, file: one.stackFile }));
}

interface FoundInStack<Found> {
  readonly found: Found;
  readonly stackFile: string;
}

/** Finds a setting in the files of the Stacks. If no Stack has it, in the nearest Defaults of the first. */
function findInStackOrDefaults<Found>(
  sources: readonly ManifestBytes[],
  find: (source: ManifestBytes, kind: 'Stack' | 'Defaults') => Found | undefined,
): readonly FoundInStack<Found>[] {
  const listFound = (kind: 'Stack' | 'Defaults'): readonly FoundInStack<Found>[] =>
    sources.flatMap((source) => {
      const found = find(source, kind);
      return found === undefined ? [] : [{ found, stackFile: source.file }];
    });
  const own = listFound('Stack');
  if (own.length > 0) return own;
  const shared = listFound('Defaults');
  const stack = shared.length === 0 ? undefined : sources.find(({ bytes }) => hasStackDocument(bytes));
  if (stack === undefined) return [];
  const [nearest] = listDefaultsNearestFirst(dirname(stack.file), shared, ({ stackFile }) => dirname(stackFile));
  return nearest === undefined ? [] : [{ found: nearest.found, stackFile: stack.file }];
}

/**
 * Returns the position of a render command if the Stack's file contains it, otherwise the start of that file. Paths in
 * the output of the command are relative to that file.
 */
function createOutputSource({ file, place }: LocatedRenderCommand): RenderCommandPosition {
  return place.file === file ? place : { file, line: 1 };
}

function isIn(folder: string, other: string): boolean {
  return folder === other || folder.startsWith(other.endsWith(sep) ? other : `${other}${sep}`);
}

/**
 * Returns the command that prints the manifests of a stack. That of the Stack runs in the folder of the Stack. That of
 * `renderWith` runs in the working folder, where its user named it. `undefined` if the command of the Stack is invalid.
 */
function createRenderCommand(
  { file, words }: LocatedRenderCommand,
  { renderWith }: LoadStackContext,
): RenderCommand | undefined {
  const folder = dirname(file);
  if (renderWith === undefined) return words === undefined ? undefined : { words, folder };
  // The name of a folder must not become an option of the program.
  return { words: [...renderWith, isAbsolute(folder) ? folder : `./${normalize(folder)}`], folder: '.' };
}

/** Runs a render command. Returns its output, or a diagnostic if the command fails or prints nothing. */
async function runRender(
  { words, folder }: RenderCommand,
  { file, place }: LocatedRenderCommand,
  { render, renderWith, isUntrusted }: LoadStackContext,
): Promise<Uint8Array | Diagnostic> {
  const command = formatShortenedRenderCommand(words);
  if (render === undefined)
    return {
      code: 'render-failed',
      severity: 'error',
      message: `${command} prints the manifests of this stack, but this run may not start it`,
      remedy: isUntrusted
        ? 'The checkout is not trusted, so name the command yourself: --render-with "kustomize build" runs kustomize with the folder of the stack. Or print the manifests in an earlier step without API keys, and give them on standard input, with `-`.'
        : `Add --render if you trust the command in ${file}. Or name the command yourself, such as --render-with "kustomize build", or give the manifests on standard input, with \`-\`.`,
      place,
    };
  const output = await render({ words, folder });
  const remedy = `Run the command yourself in ${renderWith === undefined ? `the folder of ${file}` : 'the working folder'}.`;
  if ('finding' in output)
    return {
      code: 'render-failed',
      severity: 'error',
      message: `${command} ${output.finding}`,
      remedy: `${remedy} Edgewise does not plan from incomplete manifests.`,
      place,
    };
  if (!isOnlyWhitespace(output.bytes)) return output.bytes;
  return {
    code: 'file-unreadable',
    severity: 'error',
    message: `${command} prints nothing`,
    remedy: `${remedy} Without manifests everything would be deleted.`,
    place,
  };
}

/** An error names at most this many stack folders: the nearest is usually the right one. */
const MAX_NEAREST = 3;

/**
 * Throws one error, instead of one for each file, if all files outside of stack folders belong to other tools: for
 * example, if the user names the root of a repository. Does nothing if there are several Stacks, because that is
 * another error.
 */
export function refuseOnlyFilesOfOtherTools(
  paths: readonly string[],
  sources: readonly ManifestBytes[],
  context: Host,
): void {
  const { cwd } = context;
  const resolvePath = (path: string): string => resolve(cwd, path);
  const isFound = ({ file }: ManifestBytes): boolean =>
    file !== STDIN_FILE_NAME && !paths.includes(file) && parseRenderCommandAndPosition(file) === undefined;
  const stacks = listFoldersOf(sources);
  const apart = sources
    .filter(({ bytes }) => !mayContainDefaultsDocument(bytes))
    .filter(({ file }) => !stacks.some((stack) => isIn(resolvePath(file), resolvePath(stack))));
  const [first] = apart;
  if (first === undefined || stacks.length > 1 || !apart.every((one) => isFound(one) && isOtherTool(one))) return;
  const folder = paths.find((path) => isIn(resolvePath(first.file), resolvePath(path))) ?? '.';
  const top = listRootsOfPaths([folder], context)[0] ?? resolvePath(folder);
  const distance = (stack: string): number => relative(resolvePath(folder), resolvePath(stack)).split(sep).length;
  const near = (stacks.length > 0 ? stacks : listStackFolders(relative(cwd, top) || '.', context))
    .toSorted((left, right) => distance(left) - distance(right))
    .slice(0, MAX_NEAREST);
  const files =
    apart.length === 1
      ? `its file belongs to another tool: ${first.file}`
      : `its ${apart.length} files belong to other tools, such as ${first.file}`;
  throw new InvalidManifests([
    {
      code: 'no-stack',
      severity: 'error',
      message: `${folder} is not the folder of a stack: it has no Stack document, and ${files}`,
      remedy:
        near.length === 0
          ? `Name the folder of a stack. edgewise init writes a new one.`
          : `Name the folder of a stack. The nearest: ${near.join(', ')}.`,
    },
  ]);
}

/**
 * Returns the error about a missing Stack. If one of the paths is a part of a stack, such as a file beside its Stack, the
 * remedy names the folder of that stack instead of a document to add.
 */
export function nameStackAround(missing: Diagnostic, paths: readonly string[], context: Host): Diagnostic {
  for (const path of paths) {
    if (path === '-') continue;
    const file = findStackFileUpward(path, context);
    if (file === undefined) continue;
    return {
      ...missing,
      remedy: `Name the folder of the stack, ${dirname(file)}, instead of ${path}: its Stack is in ${file}. A part of a stack is not planned alone, because the rest would be deleted.`,
    };
  }
  return missing;
}

function listFoldersOf(sources: readonly ManifestBytes[]): readonly string[] {
  const stacks = sources.filter(({ file, bytes }) => file !== STDIN_FILE_NAME && mayContainStackDocument(bytes));
  return [...new Set(stacks.map(({ file }) => dirname(file)))];
}

function listStackFolders(top: string, { cwd, uid, root, budget }: Host): readonly string[] {
  const found: ManifestBytes[] = [];
  visitManifestFiles(top, { cwd, uid, root, budget }, (manifest) => {
    if (mayContainStackDocument(manifest.bytes)) found.push(manifest);
  });
  return listFoldersOf(found);
}

/** Whether a file mentions neither edgewise nor one of its kinds. */
function isOtherTool({ bytes }: ManifestBytes): boolean {
  const text = toBuffer(bytes).toString('utf8');
  return !text.includes('edgewise/') && !DOCUMENT_KINDS.some((kind) => kind !== 'List' && text.includes(kind));
}
