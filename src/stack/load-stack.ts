import { dirname, relative, resolve, sep } from 'node:path';
import { listRootsOfPaths } from '../files/boundary.ts';
import { toBuffer } from '../files/read-input.ts';
import { findStats } from '../files/real-path.ts';
import { createManifestEnvironment, type ManifestEnvironment, STDIN_FILE_NAME } from '../manifest/environment.ts';
import {
  type LoadContext,
  type LoadedSources,
  loadManifestsWithFindings,
  visitManifestFiles,
} from '../manifest/load.ts';
import { type DefaultsStart, findStackFileUpward, readDefaultsUpward } from '../manifest/load-upward.ts';
import { findSkipRuleInFile, type SkipPatternInFolder, type SkipRule, skipFiles } from '../manifest/skip-files.ts';
import type { Source } from '../manifest/source.ts';
import {
  createStackFileFilter,
  hasStackDocument,
  mayContainDefaultsDocument,
  mayContainStackDocument,
} from '../manifest/stack-folders.ts';
import { listDefaultsNearestFirst } from '../manifest/stack-settings.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { SkippedFile } from '../model/state.ts';
import { InvalidManifests } from '../model/user-errors.ts';
import { DOCUMENT_KINDS } from '../schemas/document.ts';
import type { Host } from './host.ts';

type LoadStackContext = Pick<Host, 'cwd' | 'uid' | 'root' | 'env' | 'offered' | 'offeredSecrets' | 'readStdin'> &
  Pick<LoadContext, 'budget' | 'files'>;

interface LoadedStack extends LoadedSources {
  /** The files that `spec.skip_files` names. */
  readonly skipped: readonly SkippedFile[];
  /** The patterns of the Stack in `spec.skip_files`. */
  readonly ownSkipPatterns: readonly SkipPatternInFolder[];
}

/**
 * Reads the manifests of a stack and its Defaults, without the files that `spec.skip_files` names. `planned`: manifests
 * that are about to be written below the path, which need not exist then.
 */
export async function loadStackManifestSources(
  paths: readonly string[],
  context: LoadStackContext,
  planned: readonly Source[] = [],
): Promise<LoadedStack> {
  const env = createManifestEnvironment(context);
  const { sources: named, findings } =
    planned.length === 0 ? await loadManifestsWithFindings(paths, context) : loadWithPlanned(paths, context, planned);
  const above = readDefaultsOf(named, paths, context);
  const rule = findSkipRule([...named, ...above.sources], env);
  const { sources, skipped, diagnostics: refused } = skipFiles(named, { rule, env });
  return {
    sources: [...sources, ...above.sources],
    diagnostics: [
      ...findings.filter(({ link }) => link === undefined || !rule?.find(link)).map(({ diagnostic }) => diagnostic),
      ...above.diagnostics,
      ...refused,
    ],
    skipped,
    ownSkipPatterns: rule?.own ?? [],
  };
}

/** Reads what is in the folder of planned manifests, if it exists. A planned Stack makes the stacks below others. */
function loadWithPlanned(
  [folder = '.']: readonly string[],
  context: LoadStackContext,
  planned: readonly Source[],
): Awaited<ReturnType<typeof loadManifestsWithFindings>> {
  const sources = planned.map((source) => ({ ...source, folder }));
  const isThere = findStats(resolve(context.cwd, folder)) !== undefined;
  const findings = isThere ? visitManifestFiles(folder, context, (found) => sources.push(found)) : [];
  return { sources: sources.filter(createStackFileFilter(folder, sources)), findings };
}

/** Returns the rule of the Stack or, if it has none, of the nearest Defaults. */
function findSkipRule(sources: readonly Source[], env: ManifestEnvironment): SkipRule | undefined {
  const listRules = (kind: 'Stack' | 'Defaults'): readonly { readonly rule: SkipRule; readonly folder: string }[] =>
    sources.flatMap((source) => {
      const rule = findSkipRuleInFile(source, env, kind);
      return rule === undefined ? [] : [{ rule, folder: dirname(source.file) }];
    });
  const [own] = listRules('Stack');
  if (own !== undefined) return own.rule;
  const shared = listRules('Defaults');
  const stack = shared.length === 0 ? undefined : sources.find(hasStackDocument);
  if (stack === undefined) return undefined;
  return listDefaultsNearestFirst(dirname(stack.file), shared, ({ folder }) => folder)[0]?.rule;
}

/**
 * Reads the Defaults documents that apply to the Stacks in these manifests. A Stack on standard input is treated as if
 * it were in the working folder.
 */
function readDefaultsOf(
  sources: readonly Source[],
  paths: readonly string[],
  context: LoadStackContext,
): LoadedSources {
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

function isIn(folder: string, other: string): boolean {
  return folder === other || folder.startsWith(other.endsWith(sep) ? other : `${other}${sep}`);
}

/** An error names at most this many stack folders: the nearest is usually the right one. */
const MAX_NEAREST = 3;

/**
 * Throws one error, instead of one for each file, if all files outside of stack folders belong to other tools: for
 * example, if the user names the root of a repository. Does nothing if there are several Stacks, because that is
 * another error.
 */
export function refuseOnlyFilesOfOtherTools(paths: readonly string[], sources: readonly Source[], context: Host): void {
  const { cwd } = context;
  const resolvePath = (path: string): string => resolve(cwd, path);
  const isFound = ({ file }: Source): boolean => file !== STDIN_FILE_NAME && !paths.includes(file);
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

function listFoldersOf(sources: readonly Source[]): readonly string[] {
  const stacks = sources.filter(({ file, bytes }) => file !== STDIN_FILE_NAME && mayContainStackDocument(bytes));
  return [...new Set(stacks.map(({ file }) => dirname(file)))];
}

function listStackFolders(top: string, { cwd, uid, root, budget, files }: Host): readonly string[] {
  const folders = new Set<string>();
  visitManifestFiles(top, { cwd, uid, root, budget, files }, ({ file, bytes }) => {
    if (mayContainStackDocument(bytes)) folders.add(dirname(file));
  });
  return [...folders];
}

/** Whether a file mentions neither edgewise nor one of its kinds. */
function isOtherTool({ bytes }: Source): boolean {
  const text = toBuffer(bytes).toString('utf8');
  return !text.includes('edgewise/') && !DOCUMENT_KINDS.some((kind) => kind !== 'List' && text.includes(kind));
}
