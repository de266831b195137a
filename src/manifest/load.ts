import { isUtf8 } from 'node:buffer';
import { type Dirent, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { readInput, toFileFault } from '../files/read-input.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { type ReadFieldFile, STDIN, toManifestPath } from './field-files.ts';
import { isForeignFile } from './foreign-file.ts';
import { createStackFilter, type FoundManifest } from './stack-folders.ts';
import { suggest } from './suggest.ts';

/** A manifest file as it was read, or manifests that a program made: as bytes, or as text. */
export type ManifestSource = ManifestBytes | ManifestText;

/** A file as it is. */
export interface ManifestBytes {
  /** The path as the user gave it, `<stdin>` for `-`; of what a command printed, the name that `toOutputName` gives. */
  readonly file: string;
  readonly bytes: Uint8Array;
}

/** Manifests that are no file, under a name for messages. Files that they name are looked for beside that name. */
export interface ManifestText {
  readonly file: string;
  readonly text: string;
}

/** The bytes of manifests: those of a text are its UTF-8. */
export function toBytes(source: ManifestSource): ManifestBytes {
  return 'bytes' in source ? source : { file: source.file, bytes: Buffer.from(source.text, 'utf8') };
}

/** What loading needs of the process. */
export interface LoadContext {
  /** What relative paths are relative to. */
  readonly cwd: string;
  readonly readStdin: () => Promise<Uint8Array>;
}

/** What loading tells meanwhile. */
export interface WatchedLoad extends LoadContext {
  /** Told of the size of each file of a folder as soon as it is read. */
  readonly onRead?: ((bytes: number) => void) | undefined;
}

/** What was read, and what could not be. */
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
  const { sources, faults } = await loadLocated(paths, context);
  return { sources, diagnostics: faults.map(({ diagnostic }) => diagnostic) };
}

/** The same, with the folder that each fault is in. */
export async function loadLocated(paths: readonly string[], context: WatchedLoad): Promise<LocatedManifests> {
  const reading: Reading = { sources: [], faults: [], seen: new Set() };
  for (const path of paths) {
    if (path === '-') await readStdin(context, reading);
    else readNamed(path, context, reading);
  }
  return { sources: reading.sources, faults: reading.faults };
}

/** Shows every manifest file below a folder, in the order in which it is read, until `isDone`. What a visitor does not keep is not kept. */
export function visitManifests(
  root: string,
  { cwd, isDone = () => false }: Pick<LoadContext, 'cwd'> & { readonly isDone?: () => boolean },
  visit: (found: FoundManifest) => void,
): readonly LocatedFault[] {
  const faults: LocatedFault[] = [];
  const folder = { shown: root, real: resolve(cwd, root) };
  try {
    readFolder(folder, { seen: new Set(), folders: new Set(), visit, faults, isDone });
  } catch (error) {
    return [{ folder: root, diagnostic: toUnreadable(root, error, suggestPath(folder)) }];
  }
  return faults;
}

/** What could not be read in a folder. */
export interface LocatedFault {
  /** As it is shown; `''`: standard input is in none. */
  readonly folder: string;
  readonly diagnostic: Diagnostic;
}

/** What was read, and what could not be, and where. */
export interface LocatedManifests extends Pick<LoadedManifests, 'sources'> {
  readonly faults: readonly LocatedFault[];
}

interface Reading {
  readonly sources: ManifestBytes[];
  readonly faults: LocatedFault[];
  /** Real paths of files. */
  readonly seen: Set<string>;
}

async function readStdin(context: LoadContext, reading: Reading): Promise<void> {
  if (reading.seen.has(STDIN)) return;
  reading.seen.add(STDIN);
  try {
    keep({ file: STDIN, bytes: await context.readStdin() }, reading);
  } catch (error) {
    reading.faults.push({ folder: '', diagnostic: toUnreadable(STDIN, error) });
  }
}

/** An empty file or standard input is a mistake, usually of the command that wrote it. */
function keep(source: ManifestBytes, reading: Reading): void {
  reading.sources.push(source);
  const remedy =
    source.file === STDIN ? 'Check the command before the pipe.' : 'Remove the path, or write manifests to the file.';
  if (!isBlank(source.bytes)) return;
  const folder = source.file === STDIN ? '' : dirname(source.file);
  reading.faults.push({ folder, diagnostic: toEmpty(source.file, 'is empty', remedy) });
}

/** Whether bytes are nothing but white space. */
export function isBlank(bytes: Uint8Array): boolean {
  return bytes.every(isSpace);
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}

