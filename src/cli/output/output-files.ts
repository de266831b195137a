import { lstat, stat } from 'node:fs/promises';
import { dirname, resolve, sep } from 'node:path';
import { findRepository, isDevice, resolveWritePath } from '../../files/boundary.ts';
import { readInput } from '../../files/read-input.ts';
import { removeFile, replaceFile, writeToDeviceOrPipe } from '../../files/write-file.ts';
import { KEY_VARIABLE, toKeyFileVariable } from '../../model/api-key.ts';
import { toPrintable } from '../../model/printable.ts';
import { NO_OP_SECRET_REDACTOR } from '../../model/secrets.ts';
import { isEmbedded, parseEmbeddedDataFile, type ServiceSettings } from '../../stack/settings.ts';
import type { Context, InputFileSet } from '../context.ts';
import { CommandError, EXIT } from '../exit-code.ts';
import type { FormatFlags } from './present.ts';

/**
 * Output files that flags name. A checkout may already contain such a file: a link, or a forged report that a pipeline
 * would publish. So edgewise overwrites only files that it wrote itself.
 */

export type OutputFileContext = Pick<Context, 'cwd' | 'uid'> & Partial<Pick<Context, 'env' | 'root' | 'inputs'>>;

interface NamedOutputs extends Pick<FormatFlags, 'report'> {
  readonly out?: string;
  readonly journal?: string;
}

/**
 * Throws for paths that edgewise must not write to. Removes reports of earlier runs, because they could be mistaken for
 * reports of this run if it fails.
 */
export async function checkOutputsAndRemoveReports(
  { out, report = [], journal }: NamedOutputs,
  words: readonly string[],
  context: OutputFileContext,
): Promise<void> {
  const reports = report.map(({ file }) => file);
  const log = journal ?? context.env?.['EDGEWISE_JOURNAL'];
  for (const file of [out, log, ...reports]) if (file !== undefined && file !== '') await refusePlace(file, context);
  const read = RESULT_READERS.has(words[0] ?? '') ? words : [];
  const folders = new Set(read.map((word) => resolve(context.cwd, word)));
  for (const file of reports) {
    const path = resolve(context.cwd, file);
    // Keep a file that this run may read. The run later either throws or replaces it.
    if (folders.has(dirname(path)) || (await context.inputs?.has(file)) === true) continue;
    if ((await find(path))?.isFile() === true && isOwn(path)) await removeFile(path, context);
  }
}

/** Commands that read results of other runs, from files or whole folders. */
const RESULT_READERS: ReadonlySet<string> = new Set(['apply', 'join', 'show', 'diff', 'post']);

/** Throws for a link, a file in the checked-out commit, and a file that edgewise did not write. */
async function refuseForeignFile(file: string, context: OutputFileContext): Promise<void> {
  await refusePlace(file, context);
  const path = resolve(context.cwd, file);
  const found = await find(path);
  if (found?.isFile() === true && found.size > 0 && !isOwn(path))
    throw createRefusal(file, 'was not written by edgewise');
}

/** Throws if the checked-out commit or another user may have created the file at this path. */
async function refusePlace(file: string, context: OutputFileContext): Promise<void> {
  const path = resolve(context.cwd, file);
  if (isDevice(path)) return;
  const place = resolveWritePath(path, context);
  if ('finding' in place) throw createRefusal(file, place.finding);
  const found = await find(path);
  if (found?.isFile() !== true || found.size === 0) return;
  if (await isOfCommit(place.real, context)) throw createRefusal(file, 'belongs to the commit that is checked out');
}

function createRefusal(file: string, finding: string): CommandError {
  return new CommandError(`${file} ${finding}, and is not overwritten.`, {
    exitCode: EXIT.invalid,
    isUnreported: true,
    remedy: 'Name another file, or remove this one first. Nothing was written.',
  });
}

async function find(path: string) {
  return lstat(path).catch(() => undefined);
}

/** Whether the checked-out commit contains a file. Loads git only if the file is in a repository. */
async function isOfCommit(real: string, context: OutputFileContext): Promise<boolean> {
  const top = findRepository(dirname(real), context);
  if (top === undefined) return false;
  const { isTracked } = await import('../../repository/git.ts');
  return isTracked(real, top, { env: context.env ?? {} });
}

