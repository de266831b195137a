import { listReferences } from '../kinds/references.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { suggestAddress } from '../manifest/suggest.ts';
import { formatAddress, parseAddress, stripDuplicateId } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { isAsAdopted } from '../model/mark.ts';
import { listOwned } from '../model/ownership.ts';
import type { DesiredState } from '../model/state.ts';
import { formatWriteAddress } from '../model/write.ts';
import { checkClaimsAgainstLive } from './claims.ts';
import { createChange } from './create-change.ts';
import type { ChangeDecision } from './decide.ts';
import { listUnresolvedAddresses } from './desired-form.ts';
import { createOrderedWrites } from './order.ts';
import type { PlanInput } from './plan-input.ts';
import { LIST_OWNED_REMEDY } from './select-targets.ts';

/**
 * Changes that a plan leaves out: deletes of what the run keeps, what `--exclude` names, what claims a value of a resource
 * that the run keeps, and everything that depends on the last two.
 */

/** Finds the resources without a manifest that are kept: all if a stack is unknown, else those that people made. */
export function findKeptPrunes(decisions: readonly ChangeDecision[], input: PlanInput): readonly ChangeDecision[] {
  return input.keptPrunes === undefined ? listKeptAdoptions(decisions, input) : listPrunes(decisions);
}

/** Lists what has no manifest any more, each with its old resource. Duplicates and replaced resources are no prunes. */
function listPrunes(
  decisions: readonly ChangeDecision[],
  isMeant: (decision: ChangeDecision) => boolean = () => true,
): readonly ChangeDecision[] {
  const prunes = decisions.filter((one) => one.action === 'delete' && one.pair.by === 'mark' && isMeant(one));
  const addresses = new Set(prunes.map(({ pair }) => pair.address));
  const old = decisions.filter(({ pair }) => pair.by === 'retirement' && addresses.has(pair.address));
  return [...prunes, ...old];
}

/**
 * Lists what would be deleted although people made it, and edgewise has changed nothing on it since it was adopted, with
 * what it refers to: the service does not delete that while it is in use.
 */
function listKeptAdoptions(
  decisions: readonly ChangeDecision[],
  { mode, allowAdopted = [], mayDeleteAdopted = false }: PlanInput,
): readonly ChangeDecision[] {
  if (mode !== 'apply' || mayDeleteAdopted) return [];
  const used = new Set<string>();
  const isKept = ({ pair: { address, live } }: ChangeDecision): boolean =>
    live !== undefined && (used.has(live.id) || (isAsAdopted(live) && !allowAdopted.includes(address)));
  for (;;) {
    const keptPrunes = listPrunes(decisions, isKept);
    const before = used.size;
    for (const { pair } of keptPrunes)
      for (const { value } of listReferences(pair.kind, pair.live?.spec ?? {})) used.add(value);
    if (used.size === before) return keptPrunes;
  }
}

/** Why a change is left out. */
interface LeftOutReason {
  /** As a clause. */
  readonly why: string;
  readonly remedy: string;
}

/** By address, as reports show it: with the id of a duplicate. */
type LeftOut = ReadonlyMap<string, LeftOutReason>;

/**
 * Finds what `--exclude` names, and what claims a value of a resource that the run keeps. Both with everything that depends
 * on them. `kept`: the resources without a manifest that the run keeps.
 */
export function findLeftOut(
  decisions: readonly ChangeDecision[],
  kept: readonly ChangeDecision[],
  input: PlanInput,
): LeftOut {
  const excluded = findExcluded(decisions, input);
  const planned = decisions.filter((decision) => !excluded.has(formatDecidedAddress(decision)));
  return new Map([...excluded, ...findBlockedByKept(planned, kept, input)]);
}

function findExcluded(decisions: readonly ChangeDecision[], { desired, exclusions = [] }: PlanInput): LeftOut {
  if (exclusions.length === 0) return new Map();
  const names = new Set(exclusions.map(stripDuplicateId));
  const named = decisions.filter(({ pair }) => names.has(pair.address)).map(formatDecidedAddress);
  const links = [...listWriteLinks(decisions, desired), ...listReferenceLinks(desired)];
  return addDependents(new Map([...names, ...named].map((address) => [address, EXCLUDED])), links);
}

