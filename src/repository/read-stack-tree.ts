import { basename, dirname, relative, resolve } from 'node:path';
import { createManifestEnvironment, NO_ENVIRONMENT } from '../manifest/environment.ts';
import { isApiVersionOfOthers, isDocumentOfOthers, mayBeOwnDocument } from '../manifest/foreign.ts';
import { visitManifestFiles } from '../manifest/load.ts';
import { readDefaultsUpward } from '../manifest/load-upward.ts';
import { compileSkipPatterns } from '../manifest/skip-files.ts';
import {
  type FoundManifest,
  isOfOwnKind,
  listReadableDocuments,
  mayContainDefaultsDocument,
  mayContainStackDocument,
  parseReadableFileDocuments,
  type ReadableFileDocuments,
} from '../manifest/stack-folders.ts';
import { listDefaultsNearestFirst, readFormerNames } from '../manifest/stack-settings.ts';
import { createUnreadDiagnostic } from '../manifest/unread-files.ts';
import { type Address, isResourceName, toAddress } from '../model/address.ts';
import { KEY_VARIABLE } from '../model/api-key.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import {
  createNearestFolderSearch,
  type StackFolder,
  type StackTree,
  type TakenOverResource,
} from '../model/stack-tree.ts';
import { InvalidManifests } from '../model/user-errors.ts';
import { normalizeUrl } from '../settings/base-url.ts';
import { findSetting } from '../settings/resolve.ts';
import type { SettingName } from '../settings/table.ts';
import { toServiceId } from '../stack/account-key.ts';
import type { Host } from '../stack/host.ts';

/**
 * Finds the stacks in a tree of folders. Reads each file once and keeps no content: a stack's manifests are read again
 * when the stack is planned. Reports only errors that concern the whole tree.
 */

type FindContext = Pick<Host, 'cwd' | 'uid' | 'env' | 'offered' | 'offeredSecrets' | 'root' | 'budget' | 'files'> &
  GivenConnection & {
    /** Whether to count what looks like a manifest in the folder of no stack, and is not read. */
    readonly countsUnread?: boolean | undefined;
  };

/** What flags set for all stacks, in place of what their manifests say. */
export type GivenConnection = Pick<StackFolder, 'baseUrl' | 'keyEnv'>;

export function readStackTree(root: string, context: FindContext): StackTree {
  const all: FoundFile[] = [];
  const passedOver: NonNullable<Parameters<typeof visitManifestFiles>[1]['passedOver']> = [];
  const seen = new Set<string>();
  const walk = context.countsUnread === true ? { ...context, passedOver, seen } : context;
  const findings = visitManifestFiles(root, walk, (manifest) => all.push(inspectFile(manifest, context)));
  const known = all.map(({ file }) => file);
  const defaults = [...all.flatMap((file) => file.defaults), ...readDefaultsAbove(root, context, known)];
  const files = withoutSkippedFiles(all, defaults);
  const own = indexStackFiles(files);
  const findStackFolder = createNearestFolderSearch(own.keys());
  const members = Map.groupBy(files, (file) => findStackFolder(file.folder));
  const unreadable = Map.groupBy(findings, (finding) => findStackFolder(finding.folder));
  const stacks = [...own].map(([folder, file]) =>
    createStackFolder({ folder, file, defaults, members: members.get(folder) ?? [] }, context),
  );
  const outside = members.get(undefined) ?? [];
  // What is in the folder of a stack is counted when that stack is read. Packages have examples.
  const isOutside = ({ folder, shown }: (typeof passedOver)[number]): boolean =>
    findStackFolder(folder) === undefined && basename(shown) !== 'node_modules';
  const unread = createUnreadDiagnostic(passedOver.filter(isOutside), seen);
  return {
    root,
    stacks,
    filesWithoutStack: outside.filter(({ standsApart }) => !standsApart).map(({ file }) => file),
    strays: outside.filter(({ takes }) => takes.length > 0),
    unread: files.filter(({ isUnread }) => isUnread).map(({ file }) => file),
    // Unreadable files in the folder of a stack are not reported here, but when that stack is read.
    diagnostics: [
      ...(unreadable.get(undefined) ?? []).map(({ diagnostic }) => diagnostic),
      ...listDuplicateStacks(stacks),
      ...(unread === undefined ? [] : [unread]),
    ],
  };
}

