import type { Kind } from '../kinds/kind.ts';
import { findRetirements } from '../kinds/precedence.ts';
import { getKind, OWNED_KINDS } from '../kinds/tables/registry.ts';
import { suggestAddress } from '../manifest/suggest.ts';
import { isAddress, parseAddress, stripDuplicateId } from '../model/address.ts';
import type { OwnedResource, StackInventory } from '../model/drift.ts';
import { isRefusalRecord } from '../model/mark.ts';
import { listOwned } from '../model/ownership.ts';
import type { DesiredResource, DesiredState, LiveState } from '../model/state.ts';
import { listKindsEnabledForStack, listModulesToRead, type ReadRequest } from './select-targets.ts';

interface InventoryQuery {
  /** Addresses and names of kinds. Empty: all resources. */
  readonly names: readonly string[];
  /** Whether the query can match resources of a kind. Other kinds are not read. Default: all kinds are read. */
  readonly mayRead?: ((kind: Kind) => boolean) | undefined;
}

/** Returns the kinds to list and the modules to read, in order to find the resources that `names` selects. */
export function createInventoryRequest(
  desired: DesiredState,
  { names, mayRead = () => true }: InventoryQuery,
): ReadRequest {
  const kinds = new Set(names.map((name) => parseAddress(name)?.kind ?? name));
  const listed =
    names.length === 0 ? listKindsEnabledForStack(desired.stack) : OWNED_KINDS.filter(({ name }) => kinds.has(name));
  const described = [...desired.resources.values()].filter((resource) => isNamed(resource, names));
  return {
    kinds: listed.filter(mayRead),
    attachments: described.filter(({ kind }) => mayRead(getKind(kind))).flatMap(listModulesToRead),
  };
}

/** Lists the live resources that the stack owns and that `names` selects. Records of refused creations are none. */
export function createStackInventory(
  desired: DesiredState,
  live: LiveState,
  { names, baseUrl }: Pick<InventoryQuery, 'names'> & Pick<StackInventory, 'baseUrl'>,
): StackInventory {
  const stack = desired.stack.name;
  const owned = listOwned(live, stack).filter((one) => !isRefusalRecord(one.live));
  const marked = owned.map((one) => ({ address: one.address, live: one.live }));
  const retirements = findRetirements([...live.resources.values()].flat());
  const marks = Map.groupBy(marked, ({ address }) => address);
  const attached = Array.from(live.attachments, ([address, one]) => ({ address, live: one }));
  const resources = [...marked, ...attached]
    .filter(({ address, live: { kind } }) => isNamed({ address, kind }, names))
    .map((one): OwnedResource => {
      const retiresAt = retirements.get(one.live)?.[0]?.mark?.retires?.at;
      const isBeside = (other: (typeof marked)[number]) => other.live !== one.live && !retirements.has(other.live);
      return { ...one, isShared: marks.get(one.address)?.some(isBeside) === true, retiresAt };
    });
  const { externals } = desired;
  return { stack, baseUrl, resources: resources.sort(compareAddresses), externals, requests: live.requests };
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
  const found = new Set<string>(resources.map(({ address }) => address));
  const described = new Set<string>(desired.resources.keys());
  return names
    .filter((name) => isAddress(name) && !found.has(stripDuplicateId(name)))
    .map((address) => ({
      address,
      isDescribed: described.has(address),
      nearest: suggestAddress(address, [...described, ...found]),
    }));
}

/** Whether `names` selects a resource. Empty `names` select every resource; `Kind/name` also selects duplicates. */
function isNamed({ address, kind }: Pick<DesiredResource, 'address' | 'kind'>, names: readonly string[]): boolean {
  return names.length === 0 || names.some((name) => name === kind || stripDuplicateId(name) === address);
}

/** Compares by address, and resources with the same mark by id. */
function compareAddresses(left: OwnedResource, right: OwnedResource): number {
  const [leftKey, rightKey] = [`${left.address} ${left.live.id}`, `${right.address} ${right.live.id}`];
  return leftKey < rightKey ? -1 : 1;
}
