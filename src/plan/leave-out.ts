import { getKind } from '../kinds/tables/registry.ts';
import { suggestAddress } from '../manifest/suggest.ts';
import { formatAddress, parseAddress, stripDuplicateId } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { DesiredState } from '../model/state.ts';
import { formatWriteAddress, type Write } from '../model/write.ts';
import { createChange } from './create-change.ts';
import type { ChangeDecision } from './decide.ts';
import { listUnresolvedAddresses } from './desired-form.ts';
import { createOrderedWrites } from './order.ts';
import type { PlanInput } from './plan-input.ts';
import { LIST_OWNED_REMEDY } from './select-targets.ts';

/**
 * Changes that a plan leaves out: those that `--exclude` names, those that claim a value of a resource that the run keeps,
 * and everything that depends on them.
 */

/** Why a change is left out. */
interface LeftOutReason {
  /** As a clause. */
  readonly why: string;
  readonly help: string;
}

/** By address, as reports show it: with the id of a duplicate. */
export type LeftOut = ReadonlyMap<string, LeftOutReason>;

/** Adds every change that depends on a left-out one: by a write that waits for its writes, or by a reference. */
export function addDependents(
  leftOut: LeftOut,
  { writes, desired }: { readonly writes: readonly Write[]; readonly desired?: DesiredState | undefined },
): LeftOut {
  const all = new Map(leftOut);
  const links = [...listWriteLinks(writes), ...(desired === undefined ? [] : listReferenceLinks(desired))];
  // Repeat until nothing is added. One pass is not enough: a left-out change takes all its writes with it, also those
  // on which writes of earlier changes depend.
  for (let before = -1; before < all.size; ) {
    before = all.size;
    for (const { address, needed } of links)
      if (all.has(needed) && !all.has(address))
        all.set(address, { why: `it depends on ${needed}`, help: `See the finding about ${needed}.` });
  }
  return all;
}

interface Link {
  readonly address: string;
  readonly needed: string;
}

function listWriteLinks(writes: readonly Write[]): readonly Link[] {
  const addresses = new Map<string, string>(writes.map((write) => [write.id, formatWriteAddress(write)]));
  return writes.flatMap((write) => {
    const address = formatWriteAddress(write);
    // A write to a duplicate depends on the change of the resource that is kept.
    const kept = write.duplicateOf === undefined ? [] : [write.address];
    return [...write.dependsOn.flatMap((id) => addresses.get(id) ?? []), ...kept].map((needed) => ({
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

/** What `--exclude` leaves out of a plan. */
interface Exclusion {
  readonly leftOut: LeftOut;
  /** An error for each unknown address, and a warning for each change that is left out. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Finds the changes that `--exclude` leaves out. `liveAddresses`: the addresses of all live resources of the stack. */
export function excludeChanges(
  decisions: readonly ChangeDecision[],
  { desired, live, exclusions = [] }: PlanInput,
  liveAddresses: ReadonlySet<string>,
): Exclusion {
  if (exclusions.length === 0) return { leftOut: new Map(), diagnostics: [] };
  const names = new Set(exclusions.map(stripDuplicateId));
  const named = decisions.filter(({ pair }) => names.has(pair.address)).map(formatDecidedAddress);
  const reason = { why: '--exclude names it', help: EXCLUDED_REMEDY };
  const writes = createOrderedWrites(
    decisions.map((decision) => createChange(decision, [])),
    desired.stack.name,
  );
  const leftOut = addDependents(new Map([...names, ...named].map((address) => [address, reason])), { writes, desired });
  const decided = new Map(decisions.map((decision) => [formatDecidedAddress(decision), decision]));
  const all = [...liveAddresses, ...desired.resources.keys()];
  const isRead = (address: string) => live.resources.has(parseAddress(address)?.kind ?? '');
  const unknown = [...names].filter((address) => !all.includes(address) && isRead(address));
  return {
    leftOut,
    diagnostics: [
      ...unknown.map((address) => createUnknownAddressError(address, desired, all)),
      ...[...leftOut].flatMap(([address, one]) => (decided.has(address) ? [createLeftOutWarning(address, one)] : [])),
    ],
  };
}

const EXCLUDED_REMEDY = 'It is planned again without --exclude.';

export function createLeftOutWarning(address: string, { why, help }: LeftOutReason): Diagnostic {
  return {
    code: 'left-out',
    severity: 'warning',
    message: `${address} is left out: ${why}.`,
    remedy: help,
    address,
  };
}

function createUnknownAddressError(address: string, { stack }: DesiredState, addresses: readonly string[]): Diagnostic {
  const nearest = suggestAddress(address, addresses);
  return {
    code: 'unknown-target',
    severity: 'error',
    message: `${address}, which --exclude names, is neither in the manifests nor owned by the stack ${stack.name}`,
    remedy: nearest === undefined ? LIST_OWNED_REMEDY : `Did you mean \`${nearest}\`?`,
  };
}