/** Patterns that match files that edgewise wrote: a plan, every report format, and a journal. */
const OWN: readonly RegExp[] = [
  /^<!-- edgewise:/,
  /^<!doctype html>.*edgewise/s,
  /^<\?xml[^>]*>\s*<testsuites name="edgewise/,
  /^# \w+ edgewise_/,
  /^\{"event":/,
  /^\{.*"name": ?"edgewise"/s,
  /^\{.*"format": ?\d/s,
  // Text and annotations have no marker: they start with a title, a finding or a number.
  /^(?:[A-Z][a-z]+ (?:for|of|to|from) |(?:error|warning|edgewise)[[: ]|No |Nothing |\d+ |── |STACK +FOLDER +RESULT|[✓✗⚠⛔]|::)/,
];

function isOwn(path: string): boolean {
  try {
    const text = readInput(path).toString('utf8').trimStart();
    return OWN.some((sign) => sign.test(text));
  } catch (error) {
    if (error instanceof Error) return false; // an unreadable file counts as foreign
    throw error;
  }
}

/**
 * Records the inputs of a run. Until the first input is recorded, every path on the command line counts as an input,
 * and so does every possible manifest below such a path.
 */
export function createRunInputRecorder(words: readonly string[], cwd: string): InputFileSet {
  const files = new Set<string>();
  return {
    add: (file) => {
      files.add(file);
    },
    has: async (file) => {
      const id = await identify(file, cwd);
      if (id === undefined) return false;
      const named = files.size === 0 ? words : [...files];
      const ids = await Promise.all(named.map((name) => identify(name, cwd)));
      return ids.includes(id) || (files.size === 0 && (await mayBeManifest(resolve(cwd, file), [cwd, ...words], cwd)));
    },
  };
}

/** The files that manifests tell a run to write, and the settings of the run. */
export interface OutputFilesNamedInManifests {
  /** Files of `lifecycle.write_to`. */
  readonly files: readonly string[];
  readonly settings: ServiceSettings;
}

/** Throws if the run would overwrite a file that it reads or that edgewise did not write. Called before any request. */
export async function refuseUnsafeOutputs(
  { out, report = [], journal }: NamedOutputs,
  { files, settings: { baseUrl, caFile, keyEnv = KEY_VARIABLE } }: OutputFilesNamedInManifests,
  context: Pick<Context, 'cwd' | 'uid' | 'env' | 'inputs' | 'onInput' | 'root'>,
): Promise<void> {
  const { env, inputs, onInput } = context;
  const data = isEmbedded(baseUrl) ? parseEmbeddedDataFile(baseUrl) : undefined;
  const read = [env[toKeyFileVariable(keyEnv)], caFile, data];
  for (const file of read) if (file !== undefined && file !== '') onInput?.(file);
  const results = [out, journal ?? env['EDGEWISE_JOURNAL'], ...report.map(({ file }) => file)];
  const outputs = [...results, ...files];
  for (const file of outputs) {
    if (file === undefined || file === '' || (await inputs?.has(file)) !== true) continue;
    throw new CommandError(`${file} is a file that this run reads, and would be overwritten.`, {
      exitCode: EXIT.invalid,
      isUnreported: true,
      remedy: 'Name another output file. Nothing was written.',
    });
  }
  for (const file of results) if (file !== undefined && file !== '') await refuseForeignFile(file, context);
}

/** Returns the id of a file, which is equal for all names of the file. `undefined`: the path is not a regular file. */
async function identify(file: string, cwd: string): Promise<string | undefined> {
  const found = await stat(resolve(cwd, file)).catch(() => undefined);
  return found?.isFile() === true ? `${found.dev} ${found.ino}` : undefined;
}

/** Whether a file is below one of the folders, and may be a manifest. Loads the manifest reader if needed. */
async function mayBeManifest(path: string, folders: readonly string[], cwd: string): Promise<boolean> {
  if (!/\.(ya?ml|json)$/.test(path)) return false;
  if (!folders.some((folder) => path.startsWith(`${resolve(cwd, folder)}${sep}`))) return false;
  const { isFileOfOtherTool } = await import('../../manifest/load.ts');
  try {
    return !isFileOfOtherTool(path, readInput(path));
  } catch (error) {
    if (error instanceof Error) return true;
    throw error;
  }
}

/**
 * Writes a result: atomically to a file, directly to a device or a pipe. Throws if edgewise must not write the file.
 * Says on stderr if other content was replaced.
 */
export async function writeResultFile(
  file: string,
  given: string,
  context: OutputFileContext & Pick<Context, 'stderr' | 'secrets'>,
): Promise<void> {
  await refuseForeignFile(file, context);
  const { cwd, stderr, secrets = NO_OP_SECRET_REDACTOR } = context;
  const text = secrets.redact(given);
  const path = resolve(cwd, file);
  const found = await stat(path).catch(() => undefined);
  if (found !== undefined && !found.isFile()) return writeToDeviceOrPipe(path, text, context);
  const isOther = found !== undefined && found.size > 0 && !holds(path, found.size, text);
  const { root, uid } = context;
  await replaceFile(path, text, { cwd, root, uid, mode: 0o644 });
  if (isOther) stderr.write(`${toPrintable(file)} had other content, which was replaced.\n`);
}

function holds(path: string, size: number, text: string): boolean {
  const bytes = Buffer.from(text);
  try {
    return size === bytes.length && readInput(path, { maxBytes: size }).equals(bytes);
  } catch (error) {
    if (error instanceof Error) return false; // an unreadable file counts as different
    throw error;
  }
}
