import { toBuffer } from '../files/read-input.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { createAllowance } from './bounded-yaml.ts';
import { type Environment, NO_ENVIRONMENT } from './environment.ts';
import { parseDocuments } from './parse.ts';

/** A manifest file below a folder that was named. */
export interface FoundManifest {
  /** Its path as it is shown. */
  readonly file: string;
  /** The folder that contains it, as it is shown. */
  readonly folder: string;
  readonly bytes: Uint8Array;
}

/** A `Stack` in a text, whatever else is there: what looks like one is parsed. */
const STACK = /["']?\bkind["']?\s*:\s*["']?Stack\b/;

const DEFAULTS = /["']?\bkind["']?\s*:\s*["']?Defaults\b/;

/**
 * Says what below a named folder belongs to it. A folder with a `Stack` of its own ends where another one begins; without one, all
 * is read, and a second `Stack` is a mistake.
 */
export function createStackFilter(
  root: string,
  found: readonly FoundManifest[],
): (file: Pick<FoundManifest, 'folder'>) => boolean {
  const likely = found.filter(({ bytes }) => mayHoldStack(bytes));
  const isNested = likely.some(({ folder }) => folder !== root) && likely.some(({ folder }) => folder === root);
  const stacks = isNested ? likely.filter(({ bytes }) => holdsStack(bytes)).map(({ folder }) => folder) : [];
  if (!stacks.includes(root)) return () => true;
  const ends = stacks.filter((folder) => folder !== root);
  return ({ folder }) => !ends.some((end) => folder === end || folder.startsWith(`${end}/`));
}

/** The documents of a file as far as they can be read. Nothing else is checked. */
export interface RawDocuments {
  /** Every one that is a mapping, those inside of a `List` too. */
  readonly documents: readonly JsonObject[];
  /** The text is not valid YAML: it may contain more documents. */
  readonly isBroken: boolean;
}

/** Reads the documents of a file. */
export function readRawDocuments(bytes: Uint8Array, env: Environment): RawDocuments {
  const parsed = [...parseDocuments(new TextDecoder().decode(bytes), env, createAllowance())];
  return {
    documents: parsed.flatMap(({ value }) => expandList(value)),
    isBroken: parsed.some(({ isBroken }) => isBroken),
  };
}

/** The documents without a word on what cannot be read. */
export function listRawDocuments(bytes: Uint8Array, env: Environment): readonly JsonObject[] {
  return readRawDocuments(bytes, env).documents;
}

/** Whether a file may hold a `Stack`. Fast: most files hold none. */
export function mayHoldStack(bytes: Uint8Array): boolean {
  const buffer = toBuffer(bytes);
  return buffer.includes('Stack') && STACK.test(buffer.toString('utf8'));
}

/** Whether a file may hold a `Defaults`. */
export function mayHoldDefaults(bytes: Uint8Array): boolean {
  const buffer = toBuffer(bytes);
  return buffer.includes('Defaults') && DEFAULTS.test(buffer.toString('utf8'));
}

/** Whether a document of a file is a `Stack`. */
export function holdsStack(bytes: Uint8Array): boolean {
  return listRawDocuments(bytes, NO_ENVIRONMENT).some(({ kind }) => kind === 'Stack');
}

/** A mapping, or the mappings of a `List`. */
export function expandList(value: Json): readonly JsonObject[] {
  if (!isJsonObject(value)) return [];
  const { kind, items } = value;
  return kind === 'List' && items !== undefined && isJsonArray(items) ? items.flatMap(expandList) : [value];
}