/** Reads the stacks around those of a run. What is read does not count for the limits of the run. `folder`: absolute. */
export function readTreeAround(folder: string, connection: GivenConnection, host: Host): StackTree {
  const { baseUrl, keyEnv } = connection;
  return readStackTree(relative(host.cwd, folder) || '.', { ...host, budget: undefined, baseUrl, keyEnv });
}

/** Maps the folder of each stack to the file with its `Stack`. */
function indexStackFiles(files: readonly FoundFile[]): ReadonlyMap<string, FoundFile> {
  const own = new Map<string, FoundFile>();
  for (const file of files) if (file.stack !== undefined && !own.has(file.folder)) own.set(file.folder, file);
  return own;
}

/** Leaves out what `spec.skip_files` of a stack or of Defaults names. A file of edgewise stays, so that it is reported. */
function withoutSkippedFiles(files: readonly FoundFile[], defaults: readonly FoundDefaults[]): readonly FoundFile[] {
  const layered = [...files.map(({ stack }) => toMapping(stack?.['spec'])), ...defaults.map(({ spec }) => spec)];
  if (!layered.some((spec) => 'skip_files' in spec)) return files;
  const stacks = indexStackFiles(files);
  const findStackFolder = createNearestFolderSearch(stacks.keys());
  const compiled = new Map<string, (file: string) => number | undefined>();
  return files.filter(({ file, folder, hasOwnDocument }) => {
    const own = findStackFolder(folder);
    const stack = own === undefined ? undefined : stacks.get(own)?.stack;
    const layers = [
      ...(own === undefined ? [] : [{ folder: own, spec: toMapping(stack?.['spec']) }]),
      ...listDefaultsOf(own ?? folder, defaults),
    ];
    const { value, layer } = findSetting('skipFiles', { layers }) ?? {};
    if (hasOwnDocument || layer === undefined) return true;
    const key = JSON.stringify([layer.folder, value]);
    const find = compiled.get(key) ?? compileSkipPatterns(listTexts(value), layer.folder);
    compiled.set(key, find);
    return find(file) === undefined;
  });
}

/**
 * Reads the `Defaults` documents in a folder and above it, nearest first. Skips the files in `known`. Throws if it finds
 * Defaults of another user. Other errors are not reported here, but when a stack is read.
 */
export function readDefaultsAbove(
  folder: string,
  context: Pick<Host, 'cwd' | 'uid' | 'env' | 'offered' | 'offeredSecrets' | 'root' | 'files'>,
  known: readonly string[] = [],
): readonly FoundDefaults[] {
  const { cwd, uid, root, files } = context;
  const start = { folder, isRead: false };
  const { sources, diagnostics } = readDefaultsUpward([start], known, { cwd, uid, root, files, paths: [folder] });
  const refused = diagnostics.filter(({ code }) => code === 'path-refused');
  if (refused.length > 0) throw new InvalidManifests(refused);
  const env = createManifestEnvironment(context);
  return sources.flatMap((source) => listFoundDefaults(source, listReadableDocuments(source, env)));
}

function listFoundDefaults(
  { file, bytes }: Pick<FoundManifest, 'file' | 'bytes'>,
  documents: readonly JsonObject[],
): readonly FoundDefaults[] {
  const isFoundUpward = mayContainDefaultsDocument(bytes);
  const defaults = documents.filter((document) => isOfOwnKind(document, 'Defaults'));
  return defaults.map(({ spec }) => ({ file, folder: dirname(file), spec: toMapping(spec), isFoundUpward }));
}

/**
 * Maps the names of the stacks below a folder to their folders, for completion on the command line. Checks nothing.
 * Stops reading when `isLate` returns true.
 */
export function indexStackNames(
  root: string,
  { cwd, uid }: Pick<FindContext, 'cwd' | 'uid'>,
  isLate: () => boolean,
): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  visitManifestFiles(root, { cwd, uid, isDone: isLate }, ({ folder, yaml }) => {
    for (const { kind, metadata } of listReadableDocuments({ yaml }, NO_ENVIRONMENT)) {
      const { name } = toMapping(metadata);
      if (kind === 'Stack' && typeof name === 'string' && isResourceName(name)) names.set(name, folder);
    }
  });
  return names;
}

