import { toBuffer } from '../files/read-input.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { createYamlBudget } from './bounded-yaml.ts';
import { type ManifestEnvironment, NO_ENVIRONMENT } from './environment.ts';
import { isApiVersionOfOthers } from './foreign.ts';
import { parseDocuments } from './parse.ts';
import type { Source, SourceContent } from './source.ts';

/** A manifest file below a folder that the user named. */
export interface FoundManifest extends Source {
  /** The folder of the file, as it is shown. */
  readonly folder: string;
}

/** Matches text that may declare a `Stack`. Only files that match are parsed. */
const STACK = /["']?\bkind["']?\s*:\s*["']?Stack\b/;

const DEFAULTS = /["']?\bkind["']?\s*:\s*["']?Defaults\b/;

/**
 * Returns a predicate that says whether a file below `root` belongs to the stack of `root`. If `root` contains a
 * `Stack`, files in folders of other stacks do not belong. Otherwise every file belongs, and a second `Stack` is a
 * mistake.
 */
export function createStackFileFilter(
  root: string,
  found: readonly FoundManifest[],
): (file: Pick<FoundManifest, 'folder'>) => boolean {
  const likely = found.filter(({ bytes }) => mayContainStackDocument(bytes));
  const isNested = likely.some(({ folder }) => folder !== root) && likely.some(({ folder }) => folder === root);
  const stacks = isNested ? likely.filter(hasStackDocument).map(({ folder }) => folder) : [];
  if (!stacks.includes(root)) return () => true;
  const ends = stacks.filter((folder) => folder !== root);
  return ({ folder }) => !ends.some((end) => folder === end || folder.startsWith(`${end}/`));
}

/** The documents of a file that could be read. Their fields are not checked. */
export interface ReadableFileDocuments {
  /** Every mapping in the file, including the members of a `List`. */
  readonly documents: readonly JsonObject[];
  /** Whether the text is invalid YAML. The file may then contain more documents. */
  readonly isBroken: boolean;
}

export function parseReadableFileDocuments(
  { yaml }: Pick<SourceContent, 'yaml'>,
  env: ManifestEnvironment,
): ReadableFileDocuments {
  const parsed = [...parseDocuments(yaml, env, createYamlBudget())];
  return {
    documents: parsed.flatMap(({ value }) => expandListDocument(value)),
    isBroken: parsed.some(({ isBroken }) => isBroken),
  };
}

/** Lists the documents of a file and ignores YAML errors. */
export function listReadableDocuments(
  content: Pick<SourceContent, 'yaml'>,
  env: ManifestEnvironment,
): readonly JsonObject[] {
  return parseReadableFileDocuments(content, env).documents;
}

/**
 * Whether a file may contain a `Stack`, also one whose YAML is invalid. Searches the text: a file would otherwise be
 * parsed once for each question about it.
 */
export function mayContainStackDocument(bytes: Uint8Array): boolean {
  const buffer = toBuffer(bytes);
  return buffer.includes('Stack') && STACK.test(buffer.toString('utf8'));
}

export function mayContainDefaultsDocument(bytes: Uint8Array): boolean {
  const buffer = toBuffer(bytes);
  return buffer.includes('Defaults') && DEFAULTS.test(buffer.toString('utf8'));
}

export function hasStackDocument(content: Pick<SourceContent, 'yaml'>): boolean {
  return listReadableDocuments(content, NO_ENVIRONMENT).some((document) => isOfOwnKind(document, 'Stack'));
}

/** Whether a document has this kind and is not that of another tool, such as a `Stack` of Pulumi. */
export function isOfOwnKind({ kind, apiVersion }: JsonObject, wanted: 'Stack' | 'Defaults'): boolean {
  return kind === wanted && !isApiVersionOfOthers(apiVersion);
}

/** Returns the mapping itself, or the mappings in a `List`. Empty for any other value. */
export function expandListDocument(value: Json): readonly JsonObject[] {
  if (!isJsonObject(value)) return [];
  const { kind, items } = value;
  return kind === 'List' && items !== undefined && isJsonArray(items) ? items.flatMap(expandListDocument) : [value];
}
