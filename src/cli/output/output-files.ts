import { constants, lstat, open, rm, stat } from 'node:fs/promises';
import { dirname, resolve, sep } from 'node:path';
import { writeAtomically } from '../../files/atomic-file.ts';
import { findMadeByAnother, findRepository, isDevice, placeNamed } from '../../files/boundary.ts';
import { readInput } from '../../files/read-input.ts';
import { KEY_VARIABLE, toKeyFileVariable } from '../../model/api-key.ts';
import { toPrintable } from '../../model/printable.ts';
import { NO_SECRETS } from '../../model/secrets.ts';
import { getEmbeddedFile, isEmbedded, type RunSettings } from '../../stack/settings.ts';
import type { Context, RunInputs } from '../context.ts';
import { CommandError, EXIT } from '../exit-code.ts';
import type { FormatFlags } from './present.ts';

/**
 * The files that a run writes because of a flag. A checkout may contain something else under such a name: a link, or a forged report, which a pipeline would
 * publish as its own. So a file is only written where there was none, or over a file that edgewise wrote.
 */

/** What looking at them takes of the process. */
export type OutputContext = Pick<Context, 'cwd'> & Partial<Pick<Context, 'env' | 'root' | 'inputs' | 'uid'>>;

/** The files that flags name. */
interface NamedOutputs extends Pick<FormatFlags, 'report'> {
  readonly out?: string;
  readonly journal?: string;
}

/** Refuses files that are not edgewise's, and takes older reports away: when the run fails, nobody must take them for its own. */
export async function prepareOutputs(
  { out, report = [], journal }: NamedOutputs,
  words: readonly string[],
  context: OutputContext,
): Promise<void> {
  const reports = report.map(({ file }) => file);
  const log = journal ?? context.env?.['EDGEWISE_JOURNAL'];
  for (const file of [out, log, ...reports]) if (file !== undefined && file !== '') await refusePlace(file, context);
  const read = READS_RESULTS.has(words[0] ?? '') ? words : [];
  const folders = new Set(read.map((word) => resolve(context.cwd, word)));
  for (const file of reports) {
    const path = resolve(context.cwd, file);
    // What the run may be about to read is refused later, or replaced at its end.
    if (folders.has(dirname(path)) || (await context.inputs?.has(file)) === true) continue;
    if ((await find(path))?.isFile() === true && isOwn(path)) await rm(path, { force: true });
  }
}

/** Commands that read what others wrote, also all that is in a folder. */
const READS_RESULTS: ReadonlySet<string> = new Set(['apply', 'join', 'show', 'diff', 'post']);

/** Throws for a file that a run must not write: a link, a file of the commit, or one that edgewise did not write. */
async function refuseForeignFile(file: string, context: OutputContext): Promise<void> {
  await refusePlace(file, context);
  const path = resolve(context.cwd, file);
  const found = await find(path);
  if (found?.isFile() === true && found.size > 0 && !isOwn(path)) throw toRefusal(file, 'was not written by edgewise');
}

/** Throws for what a commit can hold, and for what another user of the machine can put there. */
async function refusePlace(file: string, context: OutputContext): Promise<void> {
  const path = resolve(context.cwd, file);
  if (isDevice(path)) return;
  const foreign = findMadeByAnother(path, context.uid);
  if (foreign !== undefined)
    throw toRefusal(file, foreign === path ? BY_ANOTHER : `lies in ${foreign}, which ${BY_ANOTHER}`);
  const place = placeNamed(path, context);
  if ('finding' in place) throw toRefusal(file, place.finding);
  const found = await find(path);
  if (found?.isSymbolicLink() === true) throw toRefusal(file, 'is a symbolic link');
  if (found?.isFile() !== true || found.size === 0) return;
  if (await isOfCommit(place.real, context)) throw toRefusal(file, 'belongs to the commit that is checked out');
}

const BY_ANOTHER = 'belongs to another user';

function toRefusal(file: string, finding: string): CommandError {
  return new CommandError(`${file} ${finding}, and is not overwritten.`, {
    exitCode: EXIT.invalid,
    isUnreported: true,
    remedy: 'Name another file, or remove this one first. Nothing was written.',
  });
}

async function find(path: string) {
  return lstat(path).catch(() => undefined);
}

/** Git is loaded only where there is a file in a repository already. */
async function isOfCommit(real: string, { env = {} }: OutputContext): Promise<boolean> {
  const top = findRepository(dirname(real));
  if (top === undefined) return false;
  const { isTracked } = await import('../../repository/git.ts');
  return isTracked(real, top, { env });
}