const EXCLUDED: LeftOutReason = {
  why: '--exclude names it',
  remedy: 'It is planned again without --exclude.',
};

function findBlockedByKept(
  decisions: readonly ChangeDecision[],
  kept: readonly ChangeDecision[],
  input: PlanInput,
): LeftOut {
  if (kept.length === 0) return new Map();
  const conflicts = checkClaimsAgainstLive(decisions, kept, input).conflicts.filter(({ isByKept }) => isByKept);
  if (conflicts.length === 0) return new Map();
  const blocked = new Map(conflicts.map((conflict) => [conflict.address, conflict]));
  return addDependents(blocked, listWriteLinks(decisions, input.desired));
}

/** One change that depends on another one. */
interface Link {
  readonly address: string;
  readonly needed: string;
}

/** Adds every change that depends on a left-out one: by a write that waits for its writes, or by a reference. */
function addDependents(leftOut: LeftOut, links: readonly Link[]): LeftOut {
  const all = new Map(leftOut);
  // Repeat until nothing is added. One pass is not enough: a left-out change takes all its writes with it, also those
  // on which writes of earlier changes depend.
  for (let before = -1; before < all.size; ) {
    before = all.size;
    for (const { address, needed } of links)
      if (all.has(needed) && !all.has(address))
        all.set(address, { why: `it depends on ${needed}`, remedy: `See the finding about ${needed}.` });
  }
  return all;
}

function listWriteLinks(decisions: readonly ChangeDecision[], { stack }: DesiredState): readonly Link[] {
  const changes = decisions.map((decision) => createChange(decision));
  const writes = createOrderedWrites(changes, stack.name);
  const addresses = new Map<string, string>(writes.map((write) => [write.id, formatWriteAddress(write)]));
  return writes.flatMap((write) => {
    const address = formatWriteAddress(write);
    // A write to a duplicate depends on the change of the resource that is kept.
    const original = write.duplicateOf === undefined ? [] : [write.address];
    return [...write.dependsOn.flatMap((id) => addresses.get(id) ?? []), ...original].map((needed) => ({
      address,
      needed,
    }));
  });
}

function listReferenceLinks({ resources }: DesiredState): readonly Link[] {
  return [...resources.values()].flatMap(({ address, kind, spec }) =>
    listUnresolvedAddresses(getKind(kind), spec).map((needed) => ({ address, needed })),
  );
}

export function formatDecidedAddress({ pair: { address, duplicateOf, live } }: ChangeDecision): string {
  return formatAddress({ address, id: live?.id, duplicateOf });
}

/** A warning for each change that is left out. */
export function listLeftOutWarnings(leftOut: LeftOut, decisions: readonly ChangeDecision[]): readonly Diagnostic[] {
  const decided = new Set(decisions.map(formatDecidedAddress));
  return [...leftOut].flatMap(([address, { why, remedy }]): readonly Diagnostic[] =>
    decided.has(address)
      ? [{ code: 'left-out', severity: 'warning', message: `${address} is left out: ${why}.`, remedy, address }]
      : [],
  );
}

/** An error for each address that `--exclude` names and that neither the manifests nor the stack have. */
export function listUnknownExclusions({ desired, live, exclusions = [] }: PlanInput): readonly Diagnostic[] {
  const { stack, resources } = desired;
  const names = [...new Set(exclusions.map(stripDuplicateId))];
  const addresses: readonly string[] = [
    ...new Set(listOwned(live, stack.name).map(({ address }) => address)),
    ...resources.keys(),
  ];
  const isRead = (address: string) => live.resources.has(parseAddress(address)?.kind ?? '');
  const unknown = names.filter((address) => !addresses.includes(address) && isRead(address));
  return unknown.map((address) => {
    const nearest = suggestAddress(address, addresses);
    return {
      code: 'unknown-target',
      severity: 'error',
      message: `${address}, which --exclude names, is neither in the manifests nor owned by the stack ${stack.name}`,
      remedy: nearest === undefined ? LIST_OWNED_REMEDY : `Did you mean \`${nearest}\`?`,
    };
  });
}
