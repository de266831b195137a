import type { Kind } from '../kinds/kind.ts';
import { type AttachedModulesToRead, selectModulesOfAttachedResource } from '../kinds/paths.ts';
import { findKind, getKind, OWNED_KINDS } from '../kinds/tables/registry.ts';
import { suggestAddress } from '../manifest/suggest.ts';
import { parseAddress, stripDuplicateId } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { StackSettings } from '../model/stack.ts';
import type { DesiredResource, DesiredState } from '../model/state.ts';
import { listCrossStackReferenceKinds } from './cross-stack-references.ts';
import { listUnresolvedAddresses } from './desired-form.ts';
import type { ResourcePair } from './match.ts';

/** The reads for a plan: the kinds to list, and the modules to read one by one, as the service does not list them. */
export interface ReadRequest {
  readonly kinds: readonly Kind[];
  /** The edges and routes whose modules are read, each with these modules. */
  readonly attachments: readonly AttachedModulesToRead[];
}

/**
 * Returns the reads for a plan of these manifests. Without targets, every kind that the stack uses is listed, because
 * resources to prune may be of any kind.
 * @example
 * const live = await readLive(client, createReadRequest(desired, ['TCPEdge/postgres']));
 */
export function createReadRequest(desired: DesiredState, targets: readonly string[]): ReadRequest {
  const wanted = findTargetClosure(desired, targets);
  const isWanted = (address: string) => wanted === undefined || wanted.has(address);
  const wantedKinds = new Set([...(wanted ?? [])].map((address) => parseAddress(address)?.kind));
  const resources = [...desired.resources.values()].filter(({ address }) => isWanted(address));
  const used = listKindsEnabledForStack(desired.stack).filter(
    ({ name }) => wanted === undefined || wantedKinds.has(name),
  );
  const crossStackKinds = new Set(listCrossStackReferenceKinds(desired));
  return {
    kinds: OWNED_KINDS.filter((kind) => used.includes(kind) || crossStackKinds.has(kind.name)),
    attachments: resources.flatMap(listModulesToRead),
  };
}

/** The kinds that a stack uses and that the service can list. */
export function listKindsEnabledForStack({ kinds }: Pick<StackSettings, 'kinds'>): readonly Kind[] {
  return OWNED_KINDS.filter(({ name }) => kinds === undefined || kinds.includes(name));
}

/** The part of a plan that the targets select. */
interface Selection {
  readonly pairs: readonly ResourcePair[];
  /** An error for each unknown target. */
  readonly diagnostics: readonly Diagnostic[];
  /**
   * Whether a diagnostic is within the targets. Other diagnostics are dropped, because resources outside the targets
   * may not have been read.
   */
  readonly concerns: (diagnostic: Diagnostic) => boolean;
}

/**
 * Selects the pairs of the targets and of all resources to which the targets refer. Without targets, selects all pairs.
 */
export function selectTargetPairs(
  pairs: readonly ResourcePair[],
  desired: DesiredState,
  targets: readonly string[],
): Selection {
  const wanted = findTargetClosure(desired, targets);
  if (wanted === undefined) return { pairs, diagnostics: [], concerns: () => true };
  const resources: ReadonlyMap<string, DesiredResource> = desired.resources;
  const unset = targets.filter((target) => !resources.has(stripDuplicateId(target)));
  const addresses = new Set<string>(
    unset.length === 0 ? [] : [...pairs.map(({ address }) => address), ...resources.keys()],
  );
  const unknown = unset.filter((target) => !addresses.has(stripDuplicateId(target)));
  return {
    pairs: pairs.filter(({ address }) => wanted.has(address)),
    concerns: ({ address }) => address === undefined || wanted.has(address),
    diagnostics: unknown.map((target) => createUnknownTargetError(target, desired, [...addresses])),
  };
}

function createUnknownTargetError(
  target: string,
  { stack, resources }: DesiredState,
  addresses: readonly string[],
): Diagnostic {
  const base = { code: 'unknown-target', severity: 'error' } as const;
  const kind = parseAddress(target)?.kind ?? '';
  if (stack.kinds !== undefined && findKind(kind) !== undefined && !stack.kinds.includes(kind))
    return {
      ...base,
      message: `${target} was not looked for, because the stack ${stack.name} does not use the kind ${kind}`,
      remedy: `Add ${kind} to spec.kinds of the Stack.`,
    };
  return {
    ...base,
    message: `${target} is ${resources.size === 0 ? 'not' : 'neither in the manifests nor'} owned by the stack ${stack.name}`,
    remedy: formatTargetRemedy(target, addresses),
  };
}

/** For an address that resembles none. */
export const LIST_OWNED_REMEDY = '`edgewise get` lists what the stack owns.';

function formatTargetRemedy(target: string, addresses: readonly string[]): string {
  const nearest = suggestAddress(target, addresses);
  return nearest === undefined ? LIST_OWNED_REMEDY : `Did you mean \`${nearest}\`?`;
}

/**
 * The addresses of the targets and of all resources to which they refer, directly or indirectly. `undefined` if there
 * are no targets: everything is selected.
 */
function findTargetClosure(desired: DesiredState, targets: readonly string[]): ReadonlySet<string> | undefined {
  if (targets.length === 0) return undefined;
  const wanted = new Set<string>(targets.map(stripDuplicateId));
  const resources: ReadonlyMap<string, DesiredResource> = desired.resources;
  for (const address of wanted) {
    const resource = resources.get(address);
    if (resource !== undefined)
      for (const needed of listUnresolvedAddresses(getKind(resource.kind), resource.spec)) wanted.add(needed);
  }
  return wanted;
}

/** The modules to read for a manifest of an attached kind, without ignored modules. Empty for other kinds. */
export function listModulesToRead({
  address,
  kind: name,
  spec,
  lifecycle,
}: DesiredResource): readonly AttachedModulesToRead[] {
  const kind = getKind(name);
  const isRead = (module: string) => !lifecycle.ignore.includes(module);
  return kind.role === 'attached' ? [selectModulesOfAttachedResource(kind, { address, spec, isRead })] : [];
}
