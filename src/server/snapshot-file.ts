import { resolve } from 'node:path';
import type { WriteBoundary } from '../files/boundary.ts';
import { describeFileError, isFileError, readInput } from '../files/read-input.ts';
import { removeStaleTempFiles, replaceFile } from '../files/write-file.ts';
import { listPathIdNamesOfKind } from '../kinds/paths.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { formatPath } from '../model/field-path.ts';
import { toHarmlessJson } from '../model/job-commands.ts';
import {
  checkJsonLimits,
  computeUtf8ByteLength,
  findJsonLimit,
  type Json,
  type JsonSize,
  MAX_INPUT_BYTES,
  measureJsonSize,
  parseJson,
} from '../model/json.ts';
import { checkAgainstSchema, describeUnknownKeys } from '../schemas/findings.ts';
import { CHANGE_SCHEMA, SEED_SCHEMA } from '../schemas/seed.ts';
import { findOversizedMember } from './account-size.ts';
import type { SeedResource, ServerSeed, ServerSnapshot } from './seed.ts';
import { findSeal, sealLine, unsealLine } from './snapshot-seal.ts';
import type { ServerChange } from './store.ts';

/**
 * The file of an account. Its first line is a snapshot, and each further line a change since then, in the form of a seed.
 * So a write adds one short line, whatever the size of the account, and there is no second file that can get lost. A
 * killed process leaves at most an unfinished last line, of a change that was not answered.
 */

/** The content of a snapshot file. */
export interface SnapshotContent {
  readonly seed: ServerSeed;
  /** Whether the writer wrote all of it. */
  readonly isSealed: boolean;
  /** Whether the file has changes after its snapshot. */
  readonly hasChanges: boolean;
  /** The file, if lines can be added to it. */
  readonly log: SnapshotLog | undefined;
}

/** A snapshot file to which lines can be added. */
export interface SnapshotLog {
  readonly bytes: number;
  /** The size of the lines after the first. */
  readonly changes: JsonSize;
  /** What the next line is sealed with. */
  readonly digest: string;
}

/** A file without changes. */
function createLog(text: string, digest: string): SnapshotLog {
  return { bytes: computeUtf8ByteLength(text), changes: { bytes: 0, values: 0 }, digest };
}

/** Parses a seed or snapshot from JSON. Throws `RangeError` with the first mistake if it is invalid. */
export function parseServerSeed(text: string): ServerSeed {
  return parseSnapshotContent(text).seed;
}

/** `writer`: the program whose digests are trusted. `undefined`: none is. */
function parseSnapshotContent(text: string, writer?: string): SnapshotContent {
  const lines = text.split('\n');
  // What follows the last line break is unfinished.
  const unfinished = lines.pop();
  const digest = writer === undefined ? undefined : findSeal(writer, lines);
  if (digest === undefined) return parseUnsealed(text);
  const [seed = {}, ...changes] = lines.map((line) => parseSeedJson(line) as ServerChange); // sealed, so a server wrote it
  const log = { ...createLog(text, digest), changes: measureJsonSize(text.slice(lines[0]?.length)) };
  const hasChanges = changes.length > 0 || unfinished !== '';
  return {
    seed: applyChanges(seed, changes),
    isSealed: true,
    hasChanges,
    log: unfinished === '' ? log : undefined,
  };
}

function parseUnsealed(text: string): SnapshotContent {
  const end = text.indexOf('\n') + 1;
  const first = text.slice(0, end);
  // A seed that a person writes has several lines, and the first alone is no document.
  if (text.slice(end).trim() === '' || parseJson(first) === undefined) {
    const log = end === text.length ? createLog(text, '') : undefined;
    return { seed: parseSeed(text), isSealed: false, hasChanges: false, log };
  }
  const changes = text.slice(end);
  const finding = findJsonLimit(measureJsonSize(changes));
  if (finding !== undefined) throw new RangeError(`The part after its first line ${finding}`);
  // What follows the last line break is unfinished.
  const lines = changes.split('\n').slice(0, -1);
  const seed = applyChanges(parseSeed(first), lines.map(parseChange));
  return { seed, isSealed: false, hasChanges: true, log: undefined };
}

function parseSeed(sealed: string): ServerSeed {
  const text = unsealLine(sealed.trimEnd());
  const finding = checkJsonLimits(text);
  if (finding !== undefined) throw new RangeError(`It ${finding}`);
  const value = parseSeedJson(text);
  const mistake = describeUnknownKeys(SEED_SCHEMA, value) ?? findOversizedMember(value, RESOURCE_DEPTH);
  if (mistake !== undefined) throw new RangeError(mistake);
  const [first] = checkAgainstSchema(SEED_SCHEMA, value);
  if (first !== undefined) throw new RangeError(`${formatPath(first.path)} ${first.message}`.trim());
  return value as ServerSeed; // checkAgainstSchema has checked it
}

/** How deep a seed has its resources: `resources.TCPEdge[0]`. */
const RESOURCE_DEPTH = 3;

function parseSeedJson(text: string): Json {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // The message of JSON.parse quotes the file. A Stack can name any file, so the message must not be shown.
    const [at] = /line \d+ column \d+/.exec(error.message) ?? [];
    // biome-ignore lint/style/useErrorCause: no cause, because its message would be shown, and that message quotes the file.
    throw new RangeError(at === undefined ? 'It is not JSON' : `It is not JSON: ${at}`);
  }
}

