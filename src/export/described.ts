import { listPathIdNamesOfKind } from '../kinds/paths.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { type Address, getAddressName, toAddress } from '../model/address.ts';
import { isResourceOf, listMarked, listOwned } from '../model/ownership.ts';
import type { DesiredResource, DesiredState, LiveResource, LiveState } from '../model/state.ts';

/** What the manifests of a stack describe already, and the names that they use. */
export interface Described {
  /** By id, the address of the manifest that describes a live resource of the stack, or one to adopt. */
  readonly resources: ReadonlyMap<string, Address>;
  /** By id, the address by which a manifest may refer to it: of `resources`, and of each `External`. */
  readonly references: ReadonlyMap<string, Address>;
}

export const NOTHING_DESCRIBED: Described = { resources: new Map(), references: new Map() };

/** Finds the live resources that the manifests of a stack describe: by mark, by the former name, or by the id to adopt. */
export function findDescribed(live: LiveState, desired: DesiredState): Described {
  const { externals, crossStackReferences = new Map(), stack } = desired;
  const described = [...desired.resources.values()];
  const marks = new Map(
    described.flatMap((resource) => listMarkedAddresses(resource).map((one) => [one, resource.address] as const)),
  );
  const adopted = described.flatMap(({ address, lifecycle: { adopt } }) =>
    adopt === undefined ? [] : [[adopt, address] as const],
  );
  const owned = listOwned(live, stack.name).flatMap(({ address, live: { id } }) => {
    const manifest = marks.get(address);
    return manifest === undefined ? [] : [[id, manifest] as const];
  });
  const attached = [...live.attachments.values()].flatMap((one) => {
    const found = described.find((resource) => isAttachedTo(resource, one));
    return found === undefined ? [] : [[one.id, found.address] as const];
  });
  const resources = new Map([...adopted, ...owned, ...attached]);
  const ofOthers = Array.from(crossStackReferences, ([address, { stack: owner, resource }]) => {
    const marked = listMarked(live).find(
      (one) => one.address === resource && isResourceOf(one.live, { stack: owner, name: getAddressName(resource) }),
    );
    return [marked?.live.id ?? '', address] as const;
  });
  const named = [...Array.from(externals, ([address, id]) => [id, address] as const), ...ofOthers];
  return { resources, references: new Map([...named.toSorted(compareSecond), ...resources]) };
}

/** The addresses in marks that mean the resource: its own, and its former one in this stack. */
function listMarkedAddresses({ address, kind, lifecycle: { renamedFrom } }: DesiredResource): readonly Address[] {
  return [...(renamedFrom === undefined ? [] : [toAddress(kind, renamedFrom)]), address];
}

function isAttachedTo({ kind, spec }: DesiredResource, live: LiveResource): boolean {
  return kind === live.kind && listPathIdNamesOfKind(getKind(kind)).every((name) => spec[name] === live.spec[name]);
}

/** Of two documents with one id, the first by name is used, whatever the order of the files. */
function compareSecond([, left]: readonly [string, Address], [, right]: readonly [string, Address]): number {
  return left < right ? 1 : -1;
}

/** A resource of another stack, as an `External` names it. */
interface ResourceOfStack {
  readonly name: string;
  readonly reference: { readonly stack: string; readonly resource: string };
}

/** The live resources of stacks other than `own` that are known by their mark, by id. Two with one mark are not. */
export function findResourcesOfOtherStacks(
  live: LiveState,
  own: string | undefined,
): ReadonlyMap<string, ResourceOfStack> {
  const marked = listMarked(live).filter((one) =>
    isResourceOf(one.live, { stack: one.stack, name: getAddressName(one.address) }),
  );
  const groups = Map.groupBy(marked, ({ stack, address }) => `${stack}/${address}`);
  return new Map(
    [...groups.values()].flatMap(([first, ...more]) => {
      if (first === undefined || more.length > 0 || first.stack === own) return [];
      const {
        stack,
        address,
        live: { id },
      } = first;
      return [[id, { name: getAddressName(address), reference: { stack, resource: address } }] as const];
    }),
  );
}
