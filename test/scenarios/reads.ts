import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { isModule, listSpecFields } from '../../src/kinds/kind.ts';
import { ATTACHED_KINDS, OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';
import type { Holdings } from './scenario.ts';
import { toMembers } from './setup.ts';

/** How many requests planning may take: one for each page of a kind's list, and one for each module slot that a document declares. */
export function countReads(before: Holdings, documents: readonly JsonObject[], pageSize: number): number {
  const pages = OWNED_KINDS.map(({ name }) => Math.max(1, Math.ceil((before.get(name)?.length ?? 0) / pageSize)));
  return [...pages, ...documents.map(countSlots)].reduce((sum, count) => sum + count, 0);
}

/** The documents of manifest files and folders; the items of lists stand for themselves. */
export async function readDocuments(paths: readonly string[]): Promise<readonly JsonObject[]> {
  const files = await Promise.all(paths.map(listFiles));
  const texts = await Promise.all(files.flat().map((file) => readFile(file, 'utf8')));
  return texts
    .flatMap((text) => [...parseAllDocuments(text)].map((document): Json => document.toJS()))
    .filter(isJsonObject)
    .flatMap((document) =>
      document['kind'] === 'List' ? toMembers(document['items']).filter(isJsonObject) : [document],
    );
}

function countSlots(document: JsonObject): number {
  const kind = ATTACHED_KINDS.find(({ name }) => name === document['kind']);
  if (kind === undefined) return 0;
  const lifecycle = document['lifecycle'];
  const ignored = toMembers(isJsonObject(lifecycle) ? lifecycle['ignore'] : undefined);
  return listSpecFields(kind).filter(([name, field]) => isModule(field) && !ignored.includes(name)).length;
}

async function listFiles(path: string): Promise<readonly string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name, parentPath }) => join(parentPath, name));
}
