import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { findRepository, findRoots } from '../files/boundary.ts';
import { toBuffer } from '../files/read-input.ts';
import { NO_ENVIRONMENT, toEnvironment } from '../manifest/environment.ts';
import { type FolderDiagnostic, type ManifestBytes, readDefaults, visitManifests } from '../manifest/load.ts';
import {
  type FoundManifest,
  listRawDocuments,
  mayHoldStack,
  type RawDocuments,
  readRawDocuments,
} from '../manifest/stack-folders.ts';
import { listDefaultsOf, mergeSettings } from '../manifest/stack-settings.ts';
import { type Address, isResourceName, toAddress } from '../model/address.ts';
import { KEY_VARIABLE } from '../model/api-key.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { createOwnerSearch, type StackFolder, type StackTree, type TakenResource } from '../model/stack-tree.ts';
import type { Host, OpenNeighbours } from '../stack/host.ts';
import { normalizeUrl } from '../stack/settings.ts';
import { findMistake, findTaker } from './hand-over.ts';

/**
 * Finds the stacks in a tree of folders. Reads each file once and keeps none: what the stacks hold is read when each is planned. Nothing is
 * validated here but what only a whole tree shows.
 */

/** How stacks are looked for. */
type FindContext = Pick<Host, 'cwd' | 'env' | 'offered' | 'root' | 'budget'> & {
  /** Said for all of them, whatever their documents say. */
  readonly baseUrl?: string | undefined;
  readonly keyEnv?: string | undefined;
};

/** The stacks below a folder. */
export function findStacks(root: string, context: FindContext): StackTree {
  const files: FoundFile[] = [];
  const findings = visitManifests(root, context, (manifest) => files.push(inspect(manifest, context)));
  const known = files.map(({ file }) => file);
  const defaults = [...files.flatMap((file) => file.defaults), ...readDefaultsAbove(root, context, known)];
  const own = new Map<string, FoundFile>();
  for (const file of files) if (file.stack !== undefined && !own.has(file.folder)) own.set(file.folder, file);
  const findOwner = createOwnerSearch(own.keys());
  const members = Map.groupBy(files, (file) => findOwner(file.folder));
  const unreadable = Map.groupBy(findings, (finding) => findOwner(finding.folder));
  const stacks = [...own].map(([folder, file]) =>
    toStack(
      { folder, file, defaults, members: [...(members.get(folder) ?? []), ...listUnreadable(unreadable.get(folder))] },
      context,
    ),
  );
  const unowned = members.get(undefined) ?? [];
  return {
    root,
    stacks,
    unowned: unowned.filter(({ standsApart }) => !standsApart).map(({ file }) => file),
    strays: unowned.filter(({ takes }) => takes.length > 0),
    // What cannot be read in the folder of a stack is told when that stack is read.
    diagnostics: [...(unreadable.get(undefined) ?? []).map(({ diagnostic }) => diagnostic), ...listDoubles(stacks)],
  };
}

/**
 * The Defaults in a folder and above it, the nearest first, but for those of files that are known. What is wrong with them is told when a stack is read.
 */
export function readDefaultsAbove(
  folder: string,
  context: Pick<Host, 'cwd' | 'env' | 'offered' | 'root'>,
  known: readonly string[] = [],
): readonly FoundDefaults[] {
  const { sources } = readDefaults([folder], known, { cwd: context.cwd, roots: findRoots([folder], context) });
  const env = toEnvironment(context);
  return sources.flatMap(({ file, bytes }) => listFoundDefaults(file, listRawDocuments(bytes, env)));
}

function listFoundDefaults(file: string, documents: readonly JsonObject[]): readonly FoundDefaults[] {
  const defaults = documents.filter(({ kind }) => kind === 'Defaults');
  return defaults.map(({ spec }) => ({ file, folder: dirname(file), spec: toMapping(spec) }));
}

/** What cannot be read in the folder of a stack may take over anything. */
function listUnreadable(findings: readonly FolderDiagnostic[] = []): readonly StackDependencies[] {
  return findings.map(({ diagnostic }) => ({ needs: [], takes: [], unread: [{ why: diagnostic.message }] }));
}

