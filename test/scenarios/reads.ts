import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { isModule } from '../../src/kinds/kind.ts';
import { ATTACHED_KINDS, OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';
import type { ScenarioResult } from './scenario.ts';
import { toMembers } from './setup.ts';
import { type Omission, SHOW_ALL } from './transcript.ts';
import type { SentRequest } from './wire.ts';

/** The expected number of requests of a plan: one for each page of a kind's list, and one for each module slot in a document. */
export function countReads({ setup, plan, holdings }: ScenarioResult, documents: readonly JsonObject[]): number {
  const { reads } = setup;
  if (reads !== undefined && 'number' in reads) return reads.number;
  const pageSize = Number(/limit=(\d+)/.exec(plan.requests[0]?.path ?? '')?.[1]);
  const countPages = (kind: string) => Math.ceil((holdings.beforePlan.get(kind)?.length ?? 0) / pageSize);
  const pages = OWNED_KINDS.map(({ name }) => Math.max(1, countPages(name)));
  // If there are several accounts, none has more than one page of a kind.
  const accounts = setup.accounts ?? ['the only one'];
  return [...accounts.flatMap(() => pages), ...documents.map(countSlots)].reduce(
    (sum, count) => sum + count,
    reads?.more ?? 0,
  );
}

/**
 * Finds the lists of kinds that the scenario does not use: no manifest has one, and the service never had one. A new kind is unused in every
 * scenario, so its reads are left out.
 */
export function findOtherReads({ setup, holdings }: ScenarioResult, documents: readonly JsonObject[]): Omission {
  if (setup.inFull) return SHOW_ALL;
  const held = Object.values(holdings).flatMap((resources) => [...resources].filter(([, { length }]) => length > 0));
  const kinds = new Set([...held.map(([kind]) => kind), ...documents.map(({ kind }) => kind)]);
  const others = new Set(OWNED_KINDS.filter(({ name }) => !kinds.has(name)).map(({ path }) => path));
  return {
    isLeftOut: (request) => isRead(request) && others.has(toListPath(request)),
    isComplete: (requests) => {
      const read = new Set(requests.filter(isRead).map(toListPath));
      return OWNED_KINDS.every(({ path }) => read.has(path));
    },
  };
}

function isRead({ method, status }: SentRequest): boolean {
  return method === 'GET' && status === 200;
}

function toListPath({ path }: SentRequest): string {
  return path.replace(/\?.*|^https:\/\/[^/]+/g, '');
}

/** Reads the documents of manifest files and folders. Items of lists are documents of their own. */
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
  return kind.specFields.filter(([name, field]) => isModule(field) && !ignored.includes(name)).length;
}

async function listFiles(path: string): Promise<readonly string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name, parentPath }) => join(parentPath, name));
}
