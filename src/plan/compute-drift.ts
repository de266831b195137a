import { getKind } from '../kinds/tables/registry.ts';
import { toShownAddress } from '../model/address.ts';
import type { Change, Difference } from '../model/change.ts';
import type { Drift, DriftState, ResourceDrift, Stranger } from '../model/drift.ts';
import { assertNever } from '../model/errors.ts';
import type { Plan, PlannedFile } from '../model/plan.ts';
import type { LiveResource, LiveState } from '../model/state.ts';
import { createFindTwin } from './twins.ts';

/** What a comparison is made of besides the plan that would end every difference. */
export interface DriftInput {
  readonly live: LiveState;
  readonly now: Date;
}

/** What differs from the manifests, and by whose change. The plan covers the whole stack and is never applied. */
export function toDrift(plan: Plan, { live, now }: DriftInput): Drift {
  const { stack, baseUrl, targets, externals, diagnostics, requests } = plan;
  const all = new Map([...live.resources.values()].flat().map((resource) => [resource.id, resource]));
  const findTwin = createFindTwin(live, new Set(plan.changes.map((change) => change.live?.id)));
  const resources = plan.changes.map((change) => {
    const found = all.get(change.live?.id ?? '');
    const twin = change.action === 'create' ? findTwin(getKind(change.kind), change.desired ?? {}) : undefined;
    return toUnowned(change, { found, twin }) ?? withFile(toResourceDrift(change, found), plan.files);
  });
  const ours = resources.filter(({ state }) => state !== 'unowned');
  return {
    stack,
    baseUrl,
    at: now.toISOString(),
    targets,
    resources: sortByAddress(resources),
    kinds: [...live.resources.keys()],
    strangers: listStrangers({ stack, known: new Set(ours.map(({ id }) => id)) }, live),
    diagnostics,
    externals,
    requests: requests.read,
  };
}

/** Resources that are to be adopted, and creates for which an unmarked live resource already matches the manifest: neither is ours. */
function toUnowned(
  { address, kind, action, differences }: Change,
  { found, twin }: { readonly found: LiveResource | undefined; readonly twin: LiveResource | undefined },
): ResourceDrift | undefined {
  const base = { address, kind, state: 'unowned', differences } as const;
  if (action === 'adopt' && found !== undefined)
    return { ...base, id: found.id, reason: `${toLack(found)}; its manifest adopts it: ${toAdoptLine(found)}` };
  if (twin === undefined) return undefined;
  return { ...base, id: twin.id, reason: `${toLack(twin)}; to adopt it, add to its manifest: ${toAdoptLine(twin)}` };
}

/** Why a resource is not ours. */
export function toLack({ mark, markTrouble }: LiveResource): string {
  if (mark !== undefined) return `it carries the mark of the stack ${mark.stack}`;
  return markTrouble === undefined ? 'it carries no mark' : 'its mark cannot be read';
}

function toAdoptLine({ id }: LiveResource): string {
  return `lifecycle: { adopt: ${id} }`;
}

/** By address as it is shown. */
export function sortByAddress(resources: readonly ResourceDrift[]): readonly ResourceDrift[] {
  const shown = resources.map((resource) => ({ resource, address: toShownAddress(resource) }));
  return shown.sort((left, right) => (left.address < right.address ? -1 : 1)).map(({ resource }) => resource);
}

function toResourceDrift(change: Change, live: LiveResource | undefined): ResourceDrift {
  const { address, duplicateOf, kind, differences, reason } = change;
  return {
    address,
    ...(duplicateOf !== undefined && { duplicateOf }),
    kind,
    state: toState(change),
    ...(change.live !== undefined && { id: change.live.id }),
    differences,
    ...(reason !== undefined && { reason }),
    ...(live !== undefined && toValidUntil(live)),
  };
}

/** An issued value is also in a file, which an apply would write again. */
function withFile(resource: ResourceDrift, files: readonly PlannedFile[]): ResourceDrift {
  const file = files.find(({ address, text }) => address === resource.address && text !== undefined);
  if (file === undefined || resource.duplicateOf !== undefined) return resource;
  const fault = `${file.path} ${file.replaces === true ? 'has other content' : 'is missing'}`;
  const reason = resource.reason === undefined ? fault : `${resource.reason}; ${fault}`;
  return { ...resource, reason, ...(resource.state === 'in-sync' && { state: 'file-differs' }) };
}

/** When what a resource holds ends. */
export function toValidUntil({ kind, spec }: LiveResource): Pick<ResourceDrift, 'validUntil'> {
  const validUntil = spec[getKind(kind).validity?.until ?? ''];
  return typeof validUntil === 'string' ? { validUntil } : {};
}

function toState(change: Change): DriftState {
  switch (change.action) {
    case 'no-op':
      return 'in-sync';
    case 'create':
      return 'missing';
    case 'delete':
    case 'release':
      return 'left-over';
    case 'adopt':
      return 'unowned';
    case 'update':
    case 'replace':
      return toOwner(change.differences);
    default:
      return assertNever(change.action);
  }
}

/** The origin of the differences. A replace without differences is a renewal. */
export function toOwner(differences: readonly Difference[]): DriftState {
  const origins = new Set(differences.map(({ origin }) => origin));
  const isDrifted = origins.has('drift') || origins.has('both');
  const isPending = origins.has('manifest') || origins.has('both') || differences.length === 0;
  if (isDrifted && isPending) return 'drifted-and-pending';
  if (isDrifted) return 'drifted';
  return isPending ? 'pending' : 'differs';
}

/** Live resources that are not known: those of other stacks, and those without a mark. */
export function listStrangers(
  { stack, known }: { readonly stack: string; readonly known: ReadonlySet<string | undefined> },
  live: LiveState,
): readonly Stranger[] {
  return [...live.resources.keys()]
    .sort()
    .flatMap((kind) => toStrangers(live.resources.get(kind) ?? []))
    .filter(({ id, stack: owner }) => !known.has(id) && owner !== stack);
}

/** Resources of a kind as those who do not own them see them, by id: worked out, and kept, once for all stacks of a run. */
function toStrangers(resources: readonly LiveResource[]): readonly Stranger[] {
  const strangers = STRANGERS.get(resources) ?? resources.map(toStranger).sort(byId);
  STRANGERS.set(resources, strangers);
  return strangers;
}

const STRANGERS = new WeakMap<readonly LiveResource[], readonly Stranger[]>();

function toStranger({ kind, id, spec, mark }: LiveResource): Stranger {
  return {
    kind,
    id,
    description: typeof spec['description'] === 'string' ? spec['description'] : '',
    ...(mark !== undefined && { stack: mark.stack }),
  };
}

function byId(left: Stranger, right: Stranger): number {
  return left.id < right.id ? -1 : 1;
}