function parseChange(sealed: string, index: number): ServerChange {
  const line = unsealLine(sealed);
  const value = checkJsonLimits(line) === undefined ? parseJson(line) : undefined;
  const [first] = value === undefined ? [] : checkAgainstSchema(CHANGE_SCHEMA, value);
  if (value === undefined || first !== undefined || findOversizedMember(value, RESOURCE_DEPTH) !== undefined)
    throw new RangeError(`Line ${index + 2} is not a change of an account`);
  return value as ServerChange; // checkAgainstSchema has checked it
}

function applyChanges(seed: ServerSeed, changes: readonly ServerChange[]): ServerSeed {
  const kinds = new Map<string, Map<string, SeedResource>>();
  const listKind = (name: string): Map<string, SeedResource> => {
    const resources = kinds.get(name) ?? indexResources(name, seed.resources?.[name] ?? []);
    kinds.set(name, resources);
    return resources;
  };
  for (const { resources = {}, removed = {} } of changes) {
    for (const [name, members] of Object.entries(resources))
      for (const [key, member] of indexResources(name, members)) listKind(name).set(key, member);
    for (const [name, members] of Object.entries(removed))
      for (const key of indexResources(name, members).keys()) listKind(name).delete(key);
  }
  const changed = [...kinds].map(([name, resources]) => [name, [...resources.values()]] as const);
  return {
    ...seed,
    resources: { ...seed.resources, ...Object.fromEntries(changed) },
    certificate_authorities: Object.fromEntries(
      [seed, ...changes].flatMap((part) => Object.entries(part.certificate_authorities ?? {})),
    ),
    sequence: changes.findLast(({ sequence }) => sequence !== undefined)?.sequence ?? seed.sequence ?? 0,
  };
}

/** Maps the ids in the path of each resource to the resource. */
function indexResources(name: string, members: readonly SeedResource[]): Map<string, SeedResource> {
  const names = listPathIdNamesOfKind(getKind(name));
  return new Map(members.map((member) => [names.map((id) => String(member[id])).join('/'), member]));
}

/**
 * Reads a snapshot or seed, and removes temporary files that a killed process left next to it. Returns `undefined` if
 * the file does not exist. Rejects with `RangeError`, which names the file, if the file is invalid or cannot be read.
 */
export async function readSnapshotFile(path: string, boundary?: WriteBoundary): Promise<ServerSeed | undefined> {
  return (await readSnapshotContent(path, boundary))?.seed;
}

export interface SnapshotReading {
  /** The program whose digests are trusted. Absent: none is. */
  readonly writer?: string | undefined;
  /** The file as the user named it. Default: its path. */
  readonly shown?: string | undefined;
}

/** Like `readSnapshotFile`. */
export async function readSnapshotContent(
  path: string,
  boundary: WriteBoundary = { cwd: resolve('.') },
  { writer, shown = path }: SnapshotReading = {},
): Promise<SnapshotContent | undefined> {
  await removeStaleTempFiles(path, boundary);
  const text = readSnapshotText(path, shown);
  if (text === undefined) return undefined;
  try {
    return parseSnapshotContent(text, writer);
  } catch (error) {
    if (error instanceof RangeError) throw new RangeError(`${shown}: ${error.message}`, { cause: error });
    throw error;
  }
}

/** A snapshot and its changes: each of the two is within the limits of one file. The rest is for the digest of the first. */
const MAX_SNAPSHOT_FILE_BYTES = 2 * MAX_INPUT_BYTES + 1024;

function readSnapshotText(path: string, shown: string): string | undefined {
  try {
    return readInput(path, { onlyFiles: true, maxBytes: MAX_SNAPSHOT_FILE_BYTES }).toString('utf8');
  } catch (error) {
    if (isFileError(error) && error.code === 'ENOENT') return undefined;
    throw new RangeError(`${shown} ${describeFileError(error)}`, { cause: error });
  }
}

/**
 * Replaces a snapshot file atomically. Only the user of the file may read it, because it contains keys. Returns its
 * size in bytes. Rejects if the path is or leads through a symbolic link that a checkout may contain, and with
 * `RangeError` if the snapshot is too large to be read again. Default boundary: the working folder of the process; users
 * are not checked.
 */
export async function writeSnapshotFile(
  path: string,
  snapshot: ServerSnapshot,
  boundary: WriteBoundary = { cwd: resolve('.') },
): Promise<number> {
  return (await writeSnapshot(path, snapshot, boundary)).bytes;
}

/** Like `writeSnapshotFile`. `writer`: the program that seals the file with its digest. Absent: it is not sealed. */
export async function writeSnapshot(
  path: string,
  snapshot: ServerSnapshot,
  boundary: WriteBoundary,
  writer?: string,
): Promise<SnapshotLog> {
  const line = renderSnapshotLine(snapshot);
  const finding = checkJsonLimits(line);
  if (finding !== undefined) throw new RangeError(`It ${finding}, so it could not be read again`);
  const sealed = writer === undefined ? { text: line, digest: '' } : sealLine(line, writer);
  const text = `${sealed.text}\n`;
  await replaceFile(path, text, { ...boundary, mode: 0o600 });
  return createLog(text, sealed.digest);
}

/** The line of a snapshot or of a change, without a line break. */
export function renderSnapshotLine(value: ServerSnapshot | ServerChange): string {
  return toHarmlessJson(JSON.stringify(value));
}