/** The names of the stacks below a folder, each with its folder, for completion on the command line: nothing is checked, and reading stops when `isLate` says so. */
export function listStackNames(
  root: string,
  { cwd }: Pick<FindContext, 'cwd'>,
  isLate: () => boolean,
): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  visitManifests(root, { cwd, isDone: isLate }, ({ folder, bytes }) => {
    if (!mayHoldStack(bytes)) return;
    for (const { kind, metadata } of listRawDocuments(bytes, NO_ENVIRONMENT)) {
      const { name } = toMapping(metadata);
      if (kind === 'Stack' && typeof name === 'string' && isResourceName(name)) names.set(name, folder);
    }
  });
  return names;
}

/** What a tree has to know of a file. */
interface FoundFile extends StackDependencies {
  readonly file: string;
  readonly folder: string;
  /** Its first `Stack` document. */
  readonly stack: JsonObject | undefined;
  readonly defaults: readonly FoundDefaults[];
  /** It has policies, or settings of stacks, and nothing else: those may stand apart from every stack. */
  readonly standsApart: boolean;
}

/** Settings of every stack in a folder and below it. */
export interface FoundDefaults extends SettingsLayer {
  readonly file: string;
}

/** What a document in a folder states. */
interface SettingsLayer {
  readonly folder: string;
  readonly spec: JsonObject;
}

