import type { Kind } from '../kinds/kind.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { type Address, toAddress, toShownAddress } from '../model/address.ts';
import { type Diagnostic, hasErrors } from '../model/diagnostic.ts';
import type { DesiredResource, DesiredState, LiveResource, LiveState } from '../model/state.ts';
import { Adoptions, listIdleTakeOvers, type Ownership } from './adoptions.ts';
import { compareBearers, isUndelivered } from './compare-bearers.ts';
import { type Bearers, type Owned, Renames } from './renames.ts';

/** A desired and a live resource that are the same one, or either alone. */
export interface Pair {
  readonly address: Address;
  /** Id of the live resource that keeps the address; absent: this is no duplicate. */
  readonly duplicateOf?: string;
  readonly kind: Kind;
  readonly desired: DesiredResource | undefined;
  readonly live: LiveResource | undefined;
  /** `mark`: it bears our mark; `adopt`: the manifest takes it over; `attachment`: modules on what exists; `duplicate`: to be pruned. */
  readonly by: 'mark' | 'adopt' | 'attachment' | 'duplicate';
  /** The former name in the mark, until the manifest's name replaces it. */
  readonly formerName?: string | undefined;
  /** The former name that the mark will record. */
  readonly was?: string | undefined;
  /** Among its duplicates is a credential whose token was not delivered: a replacement broke off. */
  readonly hasUndelivered?: boolean;
}

/** The pairs, sorted by address, and what is wrong with some. */
export interface Matched {
  readonly pairs: readonly Pair[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Pairs desired with live resources: by mark, by `lifecycle.adopt`, or by the ids of an attachment. */
export function matchResources(
  desired: DesiredState,
  live: LiveState,
  { takeOver, isLeft }: { readonly takeOver: readonly string[]; readonly isLeft: (address: Address) => boolean },
): Matched {
  const owned = groupOwned(desired, live);
  const renames = new Renames(desired, owned);
  const ownership: Ownership = { stack: desired.stack.name, takeOver };
  const adoptions = new Adoptions(live, ownership);
  const diagnostics: Diagnostic[] = listMarkTrouble(live);
  const pairs: Pair[] = [];
  for (const resource of desired.resources.values()) {
    const kind = getKind(resource.kind);
    const bearers = renames.bearersOf(resource);
    if (kind.role === 'attached') {
      pairs.push({
        address: resource.address,
        kind,
        desired: resource,
        live: live.attachments.get(resource.address),
        by: 'attachment',
      });
      continue;
    }
    const subject = { address: resource.address, kind, desired: resource, was: renames.toRemember(resource) };
    const adoption = bearers.live.length === 0 ? adoptions.find(resource) : undefined;
    if (adoption !== undefined && 'code' in adoption) diagnostics.push(adoption);
    if (adoption !== undefined && !('code' in adoption)) pairs.push({ ...subject, live: adoption, by: 'adopt' });
    else if (adoption?.severity !== 'error') pairs.push(...pairBearers(subject, bearers));
  }
  for (const [address, bearers] of owned) {
    const [first] = bearers;
    const isGone = !desired.resources.has(address) && !renames.isTaken(address) && !isLeft(address);
    if (first !== undefined && isGone)
      pairs.push(...pairBearers({ address, kind: getKind(first.kind), desired: undefined }, { live: bearers }));
  }
  const adopted = pairs.flatMap((pair) => (pair.by === 'adopt' ? (pair.live ?? []) : []));
  if (!hasErrors(diagnostics)) diagnostics.push(...listIdleTakeOvers(adopted, live, ownership));
  return {
    pairs: sortPairs(pairs),
    diagnostics: sortDiagnostics([...diagnostics, ...pairs.filter(isDuplicate).map(toDuplicateWarning)]),
  };
}

/** Sorted by message, so that the order of reading does not show. */
function sortDiagnostics(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return diagnostics.toSorted((left, right) => (left.message < right.message ? -1 : 1));
}

function sortPairs(pairs: readonly Pair[]): readonly Pair[] {
  const shown = pairs.map((pair) => ({ pair, address: toShownAddress({ ...pair, id: pair.live?.id }) }));
  return shown.sort((left, right) => (left.address < right.address ? -1 : 1)).map(({ pair }) => pair);
}

function groupOwned(desired: DesiredState, live: LiveState): Owned {
  const marked = [...live.resources.values()].flat().filter(({ mark }) => mark?.stack === desired.stack.name);
  return Map.groupBy(marked, ({ kind, mark }) => toAddress(kind, mark?.name ?? ''));
}

/** The resource that is kept, and its duplicates. */
function pairBearers(
  subject: Pick<Pair, 'address' | 'kind' | 'desired' | 'was'>,
  { live: bearers, formerName }: Bearers,
): readonly Pair[] {
  const { address, kind, desired } = subject;
  const [kept, ...duplicates] = bearers.toSorted((left, right) => compareBearers(kind, desired, { left, right }));
  const hasUndelivered = duplicates.some((live) => isUndelivered(kind, live));
  return [
    { ...subject, live: kept, by: 'mark', formerName, hasUndelivered },
    ...(kept === undefined
      ? []
      : duplicates.map((live): Pair => toDuplicate({ address, kind, duplicateOf: kept.id }, live))),
  ];
}

function toDuplicate(kept: Pick<Pair, 'address' | 'kind' | 'duplicateOf'>, live: LiveResource): Pair {
  return { ...kept, desired: undefined, live, by: 'duplicate' };
}

function isDuplicate(pair: Pair): boolean {
  return pair.by === 'duplicate';
}

function toDuplicateWarning(pair: Pair): Diagnostic {
  const marked = toAddress(pair.kind.name, pair.live?.mark?.name ?? '');
  return {
    code: 'duplicate-mark',
    severity: 'warning',
    message: `${pair.live?.id} carries the mark of ${marked}, and so does another live resource.`,
    remedy: 'It is pruned. To keep a copy that was made by hand, remove the mark from its metadata.',
    address: pair.address,
  };
}

function listMarkTrouble(live: LiveState): Diagnostic[] {
  return [...live.resources.values()].flat().flatMap(({ kind, id, markTrouble }) => {
    if (markTrouble === undefined) return [];
    const message = `The mark of ${kind} ${id} cannot be read: ${markTrouble}. It counts as unmanaged and is left alone.`;
    return [
      {
        code: 'mark-invalid',
        severity: 'warning',
        message,
        remedy: 'Correct its metadata by hand, or adopt it.',
      } as const,
    ];
  });
}