function readNamed(path: string, context: WatchedLoad, reading: Reading): void {
  const { cwd } = context;
  const file = { shown: path, real: resolve(cwd, path) };
  try {
    const stats = statSync(file.real);
    if (stats.isDirectory()) readNamedFolder(file, context, reading);
    // A pipe has no real path; a shell passes one for `<(command)`.
    else if (!stats.isFile() || isNew(file.real, reading.seen))
      keep({ file: path, bytes: readInput(file.real) }, reading);
  } catch (error) {
    reading.faults.push({ folder: dirname(path), diagnostic: toUnreadable(path, error, suggestPath(file)) });
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

function readNamedFolder(folder: Path, { onRead }: WatchedLoad, reading: Reading): void {
  const found: FoundManifest[] = [];
  const reals: string[] = [];
  const faults: LocatedFault[] = [];
  const visit = (manifest: FoundManifest, real: string): void => {
    found.push(manifest);
    reals.push(real);
    onRead?.(manifest.bytes.byteLength);
  };
  const isDone = () => false;
  const count = readFolder(folder, { seen: reading.seen, folders: new Set(), visit, faults, isDone });
  const isOwn = createStackFilter(folder.shown, found);
  for (const [index, manifest] of found.entries()) {
    if (isOwn(manifest)) reading.sources.push(manifest);
    else reading.seen.delete(reals[index] ?? '');
  }
  reading.faults.push(...faults.filter(isOwn));
  if (count > 0) return;
  const remedy = 'In a folder, the files *.yaml, *.yml and *.json are manifests, except those of other tools.';
  const diagnostic = toEmpty(folder.shown, 'contains no manifest file', remedy);
  reading.faults.push({ folder: folder.shown, diagnostic });
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
interface Walk extends Pick<Reading, 'seen'> {
  /** Real paths of the folders that were entered: symbolic links can lead in circles. */
  readonly folders: Set<string>;
  readonly visit: (found: FoundManifest, real: string) => void;
  readonly faults: LocatedFault[];
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
  const folder = { shown, real: found };
  const entries = readdirSync(found, { withFileTypes: true }).sort(byName);
  return entries.reduce((count, entry) => count + readEntry(folder, entry, walk), 0);
}

function byName(left: Dirent, right: Dirent): number {
  return left.name < right.name ? -1 : 1;
}

function readEntry(folder: Path, entry: Dirent, walk: Walk): number {
  if (entry.name.startsWith('.') || entry.name === 'node_modules' || walk.isDone()) return 0;
  const path = { shown: join(folder.shown, entry.name), real: `${folder.real}/${entry.name}` };
  try {
    const type = entry.isSymbolicLink() ? statSync(path.real) : entry;
    if (type.isDirectory()) return readFolder(path, walk);
    if (!type.isFile() || !isManifestName(entry.name)) return 0;
    const real = entry.isSymbolicLink() ? addNew(path.real, walk.seen) : addReal(path.real, walk.seen);
    if (real === undefined) return 1;
    const bytes = readInput(path.real);
    if (isForeignFile(entry.name, bytes)) return 0;
    walk.visit({ file: path.shown, folder: folder.shown, bytes }, real);
  } catch (error) {
    if (isManifestName(entry.name) || entry.isDirectory())
      walk.faults.push({ folder: folder.shown, diagnostic: toUnreadable(path.shown, error) });
  }
  return 1;
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

function toUnreadable(path: string, error: unknown, meant?: string): Diagnostic {
  const remedy =
    meant === undefined
      ? 'Correct the path, or make it readable for the user that edgewise runs as.'
      : `Did you mean \`${meant}\`?`;
  return { code: 'file-unreadable', severity: 'error', message: `${path} ${toFileFault(error)}`, remedy };
}

/** Values of fields are small; a larger file is most likely the wrong one. */
const MAX_FIELD_FILE_BYTES = 65_536;

/** What reading those files takes. */
export interface FieldFileContext extends Pick<LoadContext, 'cwd'> {
  /** Told of each file. */
  readonly onInput?: (file: string) => void;
}

/** Reads the files that manifests name. Paths are relative to the folder of the manifest; of standard input, to the working folder. */
export function createFieldFileReader({ cwd, onInput = () => undefined }: FieldFileContext): ReadFieldFile {
  return (manifest, path) => {
    const real = resolve(cwd, toManifestPath(manifest, path));
    onInput(real);
    try {
      const bytes = readInput(real, { maxBytes: MAX_FIELD_FILE_BYTES, onlyFiles: true });
      return isUtf8(bytes) ? { text: bytes.toString('utf8') } : { fault: 'is not UTF-8 text' };
    } catch (error) {
      return { fault: toFileFault(error) };
    }
  };
}