/** The facts about a manifest file that are needed to find stacks. */
interface FoundFile extends StackDependencies {
  readonly file: string;
  readonly folder: string;
  /** The first `Stack` document of the file. `undefined` if the file has none. */
  readonly stack: JsonObject | undefined;
  readonly defaults: readonly FoundDefaults[];
  /**
   * Whether the file contains only policies, tests of policies or `Defaults`. Such a file need not belong to a stack.
   */
  readonly standsApart: boolean;
  /** Whether the file seems to contain a `Stack` that has no valid name. */
  readonly isUnread: boolean;
  /** Whether the file has a document that is, or may be, one of edgewise. */
  readonly hasOwnDocument: boolean;
}

/** A `Defaults` document: settings for every stack in its folder and below it. */
export interface FoundDefaults extends FoundLayer {
  readonly file: string;
  /** Whether a search upward finds the document. If its text hides the kind, it counts only for a stack in its folder. */
  readonly isFoundUpward: boolean;
}

/** Lists the Defaults that a stack in a folder has when it is read, nearest first. */
function listDefaultsOf(folder: string, defaults: readonly FoundDefaults[]): readonly FoundDefaults[] {
  const used = defaults.filter((one) => one.isFoundUpward || one.folder === folder);
  return listDefaultsNearestFirst(folder, used, (one) => one.folder);
}

/** The settings in a `Stack` or `Defaults` document, and the folder of the document. */
interface FoundLayer {
  readonly folder: string;
  readonly spec: JsonObject;
}

function inspectFile({ file, folder, bytes, yaml }: FoundManifest, context: FindContext): FoundFile {
  const raw = parseReadableFileDocuments({ yaml }, createManifestEnvironment(context));
  const { documents } = raw;
  const isApart = (document: JsonObject): boolean =>
    KINDS_APART.includes(String(document['kind'])) || isDocumentOfOthers(document);
  const standsApart = documents.length > 0 && !raw.isBroken && documents.every(isApart);
  const stack = documents.find((document) => isOfOwnKind(document, 'Stack'));
  const defaults = listFoundDefaults({ file, bytes }, documents);
  const hasOwnDocument = documents.some(mayBeOwnDocument);
  const isOfOthers =
    !raw.isBroken && !hasOwnDocument && documents.every(({ apiVersion }) => isApiVersionOfOthers(apiVersion));
  const isUnread = mayContainStackDocument(bytes) && !hasReadableName(stack) && !isOfOthers;
  return { file, folder, stack, defaults, standsApart, isUnread, hasOwnDocument, ...collectDependencies(raw) };
}

/** Whether a `Stack` has a valid name, or one that variables decide. */
function hasReadableName(stack: JsonObject | undefined): boolean {
  const { name } = toMapping(stack?.['metadata']);
  return typeof name === 'string' && (isResourceName(name) || name.includes('${'));
}

const KINDS_APART = ['Policy', 'PolicyTest', 'Defaults'];

/** The references of manifests to other stacks. */
type StackDependencies = Pick<StackFolder, 'dependsOn' | 'takes' | 'describes' | 'adopts'>;

/** Lists the references to other stacks in a file. A file that is not valid YAML takes over nothing. */
function collectDependencies({ documents, isBroken }: ReadableFileDocuments): StackDependencies {
  const dependsOn = documents.flatMap(({ kind, spec }) => {
    const stack = kind === 'External' ? toMapping(spec)['stack'] : undefined;
    return typeof stack === 'string' ? [stack] : [];
  });
  const describes = new Set(documents.flatMap(findDescribedAddress));
  const adopts = new Map(documents.flatMap(findAdopted));
  return { dependsOn, takes: isBroken ? [] : documents.flatMap(listTakes), describes, adopts };
}

function mergeDependencies(all: readonly StackDependencies[]): StackDependencies {
  return {
    dependsOn: [...new Set(all.flatMap(({ dependsOn }) => dependsOn))].sort(),
    takes: all.flatMap(({ takes }) => takes),
    describes: new Set(all.flatMap(({ describes }) => [...describes])),
    adopts: new Map(all.flatMap(({ adopts }) => [...adopts])),
  };
}

