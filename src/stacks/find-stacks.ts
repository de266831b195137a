import { toBuffer } from '../files/read-input.ts';
import { visitManifests } from '../manifest/load.ts';
import { type FoundManifest, listRawDocuments, mayHoldStack } from '../manifest/stack-folders.ts';
import { isResourceName, toAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import type { StackFolder, StackTree } from '../model/stack-tree.ts';
import type { ForeignResource } from '../model/state.ts';
import { toNormalUrl } from '../stack/settings.ts';
import type { Surroundings } from '../stack/surroundings.ts';

/**
 * Finds the stacks in a tree of folders. Reads each file once and keeps none: what the stacks hold is read when each is planned. Nothing is
 * validated here but what only a whole tree shows.
 */

/** How stacks are looked for. */
export type FindContext = Pick<Surroundings, 'cwd' | 'env'> & {
  /** Said for all of them, whatever their documents say. */
  readonly baseUrl?: string | undefined;
};

/** The stacks below a folder. */
export function findStacks(root: string, context: FindContext): StackTree {
  const files: FoundFile[] = [];
  const faults = visitManifests(root, context, (manifest) => files.push(inspect(manifest, context)));
  const own = new Map<string, FoundFile>();
  for (const file of files) if (file.stack !== undefined && !own.has(file.folder)) own.set(file.folder, file);
  const folders = [...own.keys()];
  const owners = new Map(files.map((file) => [file, findOwner(file.folder, folders)]));
  const members = Map.groupBy(files, (file) => owners.get(file));
  const stacks = [...own].map(([folder, file]) =>
    toStack({ folder, file, members: members.get(folder) ?? [] }, context),
  );
  return {
    root,
    stacks,
    unowned: (members.get(undefined) ?? []).filter(({ isOfPolicies }) => !isOfPolicies).map(({ file }) => file),
    // What cannot be read in the folder of a stack is told when that stack is read.
    diagnostics: [
      ...faults.flatMap(({ folder, diagnostic }) => (findOwner(folder, folders) === undefined ? [diagnostic] : [])),
      ...listDoubles(stacks),
    ],
  };
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
    for (const { kind, metadata } of listRawDocuments(bytes, {})) {
      const { name } = toMapping(metadata);
      if (kind === 'Stack' && typeof name === 'string' && isResourceName(name)) names.set(name, folder);
    }
  });
  return names;
}

/** The nearest of some folders that a folder is or is in; `undefined`: none. */
export function findOwner(folder: string, folders: readonly string[]): string | undefined {
  const around = folders.filter((one) => one === '.' || folder === one || folder.startsWith(`${trim(one)}/`));
  return around.reduce<string | undefined>(
    (nearest, one) =>
      nearest === undefined || nearest === '.' || (one !== '.' && one.length > nearest.length) ? one : nearest,
    undefined,
  );
}

function trim(folder: string): string {
  return folder.replace(/\/+$/, '');
}

/** What a tree has to know of a file. */
interface FoundFile extends StackTies {
  readonly file: string;
  readonly folder: string;
  /** Its first `Stack` document. */
  readonly stack: JsonObject | undefined;
  /** It has policies and nothing else: those may stand apart from every stack. */
  readonly isOfPolicies: boolean;
}

/** Documents that say something about a whole tree. A file without any of them is not parsed. */
const OF_A_TREE = /\bkind["']?\s*:\s*["']?(?:Stack|External)\b|\brenamed_from\b/;

/** The kinds of documents that are no members of a `List`. */
const KIND = /^["']?kind["']?\s*:\s*["']?(\w+)/gm;

function inspect({ file, folder, bytes }: FoundManifest, { env }: FindContext): FoundFile {
  const buffer = toBuffer(bytes);
  const text = buffer.toString('utf8');
  const documents = OF_A_TREE.test(text) ? listRawDocuments(bytes, env) : [];
  const kinds = Array.from(text.matchAll(KIND), ([, kind]) => kind);
  const isOfPolicies = kinds.length > 0 && kinds.every((kind) => kind === 'Policy' || kind === 'PolicyTest');
  const stack = documents.find(({ kind }) => kind === 'Stack');
  return { file, folder, stack, isOfPolicies, ...toTies(documents) };
}

/** What manifests say of other stacks. */
export type StackTies = Pick<StackFolder, 'needs' | 'takes'>;

/** The ties that a file states. */
export function readTies(bytes: Uint8Array, { env }: Pick<FindContext, 'env'>): StackTies {
  return toTies(listRawDocuments(bytes, env));
}

function toTies(documents: readonly JsonObject[]): StackTies {
  const needs = documents.flatMap((document) => {
    const stack = document['kind'] === 'External' ? toMapping(document['spec'])['stack'] : undefined;
    return typeof stack === 'string' ? [stack] : [];
  });
  return { needs, takes: documents.flatMap(listTakes) };
}

/** The ties of several files as those of one stack. */
export function joinTies(ties: readonly StackTies[]): StackTies {
  return {
    needs: [...new Set(ties.flatMap(({ needs }) => needs))].sort(),
    takes: ties.flatMap(({ takes }) => takes),
  };
}

function listTakes({ kind, lifecycle }: JsonObject): readonly ForeignResource[] {
  const { stack, name } = toMapping(toMapping(lifecycle)['renamed_from']);
  if (typeof kind !== 'string' || typeof stack !== 'string' || typeof name !== 'string') return [];
  return [{ stack, resource: toAddress(kind, name) }];
}

interface Members {
  readonly folder: string;
  /** The one with the `Stack`. */
  readonly file: FoundFile;
  readonly members: readonly FoundFile[];
}

function toStack({ folder, file, members }: Members, { env, baseUrl }: FindContext): StackFolder {
  const { metadata, spec } = file.stack ?? {};
  const { name } = toMapping(metadata);
  const { api, inputs, policies, render } = toMapping(spec);
  const { base_url: stated, key_env: keyEnv } = toMapping(api);
  const given = baseUrl ?? (env['EDGEWISE_BASE_URL'] || undefined) ?? (typeof stated === 'string' ? stated : undefined);
  return {
    name: typeof name === 'string' ? name : '',
    folder,
    file: file.file,
    baseUrl: given === undefined ? undefined : toNormalUrl(given),
    ...(typeof keyEnv === 'string' && { keyEnv }),
    inputs: listTexts(inputs),
    policies: listTexts(policies),
    isRendered: render !== undefined,
    ...joinTies(members),
  };
}

function toMapping(value: Json | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}

function listTexts(value: Json | undefined): readonly string[] {
  return value !== undefined && isJsonArray(value) ? value.filter((one) => typeof one === 'string') : [];
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
