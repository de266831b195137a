import { mapReferencesOfResource } from '../kinds/ignored-parts.ts';
import { sortByPrecedence } from '../kinds/precedence.ts';
import { listReferences } from '../kinds/references.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { type Address, parseAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { formatPath } from '../model/field-path.ts';
import { isResourceOf } from '../model/ownership.ts';
import type { CrossStackReference, DesiredResource, DesiredState, LiveResource, LiveState } from '../model/state.ts';

/** The desired state, with ids in place of references to resources of other stacks, as far as the ids are known. */
interface ResolvedReferences {
  readonly desired: DesiredState;
  /**
   * References to resources that another stack of the run will create, by the address of the `External`. Their ids are
   * known only after the apply.
   */
  readonly awaited: Readonly<Record<Address, CrossStackReference>>;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Finds a resource of another stack in that stack's plan. `id`: the resource is live, or the plan adopts it.
 * `isCreated`: the plan creates it. `gone`: the reason why it will not exist after the run. `undefined`: no plan of the
 * run contains the resource, so the live state decides.
 */
export type FindPlannedOutcome = (
  reference: CrossStackReference,
  liveId: string | undefined,
) => PlannedResource | undefined;

export type PlannedResource = { readonly id: string } | { readonly isCreated: true } | { readonly gone: string };

/** Names of the kinds to list in order to find the referenced resources of other stacks. */
export function listCrossStackReferenceKinds({ crossStackReferences = new Map() }: DesiredState): readonly string[] {
  return [...crossStackReferences.values()].flatMap(({ resource }) => parseAddress(resource)?.kind ?? []);
}

interface RunLookUps {
  readonly findPlanned?: FindPlannedOutcome | undefined;
  /** Whether the stack with this name is part of the run. Default: no other stack is. */
  readonly isInRun?: ((stack: string) => boolean) | undefined;
  /** Says what to do about a stack that a run over many does not have. `undefined`: the run is over one stack. */
  readonly adviseOnOtherStack?: ((stack: string) => string | undefined) | undefined;
}

/**
 * Resolves references to resources of other stacks, by the plans of the run or else by the marks of live resources.
 * Returns an error for each reference to a resource that does not exist and that no plan of the run creates.
 */
export function resolveCrossStackReferences(
  desired: DesiredState,
  live: LiveState,
  { findPlanned = () => undefined, isInRun = () => false, adviseOnOtherStack = () => undefined }: RunLookUps,
): ResolvedReferences {
  const { crossStackReferences } = desired;
  if (crossStackReferences === undefined) return { desired, awaited: {}, diagnostics: [] };
  const ids = new Map<string, string>();
  const awaited = new Map<Address, CrossStackReference>();
  const gone = new Map<string, string>();
  for (const [address, named] of crossStackReferences) {
    const id = findCrossStackReference(named, live)?.id;
    const planned = findPlanned(named, id) ?? (id === undefined ? undefined : { id });
    if (planned === undefined) continue;
    if ('id' in planned) ids.set(address, planned.id);
    else if ('gone' in planned) gone.set(address, planned.gone);
    else awaited.set(address, named);
  }
  const waiting = new Set<string>(awaited.keys());
  const resources = [...desired.resources].map(([address, resource]) => [address, withIds(resource, ids)] as const);
  const used = new Set(
    [...desired.resources.values()].flatMap(({ kind, spec }) =>
      listReferences(getKind(kind), spec).map(({ value }) => value),
    ),
  );
  return {
    desired: {
      ...desired,
      resources: new Map(resources),
      externals: new Map([
        ...desired.externals,
        ...[...crossStackReferences.keys()].flatMap((address) => listEntry(address, ids)),
      ]),
    },
    awaited: Object.fromEntries([...awaited].filter(([address]) => used.has(address))),
    diagnostics: [...desired.resources.values()].flatMap((resource) =>
      listMissingReferences(resource, {
        references: crossStackReferences,
        gone,
        isInRun,
        adviseOnOtherStack,
        isKnown: (address) => ids.has(address) || waiting.has(address),
      }),
    ),
  };
}

/** Finds the live resource with the mark that the reference names: the one that its stack would keep, never a copy. */
export function findCrossStackReference(
  { stack, resource }: CrossStackReference,
  { resources }: LiveState,
): LiveResource | undefined {
  const { kind = '', name = '' } = parseAddress(resource) ?? {};
  const marked = (resources.get(kind) ?? []).filter((live) => isResourceOf(live, { stack, name }));
  return marked.length > 1 ? sortByPrecedence(getKind(kind), marked)[0] : marked[0];
}

function withIds(resource: DesiredResource, ids: ReadonlyMap<string, string>): DesiredResource {
  return mapReferencesOfResource(getKind(resource.kind), resource, ({ value }) => ids.get(value) ?? value);
}

function listEntry(address: Address, ids: ReadonlyMap<string, string>): readonly (readonly [Address, string])[] {
  const id = ids.get(address);
  return id === undefined ? [] : [[address, id]];
}

interface CrossStackContext {
  readonly references: ReadonlyMap<string, CrossStackReference>;
  /** Why a referenced resource will not exist after the run, by the address of the `External`. */
  readonly gone: ReadonlyMap<string, string>;
  readonly isKnown: (address: string) => boolean;
  readonly isInRun: (stack: string) => boolean;
  readonly adviseOnOtherStack: (stack: string) => string | undefined;
}

function listMissingReferences(
  resource: DesiredResource,
  { references, gone, isKnown, isInRun, adviseOnOtherStack }: CrossStackContext,
): readonly Diagnostic[] {
  return listReferences(getKind(resource.kind), resource.spec).flatMap(({ value, path }): readonly Diagnostic[] => {
    const named = references.get(value);
    if (named === undefined || isKnown(value)) return [];
    const where = `spec.${formatPath(path)} names ${value}`;
    const why = gone.get(value);
    const message = `${resource.address}: ${where}, which is ${named.resource} of the stack ${named.stack}, and ${why ?? 'no live resource has that mark'}`;
    const first = isInRun(named.stack)
      ? `The stack ${named.stack} is part of this run: correct what stopped it, or the name.`
      : (adviseOnOtherStack(named.stack) ??
        `Apply the stack ${named.stack} first, or both in one run with -R (--recursive). If it is already applied, correct the name.`);
    return [
      {
        code: 'bad-reference',
        severity: 'error',
        message,
        remedy: why === undefined ? first : 'Refer to a resource that exists after the run.',
        address: resource.address,
        place: resource.locate(['spec', ...path]),
      },
    ];
  });
}