function findDescribedAddress({ kind, metadata }: JsonObject): readonly string[] {
  const { name } = toMapping(metadata);
  return typeof kind === 'string' && typeof name === 'string' ? [toAddress(kind, name)] : [];
}

function findAdopted({ kind, metadata, lifecycle }: JsonObject): readonly (readonly [string, Address])[] {
  const { name } = toMapping(metadata);
  const { adopt } = toMapping(lifecycle);
  const isNamed = typeof kind === 'string' && typeof name === 'string';
  return isNamed && typeof adopt === 'string' ? [[adopt, toAddress(kind, name)]] : [];
}

function listTakes({ kind, metadata, lifecycle }: JsonObject): readonly TakenOverResource[] {
  const { stack, name } = toMapping(toMapping(lifecycle)['renamed_from']);
  if (typeof kind !== 'string' || typeof stack !== 'string' || typeof name !== 'string') return [];
  const { name: own } = toMapping(metadata);
  const as: Address = toAddress(kind, typeof own === 'string' ? own : '');
  return [{ stack, resource: toAddress(kind, name), as }];
}

interface Members {
  readonly folder: string;
  /** The file with the `Stack` document. */
  readonly file: FoundFile;
  readonly members: readonly StackDependencies[];
  /** All `Defaults` documents in the tree and above its root. */
  readonly defaults: readonly FoundDefaults[];
}

function createStackFolder(
  { folder, file, members, defaults }: Members,
  { env, cwd, baseUrl, keyEnv }: FindContext,
): StackFolder {
  const { metadata, spec } = file.stack ?? {};
  const { name } = toMapping(metadata);
  const layers = [{ folder, spec: toMapping(spec) }, ...listDefaultsOf(folder, defaults)];
  const find = (setting: SettingName) => findSetting(setting, { flags: { baseUrl, keyEnv }, env, layers })?.value;
  const [url, key] = [find('baseUrl'), find('keyEnv')];
  return {
    name: typeof name === 'string' ? name : '',
    folder,
    file: file.file,
    ...(typeof url === 'string' && { baseUrl: normalizeUrl(url), serviceId: toServiceId(url, { cwd }) }),
    ...(typeof key === 'string' && key !== KEY_VARIABLE && { keyEnv: key }),
    inputs: listPathsBelow('inputs', folder, { layers, cwd }),
    policies: listPathsBelow('policies', folder, { layers, cwd }),
    formerNames: readFormerNames(file.stack ?? {}) ?? [],
    ...mergeDependencies(members),
  };
}

function toMapping(value: Json | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}

function listTexts(value: unknown): readonly string[] {
  return isJsonArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

/** Returns the paths in a setting, relative to the stack's folder. Uses only the nearest document with the setting. */
function listPathsBelow(
  setting: 'inputs' | 'policies',
  folder: string,
  { layers, cwd }: { readonly layers: readonly FoundLayer[]; readonly cwd: string },
): readonly string[] {
  const { value, layer } = findSetting(setting, { layers }) ?? {};
  if (layer === undefined) return [];
  return listTexts(value).map((path) => relative(resolve(cwd, folder), resolve(cwd, layer.folder, path)));
}

/**
 * Reports stacks with the same name at the same service. Such stacks have the same mark, so each would delete the
 * resources of the other.
 */
function listDuplicateStacks(stacks: readonly StackFolder[]): readonly Diagnostic[] {
  const named = stacks.filter(({ name }) => name !== '');
  const groups = Map.groupBy(named, ({ name, serviceId = '' }) => JSON.stringify([name, serviceId]));
  return [...groups.values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : others.map((other) => createDuplicateStackError(first, other)),
  );
}

/** The error of two stacks with one name. */
export function createDuplicateStackError(first: StackFolder, second: StackFolder): Diagnostic {
  const at = second.baseUrl === undefined ? '' : ` at ${second.baseUrl}`;
  return {
    code: 'duplicate-stack',
    severity: 'error',
    message: `${first.file} and ${second.file} both define a stack ${second.name}${at}, so each would delete what the other creates`,
    remedy:
      'Give one of them another name. The name is part of the mark on every resource. If a tool renders one from the other, name the rendered folder, with -R.',
  };
}
