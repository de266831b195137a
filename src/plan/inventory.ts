import type { Kind } from '../kinds/kind.ts';
import { findRetirements } from '../kinds/precedence.ts';
import { findOwnedKindOfId } from '../kinds/references.ts';
import { getKind, OWNED_KINDS } from '../kinds/tables/registry.ts';
import { suggestAddress } from '../manifest/suggest.ts';
import { isAddress, parseAddress, stripDuplicateId, toAddress } from '../model/address.ts';
import type { OwnedResource, StackInventory } from '../model/drift.ts';
import { isRefusalRecord } from '../model/mark.ts';
import { isOwnedBy, listOwned } from '../model/ownership.ts';
import type { DesiredState, LiveResource, LiveState } from '../model/state.ts';
import { listKindsEnabledForStack, listModulesToRead, type ReadRequest } from './select-targets.ts';

interface InventoryQuery {
  /** Addresses, ids and names of kinds. Empty: all resources of the stack. */
  readonly names: readonly string[];
  /** Whether the query can match resources of a kind. Other kinds are not read. Default: all kinds are read. */
  readonly mayRead?: ((kind: Kind) => boolean) | undefined;
}

/** Returns the kinds to list and the modules to read, in order to find the resources that `names` selects. */
export function createInventoryRequest(
  desired: DesiredState,
  { names, mayRead = () => true }: InventoryQuery,
): ReadRequest {
  const kinds = new Set(names.map(getKindNameOf));
  const listed =
    names.length === 0 ? listKindsEnabledForStack(desired.stack) : OWNED_KINDS.filter(({ name }) => kinds.has(name));
  const described = [...desired.resources.values()].filter(({ address, kind }) => isNamed({ address, kind }, names));
  return {
    kinds: listed.filter(mayRead),
    attachments: described.filter(({ kind }) => mayRead(getKind(kind))).flatMap(listModulesToRead),
  };
}

/** The kind that an address, an id or the name of a kind names. */
export function getKindNameOf(name: string): string {
  return findOwnedKindOfId(name)?.name ?? parseAddress(name)?.kind ?? name;
}

/**
 * Lists the live resources that the stack owns and that `names` selects, and those whose ids it has, whoever owns them.
 * Records of refused creations are none.
 */
export function createStackInventory(
  desired: DesiredState,
  live: LiveState,
  { names, baseUrl }: Pick<InventoryQuery, 'names'> & Pick<StackInventory, 'baseUrl'>,
): StackInventory {
  const stack = desired.stack.name;
  const owned = listOwned(live, stack).filter((one) => !isRefusalRecord(one.live) || names.includes(one.live.id));
  const all = [...live.resources.values()].flat();
  const marked = owned.map((one) => ({ address: one.address, live: one.live }));
  const retirements = findRetirements(all);
  const marks = Map.groupBy(marked, ({ address }) => address);
  const attached = Array.from(live.attachments, ([address, one]) => ({ address, live: one }));
  const resources = [...marked, ...attached]
    .filter(({ address, live: { kind, id } }) => isNamed({ address, kind, id }, names))
    .map((one): OwnedResource => {
      const retiresAt = retirements.get(one.live)?.[0]?.mark?.retires?.at;
      const isBeside = (other: (typeof marked)[number]) => other.live !== one.live && !retirements.has(other.live);
      return { ...one, isShared: marks.get(one.address)?.some(isBeside) === true, retiresAt };
    });
  const others = all.filter((one) => names.includes(one.id) && !isOwnedBy(one, stack)).map(describeOther);
  const { externals } = desired;
  const sorted = [...resources, ...others].sort(compareAddresses);
  return { stack, baseUrl, resources: sorted, externals, requests: live.requests };
}

function describeOther(live: LiveResource): OwnedResource {
  const { kind, id, mark } = live;
  return { live, address: toAddress(kind, mark?.name ?? id), owner: mark?.stack ?? null, isShared: false };
}

export interface AddressWithoutLiveResource {
  readonly address: string;
  readonly isDescribed: boolean;
  readonly nearest: string | undefined;
}

export function listMissingAddresses(
  desired: DesiredState,
  { resources }: StackInventory,
  names: readonly string[],
): readonly AddressWithoutLiveResource[] {
  const owned = resources.filter(({ owner }) => owner === undefined).map(({ address }) => address);
  const found = new Set<string>([...owned, ...resources.map(({ live }) => live.id)]);
  const described = new Set<string>(desired.resources.keys());
  return names
    .filter((name) => isAddress(name) || findOwnedKindOfId(name) !== undefined)
    .filter((name) => !found.has(stripDuplicateId(name)))
    .map((address) => ({
      address,
      isDescribed: described.has(address),
      nearest: suggestAddress(address, [...described, ...owned]),
    }));
}

interface Nameable {
  readonly address: string;
  readonly kind: string;
  readonly id?: string;
}

/** Whether `names` selects a resource. Empty `names` select every resource; `Kind/name` also selects duplicates. */
function isNamed({ address, kind, id }: Nameable, names: readonly string[]): boolean {
  return names.length === 0 || names.some((name) => name === kind || name === id || stripDuplicateId(name) === address);
}

/** Compares by address, and resources with the same mark by id. */
function compareAddresses(left: OwnedResource, right: OwnedResource): number {
  const [leftKey, rightKey] = [`${left.address} ${left.live.id}`, `${right.address} ${right.live.id}`];
  return leftKey < rightKey ? -1 : 1;
}
