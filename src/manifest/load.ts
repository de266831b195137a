import { isUtf8 } from 'node:buffer';
import { type Dirent, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, relative, resolve } from 'node:path';
import {
  BOUNDARY_REMEDY,
  type BoundaryResult,
  findRoots,
  placeNamed,
  placeWithin,
  refuseTooDeep,
} from '../files/boundary.ts';
import {
  createReadBudget,
  describeFileError,
  InputBudgetError,
  type ReadBudget,
  readInput,
  toBuffer,
} from '../files/read-input.ts';
import { findKind } from '../kinds/tables/registry.ts';
import { type Address, isResourceName, toAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { checkJsonLimits, isJsonArray, isJsonObject, type Json, type JsonObject, parseJson } from '../model/json.ts';
import { toPrintable } from '../model/printable.ts';
import { createAllowance } from './bounded-yaml.ts';
import { NO_ENVIRONMENT, type ReadFieldFile, resolveManifestPath, STDIN } from './environment.ts';
import { parseDocuments } from './parse.ts';
import { createStackFilter, expandList, type FoundManifest, mayHoldDefaults } from './stack-folders.ts';
import { suggest } from './suggest.ts';

/** A manifest file as it was read, or manifests that a program made: as bytes, or as text. */
export type ManifestSource = ManifestBytes | ManifestText;

/** A file as it is. */
export interface ManifestBytes {
  /** The path as the user gave it, `<stdin>` for `-`; of what a command printed, the name that `formatRenderSource` gives. */
  readonly file: string;
  readonly bytes: Uint8Array;
  /** Nothing of it counts but its Defaults: it stands above the stack, or was not named. */
  readonly onlyDefaults?: true;
}

/** Manifests that are no file, under a name for messages. Files that they name are looked for beside that name. */
export interface ManifestText {
  readonly file: string;
  readonly text: string;
}

/** The bytes of manifests: those of a text are its UTF-8. */
export function encodeSource(source: ManifestSource): ManifestBytes {
  return 'bytes' in source ? source : { file: source.file, bytes: Buffer.from(source.text, 'utf8') };
}

/** What loading needs of the process. */
export interface LoadContext {
  /** What relative paths are relative to. */
  readonly cwd: string;
  readonly readStdin: () => Promise<Uint8Array>;
  /** The folder below which everything lies that manifests name. Absent: the repository of each path. */
  readonly root?: string | undefined;
  /** What everything that is read may come to; absent: as much as one stack may. */
  readonly budget?: ReadBudget | undefined;
  /** If manifests name the paths: the folders below which they must lie. Absent: the user who started edgewise named them. */
  readonly roots?: readonly string[] | undefined;
}

/**
 * What all files of one stack may come to. The words of YAML that one stack may have are reached before that many bytes are, and a stack with a file for each
 * of ten thousand resources has a fifth of that many files.
 */
const STACK_LIMITS = { maxBytes: 64 * 1024 * 1024, maxFiles: 50_000, of: 'one stack' };

/** A budget for the files of one stack, as a part of that of a run. */
export function createStackBudget(run?: ReadBudget): ReadBudget {
  return createReadBudget(STACK_LIMITS, run);
}

/** The files that were read, and diagnostics of the others. */
export interface LoadedManifests {
  readonly sources: readonly ManifestBytes[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads files, folders (recursively, names sorted) and standard input (`-`): the one effect of this folder. Each real file is read
 * once. In folders, only `*.yaml`, `*.yml` and `*.json` count, without hidden files, node_modules, what belongs to kustomize
 * or another tool, and what edgewise itself has written there. A folder with a `Stack` ends where a folder with another one begins.
 */
export async function loadManifests(paths: readonly string[], context: LoadContext): Promise<LoadedManifests> {
  const { sources, findings } = await loadLocated(paths, context);
  return { sources, diagnostics: findings.map(({ diagnostic }) => diagnostic) };
}

/** The same, with the folder that each finding is in. */
export async function loadLocated(paths: readonly string[], context: LoadContext): Promise<LocatedManifests> {
  const { roots = findRoots(paths, context), budget = createStackBudget() } = context;
  const reading: Reading = { sources: [], findings: [], seen: new Set(), roots, budget, isFull: false };
  for (const path of paths) {
    if (path === '-') await readStdin(context, reading);
    else readNamed(path, context, reading);
  }
  return { sources: reading.sources, findings: reading.findings };
}

/** Shows every manifest file below a folder, in the order in which it is read, until `isDone`. What a visitor does not keep is not kept. */
export function visitManifests(
  root: string,
  { isDone = () => false, ...context }: Omit<LoadContext, 'readStdin'> & { readonly isDone?: () => boolean },
  visit: (found: FoundManifest) => void,
): readonly FolderDiagnostic[] {
  const findings: FolderDiagnostic[] = [];
  const folder = { shown: root, real: resolve(context.cwd, root) };
  const { budget = createStackBudget() } = context;
  const roots = findRoots([root], context);
  const place = placeNamed(root, context);
  if ('finding' in place) return [{ folder: root, diagnostic: toRefused(root, place) }];
  try {
    readFolder(folder, { seen: new Set(), folders: new Set(), visit, findings, isDone, roots, budget, isFull: false });
  } catch (error) {
    return [{ folder: root, diagnostic: toUnreadable(root, error, suggestPath(folder)) }];
  }
  return findings;
}

/**
 * Reads the files that hold Defaults for stacks in some folders: those in the folders and above them, up to the root. `known`: files that were read already.
 */
export function readDefaults(
  folders: readonly string[],
  known: readonly string[],
  { cwd, roots, budget }: Pick<LoadContext, 'cwd' | 'budget'> & { readonly roots: readonly string[] },
): LoadedManifests {
  const reading: Reading = {
    sources: [],
    findings: [],
    seen: new Set(known.filter((file) => file !== STDIN).map((file) => resolve(cwd, file))),
    roots,
    budget: budget ?? createStackBudget(),
    isFull: false,
  };
  const entered = new Set<string>();
  for (const folder of folders)
    for (const at of listUpward({ shown: folder, real: resolve(cwd, folder) }, { cwd, roots }))
      if (addReal(at.real, entered) !== undefined) readDefaultsIn(at, reading);
  return { sources: reading.sources, diagnostics: reading.findings.map(({ diagnostic }) => diagnostic) };
}

/** A folder and those above it, up to the root. */
function* listUpward(
  { shown, real }: Path,
  { cwd, roots }: { readonly cwd: string; readonly roots: readonly string[] },
) {
  for (let at = real; ; at = dirname(at)) {
    const place = placeWithin(at, roots);
    if ('finding' in place) return;
    yield { shown: isAbsolute(shown) ? at : relative(cwd, at) || '.', real: at };
    if (roots.includes(place.real) || dirname(at) === at) return;
  }
}

/** A folder that is not there yet has none. */
function readDefaultsIn(folder: Path, reading: Reading): void {
  if (statSync(folder.real, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  for (const entry of readdirSync(folder.real, { withFileTypes: true }).sort(byName)) {
    if (entry.name.startsWith('.') || !isManifestName(entry.name)) continue;
    const path = { shown: join(folder.shown, entry.name), real: `${folder.real}/${entry.name}` };
    if (addReal(path.real, reading.seen) !== undefined) readDefaultsFile(path, reading);
  }
}

function readDefaultsFile({ shown, real }: Path, reading: Reading): void {
  const folder = dirname(shown);
  const place = placeWithin(real, reading.roots);
  // A link to somewhere else may have nothing to do with edgewise.
  if ('finding' in place) return;
  try {
    const stats = statSync(real, { throwIfNoEntry: false });
    if (stats?.isFile() !== true || stats.size > MAX_DEFAULTS_BYTES) return;
    const bytes = readInput(real, reading);
    if (mayHoldDefaults(bytes)) reading.sources.push({ file: shown, bytes, onlyDefaults: true });
  } catch (error) {
    reading.findings.push({ folder, diagnostic: toUnreadable(shown, error) });
  }
}

/** A larger file above a stack is something else: nothing has that many settings. */
const MAX_DEFAULTS_BYTES = 1_048_576;

/** What could not be read in a folder. */
export interface FolderDiagnostic {
  /** As it is shown; `''`: standard input is in none. */
  readonly folder: string;
  readonly diagnostic: Diagnostic;
}

/** What was read, and what could not be, and where. */
interface LocatedManifests extends Pick<LoadedManifests, 'sources'> {
  readonly findings: readonly FolderDiagnostic[];
}

interface Reading {
  readonly sources: ManifestBytes[];
  readonly findings: FolderDiagnostic[];
  /** Real paths of files. */
  readonly seen: Set<string>;
  readonly roots: readonly string[];
  readonly budget: ReadBudget;
  /** The budget is used up, which was told: nothing more is read. */
  isFull: boolean;
}

async function readStdin(context: LoadContext, reading: Reading): Promise<void> {
  if (reading.seen.has(STDIN)) return;
  reading.seen.add(STDIN);
  try {
    const bytes = await context.readStdin();
    reading.budget.take(bytes.byteLength);
    keep({ file: STDIN, bytes }, reading);
  } catch (error) {
    reading.findings.push({ folder: '', diagnostic: toUnreadable(STDIN, error) });
  }
}

/** An empty file or standard input is a mistake, usually of the command that wrote it. */
function keep(source: ManifestBytes, reading: Reading): void {
  reading.sources.push(source);
  const remedy =
    source.file === STDIN ? 'Check the command before the pipe.' : 'Remove the path, or write manifests to the file.';
  if (!isBlank(source.bytes)) return;
  const folder = source.file === STDIN ? '' : dirname(source.file);
  reading.findings.push({ folder, diagnostic: toEmpty(source.file, 'is empty', remedy) });
}

/** Whether bytes are nothing but white space. */
export function isBlank(bytes: Uint8Array): boolean {
  return bytes.every(isSpace);
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}

function readNamed(path: string, context: LoadContext, reading: Reading): void {
  if (reading.isFull) return;
  const { cwd, roots } = context;
  const file = { shown: path, real: resolve(cwd, path) };
  const place = roots === undefined ? placeNamed(path, context) : placeWithin(file.real, roots);
  if ('finding' in place) {
    reading.findings.push({ folder: dirname(path), diagnostic: toRefused(path, place) });
    return;
  }
  try {
    const stats = statSync(file.real);
    if (stats.isDirectory()) readNamedFolder(file, reading);
    // A pipe has no real path; a shell passes one for `<(command)`.
    else if (!stats.isFile() || isNew(file.real, reading.seen))
      keep({ file: path, bytes: readInput(file.real, reading) }, reading);
  } catch (error) {
    reading.isFull = error instanceof InputBudgetError;
    reading.findings.push({ folder: dirname(path), diagnostic: toUnreadable(path, error, suggestPath(file)) });
  }
}

/** The name in the same folder that was most likely meant. */
function suggestPath({ shown, real }: Path): string | undefined {
  try {
    const nearest = suggest(basename(real), readdirSync(dirname(real)));
    return nearest === undefined || nearest === basename(real) ? undefined : join(dirname(shown), nearest);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined; // no folder, so nothing to suggest
    throw error;
  }
}

function readNamedFolder(folder: Path, reading: Reading): void {
  const found: FoundManifest[] = [];
  const reals: string[] = [];
  const findings: FolderDiagnostic[] = [];
  const visit = (manifest: FoundManifest, real: string): void => {
    found.push(manifest);
    reals.push(real);
  };
  const isDone = () => false;
  const { seen, roots, budget } = reading;
  const walk: Walk = { seen, folders: new Set(), visit, findings, isDone, roots, budget, isFull: false };
  const count = readFolder(folder, walk);
  reading.isFull = walk.isFull;
  const isOwn = createStackFilter(folder.shown, found);
  for (const [index, manifest] of found.entries()) {
    if (isOwn(manifest)) reading.sources.push(manifest);
    else reading.seen.delete(reals[index] ?? '');
  }
  reading.findings.push(...findings.filter(isOwn));
  if (count > 0) return;
  const remedy = 'In a folder, the files *.yaml, *.yml and *.json are manifests, except those of other tools.';
  const diagnostic = toEmpty(folder.shown, 'contains no manifest file', remedy);
  reading.findings.push({ folder: folder.shown, diagnostic });
}

function isNew(path: string, seen: Set<string>): boolean {
  return addNew(path, seen) !== undefined;
}

/** The real path; `undefined` when it was there before. */
function addNew(path: string, seen: Set<string>): string | undefined {
  return addReal(realpathSync.native(path), seen);
}

function addReal(real: string, seen: Set<string>): string | undefined {
  if (seen.has(real)) return undefined;
  seen.add(real);
  return real;
}

/** A walk through one named folder. */
interface Walk extends Omit<Reading, 'sources'> {
  /** Real paths of the folders that were entered: symbolic links can lead in circles. */
  readonly folders: Set<string>;
  readonly visit: (found: FoundManifest, real: string) => void;
  /** Nothing more is read. */
  readonly isDone: () => boolean;
}

/** A path as it is shown and as it is opened. Inside of a folder that was entered the latter is the real one, but for symbolic links. */
interface Path {
  readonly shown: string;
  readonly real: string;
}

/** The number of manifest files in a folder, those included that were read before. */
function readFolder({ shown, real }: Path, walk: Walk): number {
  const found = addNew(real, walk.folders);
  if (found === undefined) return 0;
  const [named = found] = walk.folders;
  refuseTooDeep(found, named);
  const folder = { shown, real: found };
  const entries = readdirSync(found, { withFileTypes: true }).sort(byName);
  return entries.reduce((count, entry) => count + readEntry(folder, entry, walk), 0);
}

function byName(left: Dirent, right: Dirent): number {
  return left.name < right.name ? -1 : 1;
}

function readEntry(folder: Path, entry: Dirent, walk: Walk): number {
  if (entry.name.startsWith('.') || entry.name === 'node_modules' || walk.isFull || walk.isDone()) return 0;
  const illNamed = entry.isFile() && !isManifestName(entry.name) ? undefined : findIllNamed(folder.real, entry.name);
  if (illNamed !== undefined) {
    walk.findings.push({ folder: folder.shown, diagnostic: toIllNamed(folder.shown, illNamed) });
    return 1;
  }
  const path = { shown: join(folder.shown, entry.name), real: `${folder.real}/${entry.name}` };
  const place = entry.isSymbolicLink() ? placeWithin(path.real, walk.roots) : path;
  if ('finding' in place) {
    walk.findings.push({ folder: folder.shown, diagnostic: toRefused(path.shown, place) });
    return 1;
  }
  let isNeeded = isManifestName(entry.name) || entry.isDirectory();
  try {
    const type = entry.isSymbolicLink() ? statSync(path.real) : entry;
    isNeeded ||= type.isDirectory();
    if (type.isDirectory()) return readFolder(path, walk);
    if (!type.isFile() || !isManifestName(entry.name)) return 0;
    const real = entry.isSymbolicLink() ? addNew(path.real, walk.seen) : addReal(path.real, walk.seen);
    if (real === undefined) return 1;
    const bytes = readInput(path.real, walk);
    if (isForeignFile(entry.name, bytes)) return 0;
    walk.visit({ file: path.shown, folder: folder.shown, bytes }, real);
  } catch (error) {
    walk.isFull = error instanceof InputBudgetError;
    if (isNeeded) walk.findings.push({ folder: folder.shown, diagnostic: toUnreadable(path.shown, error) });
  }
  return 1;
}

/** What in a folder has a name that is not valid UTF-8 and was read as that one: it cannot be opened by it. With escapes for its bytes. */
function findIllNamed(folder: string, name: string): string | undefined {
  if (!name.includes('\u{FFFD}')) return undefined;
  const names = readdirSync(folder, { encoding: 'buffer' });
  const found = names.find((bytes) => !isUtf8(bytes) && bytes.toString('utf8') === name);
  return found
    ?.toString('latin1')
    .replace(/[^ -~]/g, (unit) => `\\x${unit.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

function toIllNamed(folder: string, name: string): Diagnostic {
  const message = `${folder} holds a name that is not valid UTF-8: ${name}`;
  return { code: 'file-unreadable', severity: 'error', message, remedy: 'Rename it, or move it out of the folder.' };
}

function join(folder: string, name: string): string {
  return folder === '.' ? name : `${folder.replace(/\/+$/, '')}/${name}`;
}

/** Whether a file in a folder is read for its name. */
export function isManifestName(name: string): boolean {
  return /\.(ya?ml|json)$/.test(name) && !/^kustomization\.ya?ml$/.test(name);
}

function toEmpty(path: string, message: string, remedy: string): Diagnostic {
  return { code: 'no-manifests', severity: 'error', message: `${path} ${message}`, remedy };
}

/** Does not reveal what is there: the path may lead to a secret. */
function toRefused(path: string, { finding }: Extract<BoundaryResult, { readonly finding: string }>): Diagnostic {
  return { code: 'path-refused', severity: 'error', message: `${path} ${finding}`, remedy: BOUNDARY_REMEDY };
}

function toUnreadable(path: string, error: unknown, meant?: string): Diagnostic {
  const remedy = toReadRemedy(error, meant);
  return { code: 'file-unreadable', severity: 'error', message: `${path} ${describeFileError(error)}`, remedy };
}

function toReadRemedy(error: unknown, meant: string | undefined): string {
  if (error instanceof InputBudgetError)
    return 'Move what is no manifest out of the folder, or split the manifests: into several stacks, or over several runs.';
  if (meant !== undefined) return `Did you mean \`${toPrintable(meant)}\`?`;
  return 'Correct the path, or make it readable for the user that edgewise runs as.';
}

/** Values of fields are small; a larger file is most likely the wrong one. */
const MAX_FIELD_FILE_BYTES = 65_536;

/** What reading those files takes. */
interface FieldFileContext extends Pick<LoadContext, 'cwd' | 'budget'> {
  /** Folders below which the files must lie, behind all links. Default: the repository that the working folder is in. */
  readonly roots?: readonly string[];
  /** Told of each file. */
  readonly onInput?: (file: string) => void;
}

/** Reads the files that manifests name. Paths are relative to the folder of the manifest; of standard input, to the working folder. */
export function createFieldFileReader(context: FieldFileContext): ReadFieldFile {
  const { cwd, onInput = () => undefined, roots = findRoots([], context), budget = createStackBudget() } = context;
  return (manifest, path) => {
    const named = resolve(cwd, resolveManifestPath(manifest, path));
    const place = placeWithin(named, roots);
    if ('finding' in place) return { ...place, isRefused: true };
    onInput(named);
    try {
      const bytes = readInput(named, { maxBytes: MAX_FIELD_FILE_BYTES, onlyFiles: true, budget });
      return isUtf8(bytes) ? { text: bytes.toString('utf8') } : { finding: 'is not UTF-8 text' };
    } catch (error) {
      return { finding: describeFileError(error) };
    }
  };
}

/** The fields of a document: a file without any of them is something else, not a manifest with a mistake. */
const FIELDS = ['apiVersion', 'kind', 'metadata', 'spec', 'lifecycle', 'lint'] as const;

/** Such a field in any position and any case. */
const ANY_FIELD = new RegExp(`(?:^|[\\s{,"'])(?:${FIELDS.join('|')})["']?\\s*:`, 'im');

/**
 * A field of anything. Without one it may be a manifest that was cut off. No two parts match the same character: a long file of it would be looked through
 * again from each of its characters.
 */
const OTHER_FIELD = /^[ \t{-]*["']?[\w@$./][\w@$./-]*["']?[ \t]*:(?:\s|$)/m;

/**
 * Whether a file in a folder belongs to edgewise itself, such as a saved plan beside the manifests, or to another tool, such as package.json. A file that may
 * be a manifest with a mistake counts as a manifest.
 */
export function isForeignFile(name: string, bytes: Uint8Array): boolean {
  if (!isUtf8(bytes)) return false;
  const text = toBuffer(bytes).toString('utf8');
  const json = name.endsWith('.json') && checkJsonLimits(text) === undefined ? parseJson(text) : undefined;
  if (json !== undefined) return isForeignJson(json);
  return !ANY_FIELD.test(text) && OTHER_FIELD.test(text);
}

function isForeignJson(json: Json): boolean {
  if (isJsonArray(json)) return json.length > 0 && json.every((member) => isJsonObject(member) && !hasField(member));
  return isJsonObject(json) && !hasField(json);
}

function hasField(json: JsonObject): boolean {
  return FIELDS.some((name) => Object.hasOwn(json, name));
}

/**
 * The addresses in manifests, for completion on the command line: nothing is checked, and reading stops when `isLate` says so.
 */
export function listAddresses(sources: readonly ManifestBytes[], isLate: () => boolean): readonly Address[] {
  const found = new Set<Address>();
  const allowance = createAllowance();
  for (const { bytes } of sources) {
    for (const { value } of parseDocuments(new TextDecoder().decode(bytes), NO_ENVIRONMENT, allowance)) {
      for (const address of listOf(value)) found.add(address);
      if (isLate()) return [...found];
    }
  }
  return [...found];
}

function listOf(value: Json): readonly Address[] {
  return expandList(value).flatMap(({ kind, metadata }) => {
    const name = metadata !== undefined && isJsonObject(metadata) ? metadata['name'] : undefined;
    if (typeof kind !== 'string' || typeof name !== 'string') return [];
    return findKind(kind) !== undefined && isResourceName(name) ? [toAddress(kind, name)] : [];
  });
}
