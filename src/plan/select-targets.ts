import { isModule, type Kind, listSpecFields } from '../kinds/kind.ts';
import { ATTACHED_KINDS, getKind, OWNED_KINDS } from '../kinds/tables/registry.ts';
import { suggestAddress } from '../manifest/suggest.ts';
import { type Address, parseAddress } from '../model/address.ts';
import { toBaseAddress } from '../model/change.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { DesiredResource, DesiredState, Spec } from '../model/state.ts';
import { listAwaited } from './desired-form.ts';
import type { Pair } from './match.ts';

/** What has to be read for a plan, and nothing else: lists of kinds, and single modules where there is no list. */
export interface ReadRequest {
  readonly kinds: readonly Kind[];
  readonly attachments: readonly {
    readonly address: Address;
    readonly kind: Kind;
    /** The ids that its path is made of. */
    readonly ids: Spec;
    /** The modules to read: those that nobody else owns. */
    readonly modules: readonly string[];
  }[];
}

/** What planning these manifests reads. Without targets every kind is listed, since resources to prune may be of any. */
export function toReadRequest(desired: DesiredState, targets: readonly string[]): ReadRequest {
  const wanted = toClosure(desired, targets);
  const isWanted = (address: string) => wanted === undefined || wanted.has(address);
  const wantedKinds = new Set([...(wanted ?? [])].map((address) => parseAddress(address)?.kind));
  const resources = [...desired.resources.values()].filter(({ address }) => isWanted(address));
  return {
    kinds: OWNED_KINDS.filter(({ name }) => wanted === undefined || wantedKinds.has(name)),
    attachments: resources.flatMap(toAttachment),
  };
}

/** What a plan is narrowed to. */
export interface Selection {
  readonly pairs: readonly Pair[];
  /** One for each target that names nothing. */
  readonly diagnostics: readonly Diagnostic[];
  /** Whether something is about the plan: what it leaves out was perhaps not even read. */
  readonly concerns: (diagnostic: Diagnostic) => boolean;
}

/** The pairs that the targets name and what those need. */
export function selectTargets(pairs: readonly Pair[], desired: DesiredState, targets: readonly string[]): Selection {
  const wanted = toClosure(desired, targets);
  if (wanted === undefined) return { pairs, diagnostics: [], concerns: () => true };
  const known = new Set<string>([...pairs.map(({ address }) => toBaseAddress(address)), ...desired.resources.keys()]);
  const unknown = targets.filter((target) => !known.has(toBaseAddress(target)));
  return {
    pairs: pairs.filter(({ address }) => wanted.has(toBaseAddress(address))),
    concerns: ({ address }) => address === undefined || wanted.has(toBaseAddress(address)),
    diagnostics: unknown.map((target) => ({
      code: 'unknown-target',
      severity: 'error',
      message: `${target} is ${desired.resources.size === 0 ? 'not' : 'neither in the manifests nor'} owned by the stack ${desired.stack.name}`,
      remedy: toTargetRemedy(target, [...known]),
    })),
  };
}

function toTargetRemedy(target: string, known: readonly string[]): string {
  const nearest = suggestAddress(target, known);
  return nearest === undefined ? 'A target is an address: Kind/name.' : `Did you mean \`${nearest}\`?`;
}

/** The targets and, step by step, what they refer to; `undefined`: everything. */
function toClosure(desired: DesiredState, targets: readonly string[]): ReadonlySet<string> | undefined {
  if (targets.length === 0) return undefined;
  const wanted = new Set<string>(targets.map(toBaseAddress));
  for (const address of wanted) {
    const resource = desired.resources.get(toBaseAddress(address));
    if (resource !== undefined)
      for (const needed of listAwaited(getKind(resource.kind), resource.spec)) wanted.add(needed);
  }
  return wanted;
}

function toAttachment(resource: DesiredResource): ReadRequest['attachments'] {
  const kind = ATTACHED_KINDS.find(({ name }) => name === resource.kind);
  if (kind === undefined) return [];
  const fields = listSpecFields(kind);
  const ids = fields
    .filter(([, field]) => !isModule(field))
    .map(([name]) => [name, resource.spec[name] ?? null] as const);
  const modules = fields
    .filter(([name, field]) => isModule(field) && !resource.lifecycle.ignore.includes(name))
    .map(([name]) => name);
  return [{ address: resource.address, kind, ids: Object.fromEntries(ids), modules }];
}