/** Documents that say something about a whole tree. A file without any of them is not parsed. A key may be written with escapes. */
const OF_A_TREE = /\bkind["']?\s*:\s*["']?(?:Stack|Defaults|External)\b|\brenamed_from\b|\\[ux]/;

/** The kinds of documents that are no members of a `List`. */
const KIND = /^["']?kind["']?\s*:\s*["']?(\w+)/gm;

function inspect({ file, folder, bytes }: FoundManifest, context: FindContext): FoundFile {
  const buffer = toBuffer(bytes);
  const text = buffer.toString('utf8');
  const kinds = Array.from(text.matchAll(KIND), ([, kind]) => kind);
  const standsApart = kinds.length > 0 && kinds.every((kind = '') => APART.includes(kind));
  if (!OF_A_TREE.test(text)) return { file, folder, stack: undefined, defaults: [], standsApart, needs: [], takes: [] };
  const raw = readRawDocuments(bytes, toEnvironment(context));
  const stack = raw.documents.find(({ kind }) => kind === 'Stack');
  const defaults = listFoundDefaults(file, raw.documents);
  return { file, folder, stack, defaults, standsApart, ...toDependencies(raw) };
}

const APART = ['Policy', 'PolicyTest', 'Defaults'];

/** What manifests say of other stacks. */
type StackDependencies = Pick<StackFolder, 'needs' | 'takes' | 'unread'>;

/** What the manifests of a stack say of others when they do not stand in its folder. */
export function readDependencies(
  sources: readonly ManifestBytes[],
  context: Pick<FindContext, 'env' | 'offered'>,
): StackDependencies {
  const env = toEnvironment(context);
  return mergeDependencies(
    sources.map((source) => {
      const mistake = findMistake(source, env);
      const unread = mistake === undefined ? [] : [mistake];
      return { ...toDependencies(readRawDocuments(source.bytes, env)), unread };
    }),
  );
}

/** A file that is not valid YAML takes nothing over for certain: `findTaker` looks into it when a resource is to be deleted. */
function toDependencies({ documents, isBroken }: RawDocuments): StackDependencies {
  const needs = documents.flatMap(({ kind, spec }) => {
    const stack = kind === 'External' ? toMapping(spec)['stack'] : undefined;
    return typeof stack === 'string' ? [stack] : [];
  });
  return { needs, takes: isBroken ? [] : documents.flatMap(listTakes) };
}

/** The dependencies of several files as those of one stack. */
function mergeDependencies(all: readonly StackDependencies[]): StackDependencies {
  const unread = all.flatMap((one) => one.unread ?? []);
  return {
    needs: [...new Set(all.flatMap(({ needs }) => needs))].sort(),
    takes: all.flatMap(({ takes }) => takes),
    ...(unread.length > 0 && { unread }),
  };
}

function listTakes({ kind, metadata, lifecycle }: JsonObject): readonly TakenResource[] {
  const { stack, name } = toMapping(toMapping(lifecycle)['renamed_from']);
  if (typeof kind !== 'string' || typeof stack !== 'string' || typeof name !== 'string') return [];
  const { name: own } = toMapping(metadata);
  const as: Address = toAddress(kind, typeof own === 'string' ? own : '');
  return [{ stack, resource: toAddress(kind, name), as }];
}

interface Members {
  readonly folder: string;
  /** The one with the `Stack`. */
  readonly file: FoundFile;
  readonly members: readonly StackDependencies[];
  /** Those of the whole tree, and above it. */
  readonly defaults: readonly FoundDefaults[];
}

function toStack({ folder, file, members, defaults }: Members, { env, baseUrl, keyEnv }: FindContext): StackFolder {
  const { metadata, spec } = file.stack ?? {};
  const { name } = toMapping(metadata);
  const layers = [{ folder, spec: toMapping(spec) }, ...listDefaultsOf(folder, defaults, (one) => one.folder)];
  const { api, render } = mergeSettings(layers.map((layer) => layer.spec));
  const { base_url: stated, key_env: statedKey } = toMapping(api);
  const given = baseUrl ?? (env['EDGEWISE_BASE_URL'] || undefined) ?? (typeof stated === 'string' ? stated : undefined);
  const key =
    keyEnv ?? (env['EDGEWISE_KEY_ENV'] || undefined) ?? (typeof statedKey === 'string' ? statedKey : undefined);
  return {
    name: typeof name === 'string' ? name : '',
    folder,
    file: file.file,
    baseUrl: given === undefined ? undefined : normalizeUrl(given),
    ...(key !== undefined && key !== KEY_VARIABLE && { keyEnv: key }),
    inputs: listPaths('inputs', folder, layers),
    policies: listPaths('policies', folder, layers),
    isRendered: render !== undefined,
    ...mergeDependencies(members),
  };
}

function toMapping(value: Json | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}

function listTexts(value: Json | undefined): readonly string[] {
  return value !== undefined && isJsonArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

/** The paths that the nearest document with a setting states, relative to the folder of the stack. */
function listPaths(
  setting: 'inputs' | 'policies',
  folder: string,
  layers: readonly SettingsLayer[],
): readonly string[] {
  const layer = layers.find(({ spec }) => Object.hasOwn(spec, setting));
  if (layer === undefined) return [];
  const way = relative(folder, layer.folder);
  return listTexts(layer.spec[setting]).map((path) => (isAbsolute(path) ? path : join(way, path)));
}

/** Two stacks of one name at one service would each delete what the other makes. */
function listDoubles(stacks: readonly StackFolder[]): readonly Diagnostic[] {
  const named = stacks.filter(({ name }) => name !== '');
  const groups = Map.groupBy(named, ({ name, baseUrl = '' }) => JSON.stringify([name, baseUrl]));
  return [...groups.values()].flatMap(([first, ...others]) =>
    others.map((other): Diagnostic => {
      const at = other.baseUrl === undefined ? '' : ` at ${other.baseUrl}`;
      return {
        code: 'duplicate-stack',
        severity: 'error',
        message: `${first?.file} and ${other.file} both hold a stack ${other.name}${at}, so each would delete what the other creates`,
        remedy: 'Give one of them another name. The name is part of the mark on every resource.',
      };
    }),
  );
}

/** Reads what the other stacks of the repository take over, or may take over, from one that is planned without them. Outside of a repository there are no others. */
export const openNeighbours: OpenNeighbours = async ({ inputs }, host) => {
  const { cwd, root } = host;
  const files = new Set(inputs.map(({ file }) => resolve(cwd, file)));
  const [first] = files;
  const top = first === undefined ? undefined : (root ?? findRepository(dirname(first)));
  if (top === undefined) return () => undefined;
  const tree = findStacks(relative(cwd, resolve(cwd, top)) || '.', host);
  const own = tree.stacks.find(({ file }) => files.has(resolve(cwd, file)));
  return (address) => own && findTaker(own, { tree, address }, host);
};
