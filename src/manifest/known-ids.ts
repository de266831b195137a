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
  const ends = new Map<ManifestDocument, ManifestDocument | undefined>();
  const circles: DocumentProblem[] = [];
  const stating = [...index].filter(([, { kind }]) => mayStateId(kind));
  const ranks = new Map(stating.map(([, document], rank) => [document, rank]));
  for (const [, document] of stating) {
    const chain = listChain(document, index, ends);
    const last = chain.at(-1);
    const next = last === undefined ? undefined : findNext(last, index);
    const start = next === undefined ? -1 : chain.indexOf(next);
    if (start >= 0) circles.push(...toCircle(chain.slice(start), ranks));
    const end = next === undefined ? last : ends.get(next);
    for (const member of chain) ends.set(member, end);
  }
  const ids = stating.flatMap(([address, document]): [Address, string][] => {
    const id = toId(ends.get(document));
    return id === undefined ? [] : [[address, id]];
  });
  const foreign = stating.flatMap(([address, document]): [Address, ForeignResource][] => {
    const resource = toForeign(ends.get(document));
    return resource === undefined ? [] : [[address, resource]];
  });
  return { ids: new Map(ids), foreign: new Map(foreign), circles };
}

function toForeign(document: ManifestDocument | undefined): ForeignResource | undefined {
  const spec = document?.value['spec'];
  if (document?.kind !== 'External' || !isJsonObject(spec)) return undefined;
  const { stack, resource } = spec;
  if (typeof stack !== 'string' || typeof resource !== 'string' || !isAddress(resource)) return undefined;
  return { stack, resource };
}

/** The document and those that its id leads to, up to the end of the chain, a repetition, or one whose end is known. */
function listChain(
  document: ManifestDocument,
  index: DocumentIndex,
  ends: ReadonlyMap<ManifestDocument, unknown>,
): readonly ManifestDocument[] {
  const chain = new Set<ManifestDocument>();
  let next: ManifestDocument | undefined = document;
  while (next !== undefined && !ends.has(next) && !chain.has(next)) {
    chain.add(next);
    next = findNext(next, index);
  }
  return [...chain];
}

function findNext(document: ManifestDocument, index: DocumentIndex): ManifestDocument | undefined {
  const id = toStatedId(document);
  return id !== undefined && isAddress(id) ? index.get(id) : undefined;
}

function mayStateId(kind: string): boolean {
  return kind === 'External' || findKind(kind)?.role === 'attached';
}

function toStatedId({ kind, value }: ManifestDocument): string | undefined {
  if (!mayStateId(kind)) return undefined;
  const { spec } = value;
  const id = isJsonObject(spec) ? spec['id'] : undefined;
  return typeof id === 'string' ? id : undefined;
}

const ANY_ID = { prefixes: listIdPrefixes() };

/** The id that a document states; `undefined`: none, or not a valid one. */
function toId(document: ManifestDocument | undefined): string | undefined {
  const id = document === undefined ? undefined : toStatedId(document);
  return id !== undefined && isIdOf(ANY_ID, id) ? id : undefined;
}

function toCircle(
  members: readonly ManifestDocument[],
  ranks: ReadonlyMap<ManifestDocument, number>,
): readonly DocumentProblem[] {
  const order = members.toSorted((left, right) => (ranks.get(left) ?? 0) - (ranks.get(right) ?? 0));
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
