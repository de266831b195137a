import { isUtf8 } from 'node:buffer';
import { type Dirent, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import {
  BOUNDARY_REMEDY,
  type BoundaryResult,
  checkCommandLinePath,
  checkPathDepth,
  listRootsOfPaths,
  resolvePathWithin,
} from '../files/boundary.ts';
import {
  createReadBudget,
  describeFileError,
  isFileError,
  isOverBudget,
  type ReadBudget,
  readInput,
  toBuffer,
  UNREADABLE_FILE_REMEDY,
} from '../files/read-input.ts';
import { findKind } from '../kinds/tables/registry.ts';
import { type Address, isResourceName, toAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { checkJsonLimits, isJsonArray, isJsonObject, type Json, type JsonObject, parseJson } from '../model/json.ts';
import { showUnicodeForms, toPrintable } from '../model/printable.ts';
import { createYamlBudget } from './bounded-yaml.ts';
import { joinToManifestFolder, NO_ENVIRONMENT, type ReadFieldFile, STDIN_FILE_NAME } from './environment.ts';
import { parseDocuments } from './parse.ts';
import { createSourceContent, type ManifestBytes, type Source } from './source.ts';
import { createSourceFiles, type SourceFiles } from './source-files.ts';
import { createStackFileFilter, expandListDocument, type FoundManifest } from './stack-folders.ts';
import { suggest } from './suggest.ts';
import type { Path } from './unread-files.ts';
import { createUnreadDiagnostic, hasManifestEnding, type PassedOver } from './unread-files.ts';

/** Access to the process, and limits on reading. */
export interface LoadContext {
  readonly cwd: string;
  /** The user that runs the process. `undefined`: the system has no user ids. */
  readonly uid: number | undefined;
  readonly readStdin: () => Promise<Uint8Array>;
  /** The folder in which manifests may name files (see `listRootsOfPaths`). Default: the repositories of the manifests. */
  readonly root?: string | undefined;
  /** The budget for all bytes and files that are read. If absent, the limits of one stack apply. */
  readonly budget?: ReadBudget | undefined;
  /** The folders that must contain the paths to read, if manifests name those paths. Absent if the user named them. */
  readonly roots?: readonly string[] | undefined;
  /** The files that the run has read. Absent: what is read is read for this call alone. */
  readonly files?: SourceFiles | undefined;
}

/**
 * Limits on all files of one stack. Usual manifests reach the limit on YAML lexemes before they reach `maxBytes`. That
 * limit allows about 25,000 resources, and `maxFiles` two files for each of them.
 */
const STACK_LIMITS = { maxBytes: 64 * 1024 * 1024, maxFiles: 50_000, of: 'one stack' };

/** Creates a budget for the files of one stack. The same files also count against `run`, the budget of the run. */
export function createStackBudget(run?: ReadBudget): ReadBudget {
  return createReadBudget(STACK_LIMITS, run);
}

/** The files that were read, and diagnostics of files that could not be read. */
export interface LoadedManifestSources {
  readonly sources: readonly ManifestBytes[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Files that were read, with their parsed texts. */
export interface LoadedSources extends LoadedManifestSources {
  readonly sources: readonly Source[];
}

/**
 * Reads files, folders (recursively, names sorted) and standard input (`-`). Reads each real file once. In folders,
 * reads only `*.yaml`, `*.yml` and `*.json`. Skips hidden files, node_modules, and files of edgewise, kustomize and
 * other tools. If a folder contains a `Stack`, skips subfolders that contain another `Stack`.
 * @example
 * const { sources, diagnostics } = await readManifestFiles(['manifests'], {
 *   cwd: process.cwd(),
 *   uid: process.getuid?.(),
 *   readStdin: async () => new Uint8Array(),
 * });
 */
export async function readManifestFiles(
  paths: readonly string[],
  context: LoadContext,
): Promise<LoadedManifestSources> {
  const { sources, findings } = await loadManifestsWithFindings(paths, context);
  return { sources, diagnostics: findings.map(({ diagnostic }) => diagnostic) };
}

/** Reads manifests like `readManifestFiles`, and returns the folder and the link of each finding. */
export async function loadManifestsWithFindings(
  paths: readonly string[],
  context: LoadContext,
): Promise<LocatedManifests> {
  const {
    roots = listRootsOfPaths(paths, context),
    budget = createStackBudget(),
    files = createSourceFiles(),
  } = context;
  const reading: Reading = { sources: [], findings: [], seen: new Set(), roots, budget, files, isFull: false };
  for (const path of paths) {
    if (path === '-') await readStdin(context, reading);
    else readNamed(path, context, reading);
  }
  return { sources: reading.sources, findings: reading.findings };
}

interface VisitContext extends Omit<LoadContext, 'readStdin'>, Partial<Pick<Walk, 'isDone' | 'passedOver' | 'seen'>> {}

/** Calls `visit` for every manifest file below a folder, in reading order, until `isDone` returns true. */
export function visitManifestFiles(
  root: string,
  { isDone = () => false, passedOver, seen = new Set(), ...context }: VisitContext,
  visit: (found: FoundManifest) => void,
): readonly UnreadableInput[] {
  const findings: UnreadableInput[] = [];
  const folder = { shown: root, real: resolve(context.cwd, root) };
  const { budget = createStackBudget(), files = createSourceFiles() } = context;
  const roots = listRootsOfPaths([root], context);
  const place = checkCommandLinePath(root, context);
  if ('finding' in place) return [{ folder: root, diagnostic: createOutsideDiagnostic(root, place) }];
  try {
    const reading = { findings, seen, roots, budget, files, isFull: false };
    readFolder(folder, { ...reading, folders: new Set(), visit, isDone, passedOver });
  } catch (error) {
    return [{ folder: root, diagnostic: createUnreadableDiagnostic(root, error, suggestPath(folder)) }];
  }
  return findings;
}

/** A diagnostic of a file or folder that could not be read, with the folder. */
export interface UnreadableInput {
  /** The folder as it is shown. `''` for standard input, which has no folder. */
  readonly folder: string;
  readonly diagnostic: Diagnostic;
  /** The link that is not followed, as it is shown. Absent: the finding is not about a link. */
  readonly link?: string;
}

/** The files that were read, and a diagnostic for each file or folder that could not be read. */
interface LocatedManifests {
  readonly sources: readonly Source[];
  readonly findings: readonly UnreadableInput[];
}

interface Reading {
  readonly sources: Source[];
  readonly findings: UnreadableInput[];
  /** Real paths of the files that were already read. */
  readonly seen: Set<string>;
  readonly roots: readonly string[];
  readonly budget: ReadBudget;
  readonly files: SourceFiles;
  /** Whether the budget is used up. An error was then reported, and nothing more is read. */
  isFull: boolean;
}

async function readStdin(context: LoadContext, reading: Reading): Promise<void> {
  if (reading.seen.has(STDIN_FILE_NAME)) return;
  reading.seen.add(STDIN_FILE_NAME);
  try {
    const bytes = await context.readStdin();
    reading.budget.spend(bytes.byteLength);
    keep({ file: STDIN_FILE_NAME, ...createSourceContent(bytes) }, reading);
  } catch (error) {
    reading.findings.push({ folder: '', diagnostic: createUnreadableDiagnostic(STDIN_FILE_NAME, error) });
  }
}

/** Adds a source. Reports an empty source, which usually means that the command that wrote it failed. */
function keep(source: Source, reading: Reading): void {
  reading.sources.push(source);
  const remedy =
    source.file === STDIN_FILE_NAME
      ? 'Check the command before the pipe.'
      : 'Remove the path, or write manifests to the file.';
  if (!isOnlyWhitespace(source.bytes)) return;
  const folder = source.file === STDIN_FILE_NAME ? '' : dirname(source.file);
  reading.findings.push({ folder, diagnostic: createEmptyDiagnostic(source.file, 'is empty', remedy) });
}

function isOnlyWhitespace(bytes: Uint8Array): boolean {
  return bytes.every(isSpaceByte);
}

function isSpaceByte(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}

function readNamed(path: string, context: LoadContext, reading: Reading): void {
  if (reading.isFull) return;
  const { cwd, roots } = context;
  const file = { shown: path, real: resolve(cwd, path) };
  const place = roots === undefined ? checkCommandLinePath(path, context) : resolvePathWithin(file.real, roots);
  if ('finding' in place) {
    reading.findings.push({ folder: dirname(path), diagnostic: createOutsideDiagnostic(path, place) });
    return;
  }
  try {
    const stats = statSync(file.real);
    if (stats.isDirectory()) readNamedFolder(file, reading);
    // A pipe, such as the one that a shell passes for `<(command)`, has no real path.
    else if (!stats.isFile()) keep({ file: path, ...createSourceContent(readInput(file.real, reading)) }, reading);
    else if (addNewFile(file.real, reading.seen) !== undefined)
      keep({ file: path, ...reading.files.read(file.real, reading) }, reading);
  } catch (error) {
    reading.isFull = isOverBudget(error);
    reading.findings.push({
      folder: dirname(path),
      diagnostic: createUnreadableDiagnostic(path, error, suggestPath(file)),
    });
  }
}

/**
 * Returns the path with its last name replaced by the most similar name in the folder. `undefined` if none is similar.
 */
function suggestPath({ shown, real }: Path): string | undefined {
  try {
    const nearest = suggest(basename(real), readdirSync(dirname(real)));
    if (nearest === undefined || nearest === basename(real)) return undefined;
    return showUnicodeForms(shown, joinShown(dirname(shown), nearest))[1];
  } catch (error) {
    if (isFileError(error)) return undefined; // no folder, so nothing to suggest
    throw error;
  }
}

function readNamedFolder(folder: Path, reading: Reading): void {
  const manifests: FoundManifest[] = [];
  const reals: string[] = [];
  const findings: UnreadableInput[] = [];
  const visit = (manifest: FoundManifest, real: string): void => {
    manifests.push(manifest);
    reals.push(real);
  };
  const passedOver: (PassedOver & Pick<FoundManifest, 'folder'>)[] = [];
  const walk: Walk = { ...reading, findings, folders: new Set(), visit, isDone: () => false, passedOver };
  const count = readFolder(folder, walk);
  reading.isFull = walk.isFull;
  const isOwn = createStackFileFilter(folder.shown, manifests);
  for (const [index, manifest] of manifests.entries()) {
    if (isOwn(manifest)) reading.sources.push(manifest);
    else reading.seen.delete(reals[index] ?? '');
  }
  const unread = createUnreadDiagnostic(passedOver.filter(isOwn), reading.seen);
  if (unread !== undefined) findings.push({ folder: folder.shown, diagnostic: unread });
  reading.findings.push(...findings.filter(isOwn));
  if (count > 0) return;
  const remedy =
    'In a folder, the files *.yaml, *.yml and *.json are manifests, except those of other tools. edgewise init writes new ones.';
  const diagnostic = createEmptyDiagnostic(folder.shown, 'contains no manifest file', remedy);
  reading.findings.push({ folder: folder.shown, diagnostic });
}

/** Returns the real path, or `undefined` if the set already contained it. */
function addNewFile(path: string, seen: Set<string>): string | undefined {
  return addReal(realpathSync.native(path), seen);
}

function addReal(real: string, seen: Set<string>): string | undefined {
  if (seen.has(real)) return undefined;
  seen.add(real);
  return real;
}

/** The state of walking through one named folder. */
interface Walk extends Omit<Reading, 'sources'> {
  /** Real paths of visited folders, because symbolic links can form circles. */
  readonly folders: Set<string>;
  readonly visit: (found: FoundManifest, real: string) => void;
  readonly isDone: () => boolean;
  /** Gets what is not read because of its name, with the folder that it is in. */
  readonly passedOver?: (PassedOver & Pick<FoundManifest, 'folder'>)[] | undefined;
}

/**
 * Visits the manifest files below a folder. Returns their number, including those that were already read. Below a visited
 * folder, only the last name in `real` can be a symbolic link.
 */
function readFolder({ shown, real }: Path, walk: Walk): number {
  const newPath = addNewFile(real, walk.folders);
  if (newPath === undefined) return 0;
  const [named = newPath] = walk.folders;
  checkPathDepth(newPath, named);
  const folder = { shown, real: newPath };
  const entries = readdirSync(newPath, { withFileTypes: true }).sort(byName);
  return entries.reduce((count, entry) => count + readEntry(folder, entry, walk), 0);
}

function byName(left: Dirent, right: Dirent): number {
  return left.name < right.name ? -1 : 1;
}

/** Reads a file, or a folder. Returns how many manifest files it makes, including those that were already read. */
function readEntry(folder: Path, entry: Dirent, walk: Walk): number {
  if (walk.isFull || walk.isDone()) return 0;
  if (!isVisibleName(entry.name)) return passOver(folder, entry, walk);
  const path = { shown: joinShown(folder.shown, entry.name), real: `${folder.real}/${entry.name}` };
  const refused = findUnusableEntry(folder, entry, path, walk);
  if (refused !== undefined) {
    walk.findings.push({ folder: folder.shown, ...refused });
    return 1;
  }
  let isNeeded = isManifestName(entry.name) || entry.isDirectory();
  try {
    const type = entry.isSymbolicLink() ? statSync(path.real) : entry;
    isNeeded ||= type.isDirectory();
    if (type.isDirectory()) return readFolder(path, walk);
    return type.isFile() && isManifestName(entry.name)
      ? readManifestFile(folder, entry, path, walk)
      : passOver(folder, entry, walk);
  } catch (error) {
    walk.isFull = isOverBudget(error);
    if (isNeeded)
      walk.findings.push({ folder: folder.shown, diagnostic: createUnreadableDiagnostic(path.shown, error) });
    return 1;
  }
}

/** A finding on a name that cannot be shown, or on a link that leads out of the tree. */
function findUnusableEntry(
  folder: Path,
  entry: Dirent,
  path: Path,
  { roots }: Walk,
): Omit<UnreadableInput, 'folder'> | undefined {
  const illNamed = entry.isFile() && !isManifestName(entry.name) ? undefined : findIllNamed(folder.real, entry.name);
  if (illNamed !== undefined) return { diagnostic: createIllNamedDiagnostic(folder.shown, illNamed) };
  const place = entry.isSymbolicLink() ? resolvePathWithin(path.real, roots) : path;
  return 'finding' in place ? { diagnostic: createOutsideDiagnostic(path.shown, place), link: path.shown } : undefined;
}

function readManifestFile(folder: Path, entry: Dirent, path: Path, walk: Walk): number {
  const real = entry.isSymbolicLink() ? addNewFile(path.real, walk.seen) : addReal(path.real, walk.seen);
  if (real === undefined) return 1;
  const content = walk.files.read(path.real, walk);
  if (isFileOfOtherTool(entry.name, content.bytes)) return 0;
  walk.visit({ file: path.shown, folder: folder.shown, ...content }, real);
  return 1;
}

/** Notes what is not read because of its name. Returns the number of files that were read. */
function passOver({ shown, real }: Path, entry: Dirent, { passedOver }: Walk): 0 {
  const isFolder = entry.isDirectory();
  if ((isFolder && entry.name !== '.git') || entry.isFile())
    passedOver?.push({ shown: joinShown(shown, entry.name), real: `${real}/${entry.name}`, isFolder, folder: shown });
  return 0;
}

/**
 * Returns a file name that is not valid UTF-8, with the bytes outside ASCII as escapes. `name` is the decoded name,
 * which cannot be opened. `undefined` if the name is valid.
 */
function findIllNamed(folder: string, name: string): string | undefined {
  if (!name.includes('\u{FFFD}')) return undefined;
  const names = readdirSync(folder, { encoding: 'buffer' });
  const bytesOfName = names.find((bytes) => !isUtf8(bytes) && bytes.toString('utf8') === name);
  return bytesOfName
    ?.toString('latin1')
    .replace(/[^ -~]/g, (unit) => `\\x${unit.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

function createIllNamedDiagnostic(folder: string, name: string): Diagnostic {
  const message = `${folder} contains a file name that is not valid UTF-8: ${name}`;
  return { code: 'file-unreadable', severity: 'error', message, remedy: 'Rename it, or move it out of the folder.' };
}

/** Joins a folder and a name as they are shown: without `./`. */
export function joinShown(folder: string, name: string): string {
  return folder === '.' ? name : `${folder.replace(/\/+$/, '')}/${name}`;
}

/** Whether a file or folder in a folder is looked at. */
export function isVisibleName(name: string): boolean {
  return !name.startsWith('.') && name !== 'node_modules';
}

/** Whether a file in a folder is read as a manifest, according to its name. */
export function isManifestName(name: string): boolean {
  return hasManifestEnding(name) && !/^kustomization\.ya?ml$/i.test(name);
}

function createEmptyDiagnostic(path: string, message: string, remedy: string): Diagnostic {
  return { code: 'file-unreadable', severity: 'error', message: `${path} ${message}`, remedy };
}

/** Does not reveal the file's content in the message, because the path may lead to a secret. */
function createOutsideDiagnostic(
  path: string,
  { finding }: Extract<BoundaryResult, { readonly finding: string }>,
): Diagnostic {
  return { code: 'path-refused', severity: 'error', message: `${path} ${finding}`, remedy: BOUNDARY_REMEDY };
}

export function createUnreadableDiagnostic(path: string, error: unknown, meant?: string): Diagnostic {
  const remedy = formatReadRemedy(error, meant);
  return { code: 'file-unreadable', severity: 'error', message: `${path} ${describeFileError(error)}`, remedy };
}

function formatReadRemedy(error: unknown, meant: string | undefined): string {
  if (isOverBudget(error))
    return 'Move files that are not manifests out of the folder, or split the manifests into several stacks or runs.';
  if (meant !== undefined) return `Did you mean \`${toPrintable(meant)}\`?`;
  if (isFileError(error) && error.code === 'ENOTDIR')
    return 'Name a folder: this path is a file, or leads through one.';
  return UNREADABLE_FILE_REMEDY;
}

/** Values of fields are small, so a larger file is probably the wrong one. */
const MAX_FIELD_FILE_BYTES = 65_536;

interface FieldFileContext extends Pick<LoadContext, 'cwd' | 'uid' | 'budget'> {
  /** Folders that must contain the files after links are resolved. Default: the repository of the working folder. */
  readonly roots?: readonly string[];
  /** Called for each file before it is read. */
  readonly onInput?: (file: string) => void;
}

/**
 * Creates a reader of files that manifests name. A path is relative to the folder of the manifest, or for standard
 * input to the working folder.
 * @example
 * const readFile = createFieldFileReader({ cwd: process.cwd(), uid: process.getuid?.() });
 */
export function createFieldFileReader(context: FieldFileContext): ReadFieldFile {
  const {
    cwd,
    onInput = () => undefined,
    roots = listRootsOfPaths([], context),
    budget = createStackBudget(),
  } = context;
  return (manifest, path) => {
    const named = resolve(cwd, joinToManifestFolder(manifest, path));
    const place = resolvePathWithin(named, roots);
    if ('finding' in place) return { ...place, isRefused: true };
    onInput(named);
    try {
      const bytes = readInput(named, { maxBytes: MAX_FIELD_FILE_BYTES, onlyFiles: true, budget });
      return isUtf8(bytes) ? { text: bytes.toString('utf8') } : { finding: 'is not UTF-8 text' };
    } catch (error) {
      return { finding: describeFileError(error), meant: suggestPath({ shown: path, real: named }) };
    }
  };
}

/** The fields of a document. A file without any of them is another kind of file, not a manifest with a mistake. */
const FIELDS = ['apiVersion', 'kind', 'metadata', 'spec', 'lifecycle', 'lint'] as const;

/** Matches one of the fields of a document at any position and in any case. */
const ANY_FIELD = new RegExp(`(?:^|[\\s{,"'])(?:${FIELDS.join('|')})["']?\\s*:`, 'im');

/**
 * Matches a line with a field of any name. A file without any field is not foreign: it may be a truncated manifest.
 * Adjacent repetitions in this pattern match different characters, so matching a long file takes linear time.
 */
const OTHER_FIELD = /^[ \t{-]*["']?[\w@$./][\w@$./-]*["']?[ \t]*:(?:\s|$)/m;

/**
 * Whether a file is certainly not a manifest, but another file of edgewise or of another tool, such as package.json.
 */
export function isFileOfOtherTool(name: string, bytes: Uint8Array): boolean {
  if (!isUtf8(bytes)) return false;
  const text = toBuffer(bytes).toString('utf8');
  const json = /\.json$/i.test(name) && checkJsonLimits(text) === undefined ? parseJson(text) : undefined;
  if (json !== undefined) return isJsonOfOtherTool(json);
  return !ANY_FIELD.test(text) && OTHER_FIELD.test(text);
}

function isJsonOfOtherTool(json: Json): boolean {
  if (isJsonArray(json)) return json.length > 0 && json.every((member) => isJsonObject(member) && !hasField(member));
  return isJsonObject(json) && !hasField(json);
}

function hasField(json: JsonObject): boolean {
  return FIELDS.some((name) => Object.hasOwn(json, name));
}

/** Lists the addresses in manifests for command-line completion, without checks. Stops when `isLate` returns true. */
export function parseAddressesForCompletion(sources: readonly Source[], isLate: () => boolean): readonly Address[] {
  const addresses = new Set<Address>();
  const allowance = createYamlBudget();
  for (const { yaml } of sources) {
    for (const { value } of parseDocuments(yaml, NO_ENVIRONMENT, allowance)) {
      for (const address of listAddressesIn(value)) addresses.add(address);
      if (isLate()) return [...addresses];
    }
  }
  return [...addresses];
}

function listAddressesIn(value: Json): readonly Address[] {
  return expandListDocument(value).flatMap(({ kind, metadata }) => {
    const name = metadata !== undefined && isJsonObject(metadata) ? metadata['name'] : undefined;
    if (typeof kind !== 'string' || typeof name !== 'string') return [];
    return findKind(kind) !== undefined && isResourceName(name) ? [toAddress(kind, name)] : [];
  });
}
