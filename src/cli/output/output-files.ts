import { stat } from 'node:fs/promises';
import { dirname, resolve, sep } from 'node:path';
import { findRepository, isDevice, resolveWritePath } from '../../files/boundary.ts';
import { readInput } from '../../files/read-input.ts';
import { replaceFile, writeToDeviceOrPipe } from '../../files/write-file.ts';
import { KEY_VARIABLE, toKeyFileVariable } from '../../model/api-key.ts';
import { NO_OP_SECRET_REDACTOR, type SecretRedactor } from '../../model/secrets.ts';
import { StackError } from '../../model/user-errors.ts';
import { isEmbedded, parseEmbeddedDataFile } from '../../settings/base-url.ts';
import type { ServiceSettings } from '../../settings/table.ts';

import type { Context, InputFileSet } from '../context.ts';
import type { FormatFlags } from './present.ts';
import { redactText } from './redact-text.ts';

/**
 * Output files that flags name. As with `cp`, the named file is written, whatever it contained: never through a link,
 * never a file of the checked-out commit, never an input of the run. A run that fails writes its failure there, so that
 * older content is not taken for its result.
 */

export type OutputFileContext = Pick<Context, 'cwd' | 'uid'> &
  Partial<Pick<Context, 'env' | 'root' | 'namedPaths' | 'inputs' | 'secrets'>>;

interface NamedOutputs extends Pick<FormatFlags, 'report'> {
  readonly out?: string;
}

function listOutputs({ out = '', report = [] }: NamedOutputs): readonly string[] {
  return [out, ...report.map(({ file }) => file)].filter((file) => file !== '');
}

/** Throws for paths that edgewise must not write to. Called before a command does anything. */
export async function refuseOutputPaths(named: NamedOutputs, context: OutputFileContext): Promise<void> {
  for (const file of listOutputs(named)) await refuseOutputPath(file, context);
}

/** Throws if the checked-out commit or another user may have created the file at this path. */
export async function refuseOutputPath(file: string, context: OutputFileContext): Promise<void> {
  const finding = await findOutputFinding(file, context);
  if (finding === undefined) return;
  throw new StackError(`${file} ${finding}, and is not overwritten.`, {
    reason: 'invalid',
    output: file,
    remedy: 'Name another file, or remove this one first. Nothing was written.',
  });
}

/** Returns why edgewise writes nothing to a path: `is a symbolic link`. `undefined` if it may. */
export async function findOutputFinding(file: string, context: OutputFileContext): Promise<string | undefined> {
  const path = resolve(context.cwd, file);
  const found = await stat(path).catch(() => undefined);
  const place = resolveWritePath(path, context, found?.isDirectory() === true ? 'folder' : 'file');
  if ('finding' in place) return place.finding;
  const isCommitted = found?.isFile() === true && (await isOfCommit(file, place.real, context));
  return isCommitted ? 'belongs to the commit that is checked out' : undefined;
}

/** Whether the checked-out commit contains a file. Loads git only if the file is in a repository. */
async function isOfCommit(file: string, real: string, context: OutputFileContext): Promise<boolean> {
  const top = isDevice(real) ? undefined : findRepository(dirname(real), context);
  if (top === undefined) return false;
  const { isTracked } = await import('../../repository/git.ts');
  try {
    return await isTracked(real, top, { env: {}, ...context });
  } catch (error) {
    if (!(error instanceof StackError)) throw error;
    const { message, remedy, reason } = error;
    throw new StackError(`Whether git tracks ${file} is unknown: ${message}`, {
      reason,
      output: file,
      remedy,
      cause: error,
    });
  }
}

/**
 * Records the inputs of a run. Until the first input is recorded, every path on the command line that is no output
 * counts as an input, and so does every possible manifest below such a path. Files with API keys always count.
 */
export function createRunInputRecorder(
  argv: readonly string[],
  { cwd, env }: Pick<Context, 'cwd' | 'env'>,
): InputFileSet {
  const files = new Set<string>();
  const words = argv.filter((_, index) => !OUTPUT_FLAGS.has(argv[index - 1] ?? ''));
  const keyFiles = Object.entries(env).flatMap(([name, file]) => (KEY_FILE_VARIABLE.test(name) ? (file ?? '') : []));
  return {
    add: (file) => {
      files.add(file);
    },
    has: async (file) => {
      const id = await identifyFile(file, cwd);
      if (id === undefined) return false;
      const named = [...keyFiles, ...(files.size === 0 ? words : files)];
      const ids = await Promise.all(named.map((name) => identifyFile(name, cwd)));
      return ids.includes(id) || (files.size === 0 && (await mayBeManifest(resolve(cwd, file), [cwd, ...words], cwd)));
    },
  };
}

const OUTPUT_FLAGS: ReadonlySet<string> = new Set(['-o', '--out']);
/** The variables that name a file with an API key. */
export const KEY_FILE_VARIABLE = /^EDGEWISE_API_KEY\w*_FILE$/;

/** Throws if the run would overwrite a file that it reads. Called before any request. */
export async function refuseOverwrittenInputs(
  named: NamedOutputs,
  { baseUrl = '', caFile, keyEnv = KEY_VARIABLE }: Partial<Pick<ServiceSettings, 'baseUrl' | 'caFile' | 'keyEnv'>>,
  { env, inputs, onInput }: Pick<Context, 'env' | 'inputs' | 'onInput'>,
): Promise<void> {
  const data = isEmbedded(baseUrl) ? parseEmbeddedDataFile(baseUrl) : undefined;
  const read = [env[toKeyFileVariable(keyEnv)], caFile, data];
  for (const file of read) if (file !== undefined && file !== '') onInput?.(file);
  for (const file of listOutputs(named)) {
    if ((await inputs?.has(file)) !== true) continue;
    throw new StackError(`${file} is a file that this run reads, and would be overwritten.`, {
      reason: 'invalid',
      output: file,
      remedy: 'Name another output file. Nothing was written.',
    });
  }
}

/** Returns the id of a file, which is equal for all names of the file. `undefined`: the path is not a regular file. */
async function identifyFile(file: string, cwd: string): Promise<string | undefined> {
  const found = await stat(resolve(cwd, file)).catch(() => undefined);
  return found?.isFile() === true ? `${found.dev} ${found.ino}` : undefined;
}

/** Whether a file is below one of the folders, and may be a manifest. Loads the manifest reader if needed. */
async function mayBeManifest(path: string, folders: readonly string[], cwd: string): Promise<boolean> {
  if (!/\.(ya?ml|json)$/i.test(path)) return false;
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
 * Writes a result: atomically to a file, which keeps its permissions and group, directly to a device or a pipe. A text
 * may be given in chunks of whole lines. Throws if edgewise must not write the file.
 */
export async function writeResultFile(
  file: string,
  given: string | Iterable<string>,
  context: OutputFileContext & Pick<Context, 'secrets'>,
): Promise<void> {
  await refuseOutputPath(file, context);
  const { cwd, root, uid, secrets = NO_OP_SECRET_REDACTOR } = context;
  const text = redactChunks(typeof given === 'string' ? [given] : given, secrets);
  const found = await stat(resolve(cwd, file)).catch(() => undefined);
  if (found !== undefined && !found.isFile() && !found.isDirectory())
    return writeToDeviceOrPipe(file, text, { cwd, root, uid });
  await replaceFile(file, text, { cwd, root, uid, mode: 0o644, keepsPermissions: true });
}

function* redactChunks(chunks: Iterable<string>, secrets: SecretRedactor): Generator<string> {
  for (const chunk of chunks) yield redactText(chunk, secrets);
}
