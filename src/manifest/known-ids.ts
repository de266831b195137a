import { isIdOf } from '../kinds/ids.ts';
import { listIdPrefixes } from '../kinds/references.ts';
import { findKind } from '../kinds/tables/registry.ts';
import { type Address, isAddress } from '../model/address.ts';
import { isJsonObject } from '../model/json.ts';
import type { ForeignResource } from '../model/state.ts';
import type { DocumentIndex, DocumentProblem, ManifestDocument, Problem } from './problem.ts';

/** What is known about the ids that manifests state themselves. */
export interface KnownIds {
  readonly ids: ReadonlyMap<Address, string>;
  /** Externals that lead to a resource of another stack. */
  readonly foreign: ReadonlyMap<Address, ForeignResource>;
  /** Each circle once, at the first of its documents. */
  readonly circles: readonly DocumentProblem[];
}

/**
 * The ids that manifests state themselves: of an External, and of an HTTPS edge or route. Instead of an id they may have the address of
 * another such document, so the documents form chains, and a chain can be a circle.
 */
export function resolveKnownIds(index: DocumentIndex): KnownIds {
  const known = new Map<ManifestDocument, string | undefined>();
  const circles: DocumentProblem[] = [];
  for (const document of index.values()) {
    const chain = listChain(document, index, known);
    const last = chain.at(-1);
    const next = last === undefined ? undefined : findNext(last, index);
    const start = next === undefined ? -1 : chain.indexOf(next);
    if (start >= 0) circles.push(...toCircle(chain.slice(start), index));
    const id = next === undefined ? last && toId(last) : known.get(next);
    for (const member of chain) known.set(member, id);
  }
  const ids = [...index].flatMap(([address, document]): [Address, string][] => {
    const id = known.get(document);
    return id === undefined ? [] : [[address, id]];
  });
  return { ids: new Map(ids), foreign: listForeign(index), circles };
}

function listForeign(index: DocumentIndex): ReadonlyMap<Address, ForeignResource> {
  const found = [...index].flatMap(([address, document]): [Address, ForeignResource][] => {
    const last = listChain(document, index, new Map()).at(-1);
    const foreign = last === undefined ? undefined : toForeign(last);
    return foreign === undefined ? [] : [[address, foreign]];
  });
  return new Map(found);
}

function toForeign({ kind, value: { spec } }: ManifestDocument): ForeignResource | undefined {
  if (kind !== 'External' || !isJsonObject(spec)) return undefined;
  const { stack, resource } = spec;
  if (typeof stack !== 'string' || typeof resource !== 'string' || !isAddress(resource)) return undefined;
  return { stack, resource };
}

/** The document and those that its id leads to, up to the end of the chain, a repetition, or a known id. */
function listChain(
  document: ManifestDocument,
  index: DocumentIndex,
  known: ReadonlyMap<ManifestDocument, unknown>,
): readonly ManifestDocument[] {
  const chain = new Set<ManifestDocument>();
  let next: ManifestDocument | undefined = document;
  while (next !== undefined && !known.has(next) && !chain.has(next)) {
    chain.add(next);
    next = findNext(next, index);
  }
  return [...chain];
}

function findNext(document: ManifestDocument, index: DocumentIndex): ManifestDocument | undefined {
  const id = toStatedId(document);
  return id !== undefined && isAddress(id) ? index.get(id) : undefined;
}

function toStatedId({ kind, value }: ManifestDocument): string | undefined {
  if (kind !== 'External' && findKind(kind)?.role !== 'attached') return undefined;
  const { spec } = value;
  const id = isJsonObject(spec) ? spec['id'] : undefined;
  return typeof id === 'string' ? id : undefined;
}

const ANY_ID = { prefixes: listIdPrefixes() };

/** The id that a document states; `undefined`: none, or not a valid one. */
function toId(document: ManifestDocument): string | undefined {
  const id = toStatedId(document);
  return id !== undefined && isIdOf(ANY_ID, id) ? id : undefined;
}

function toCircle(members: readonly ManifestDocument[], index: DocumentIndex): readonly DocumentProblem[] {
  const order = [...index.values()].filter((document) => members.includes(document));
  const [first, ...others] = order;
  if (first === undefined) return [];
  const start = members.indexOf(first);
  const round = [...members.slice(start), ...members.slice(0, start), first].map(({ address }) => address);
  const problem: Problem = {
    code: 'circular-reference',
    message: `spec.id refers to itself: ${round.join(' → ')}`,
    remedy: 'Write a literal id in one of them.',
    path: ['spec', 'id'],
    target: 'value',
    related: others.map(({ position, address }) => ({
      message: `through ${address}`,
      place: { position, path: ['spec', 'id'], target: 'value' },
    })),
  };
  return [{ document: first, problem }];
}