/** Patterns of files that edgewise writes: a plan, every format of reports, and a journal. */
const OWN: readonly RegExp[] = [
  /^<!-- edgewise:/,
  /^<!doctype html>.*edgewise/s,
  /^<\?xml[^>]*>\s*<testsuites name="edgewise/,
  /^# \w+ edgewise_/,
  /^\{"event":/,
  /^\{.*"name": ?"edgewise"/s,
  /^\{.*"format": ?\d/s,
  // Text and annotations have no sign of their own: they begin with a title, a finding or a number.
  /^(?:[A-Z][a-z]+ (?:for|of|to|from) |(?:error|warning|edgewise)[[: ]|No |Nothing |\d+ |── |STACK +FOLDER +RESULT|[✓✗⚠⛔]|::)/,
];

function isOwn(path: string): boolean {
  try {
    const text = readInput(path).toString('utf8').trimStart();
    return OWN.some((sign) => sign.test(text));
  } catch (error) {
    if (error instanceof Error) return false; // what cannot be read is not known
    throw error;
  }
}

/** The inputs of a run that begins. Until the first one is known, every path among its words counts as one. */
export function createRunInputs(words: readonly string[], cwd: string): RunInputs {
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

/** The files that a run is asked to write. */
interface OutputFlags extends Pick<FormatFlags, 'report'> {
  readonly out?: string;
  readonly journal?: string;
}

/** Other files that a run writes, and its connection. */
export interface WrittenFiles {
  /** Files of `lifecycle.write_to`. */
  readonly files: readonly string[];
  readonly settings: RunSettings;
}

/** Refuses to write over a file that the run reads, before anything is sent. */
export async function refuseInputs(
  { out, report = [], journal }: OutputFlags,
  { files, settings: { baseUrl, caFile, keyEnv = KEY_VARIABLE } }: WrittenFiles,
  context: Pick<Context, 'cwd' | 'env' | 'inputs' | 'root'>,
): Promise<void> {
  const { env, inputs } = context;
  const data = isEmbedded(baseUrl) ? getEmbeddedFile(baseUrl) : undefined;
  const read = [env[toKeyFileVariable(keyEnv)], caFile, data];
  for (const file of read) if (file !== undefined && file !== '') inputs?.add(file);
  const results = [out, journal ?? env['EDGEWISE_JOURNAL'], ...report.map(({ file }) => file)];
  const outputs = [...results, ...files];
  for (const file of outputs) {
    if (file === undefined || file === '' || (await inputs?.has(file)) !== true) continue;
    throw new CommandError(`${file} is a file that this run reads, and would be overwritten.`, {
      exitCode: EXIT.invalid,
      isUnreported: true,
      remedy: 'Name another file to write. Nothing was written.',
    });
  }
  for (const file of results) if (file !== undefined && file !== '') await refuseForeignFile(file, context);
}

/** The same for two names of one file; `undefined`: no regular file is there. */
async function identify(file: string, cwd: string): Promise<string | undefined> {
  const found = await stat(resolve(cwd, file)).catch(() => undefined);
  return found?.isFile() === true ? `${found.dev} ${found.ino}` : undefined;
}

/** Whether a file is below one of the folders, and may be a manifest. What reads those is loaded only here. */
async function mayBeManifest(path: string, folders: readonly string[], cwd: string): Promise<boolean> {
  if (!/\.(ya?ml|json)$/.test(path)) return false;
  if (!folders.some((folder) => path.startsWith(`${resolve(cwd, folder)}${sep}`))) return false;
  const { isForeignFile } = await import('../../manifest/load.ts');
  try {
    return !isForeignFile(path, readInput(path));
  } catch (error) {
    if (error instanceof Error) return true;
    throw error;
  }
}

/**
 * Writes a result as a whole or not at all, where nothing else is, and says when it replaces a file with other content. Writes directly to a device or a pipe.
 */
export async function writeResultFile(
  file: string,
  given: string,
  context: OutputContext & Pick<Context, 'stderr' | 'secrets'>,
): Promise<void> {
  await refuseForeignFile(file, context);
  const { cwd, stderr, secrets = NO_SECRETS } = context;
  const text = secrets.redact(given);
  const path = resolve(cwd, file);
  const found = await stat(path).catch(() => undefined);
  if (found !== undefined && !found.isFile()) return writeInto(path, text);
  const isOther = found !== undefined && found.size > 0 && !holds(path, found.size, text);
  await writeAtomically(path, text, { mode: 0o644 });
  if (isOther) stderr.write(`${toPrintable(file)} had other content, which was replaced.\n`);
}

/**
 * Writes to a device or a pipe. In a folder of others a file or a link may stand in its place by now: nothing is made or cut off there, and no link is followed but
 * those of the system.
 */
export async function writeInto(path: string, text: string): Promise<void> {
  const follow = isDevice(path) ? 0 : (constants.O_NOFOLLOW ?? 0);
  const handle = await open(path, constants.O_WRONLY | follow);
  try {
    if ((await handle.stat()).isFile()) throw new Error('it became another file while it was written');
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
}

function holds(path: string, size: number, text: string): boolean {
  const bytes = Buffer.from(text);
  try {
    return size === bytes.length && readInput(path, { maxBytes: size }).equals(bytes);
  } catch (error) {
    if (error instanceof Error) return false; // what cannot be read is not the same
    throw error;
  }
}
