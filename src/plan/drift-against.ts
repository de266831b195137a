import { fillUnknown, isUnknown } from '../kinds/fill-unknown.ts';
import { isModule, type Kind, listSpecFields } from '../kinds/kind.ts';
import { normalizeSpec } from '../kinds/normalize.ts';
import { mapReferences } from '../kinds/references.ts';
import { getKind, OWNED_KINDS } from '../kinds/tables/registry.ts';
import { type Address, toAddress } from '../model/address.ts';
import { type Change, toBaseAddress } from '../model/change.ts';
import type { Drift, DriftState, ResourceDrift } from '../model/drift.ts';
import { isSameJson } from '../model/json.ts';
import { type Mark, toFieldDigest, UNMANAGED } from '../model/mark.ts';
import type { Plan } from '../model/plan.ts';
import type { LiveResource, LiveState, Spec } from '../model/state.ts';
import { toDefaultDigest } from './attribute.ts';
import { listStrangers, toOwner, toValidUntil } from './compute-drift.ts';
import { toLiveDigest } from './create-plan.ts';
import { diffSpecs } from './diff.ts';
import type { ReadRequest } from './select-targets.ts';

/** What comparing with a saved plan reads: every kind, and the modules that the plan found or sets. */
export function toAgainstRequest(plan: Plan): ReadRequest {
  const attached = plan.changes.filter(({ kind }) => getKind(kind).role === 'attached');
  return { kinds: OWNED_KINDS, attachments: attached.map(toAttachment) };
}

/** What is live, compared with what a saved plan would have left. `file`: where the plan came from. */
export function toDriftAgainst(
  plan: Plan,
  { live, now, file }: { readonly live: LiveState; readonly now: Date; readonly file: string },
): Drift {
  const finder = createFinder(plan, live);
  const { stack, baseUrl, targets, externals } = plan;
  const resources = plan.changes.flatMap((change) => compareChange(change, finder));
  const known = new Set(resources.map(({ id }) => id));
  return {
    stack,
    baseUrl,
    at: now.toISOString(),
    against: file,
    targets,
    resources: resources.toSorted((left, right) => (left.address < right.address ? -1 : 1)),
    kinds: [...live.resources.keys()],
    strangers: listStrangers({ stack, known }, live),
    diagnostics: [],
    externals,
    requests: live.requests,
  };
}

/** Where the resources of a plan are now. */
interface Finder {
  /** What a change leaves, if it is there: what it starts from, else what bears its mark. */
  readonly find: (change: Change) => LiveResource | undefined;
  /** What a change leaves, with the ids of what was created since. */
  readonly resolve: (change: Change) => Spec;
}

function createFinder(plan: Plan, live: LiveState): Finder {
  const all = [...live.resources.values()].flat();
  const byId = new Map(all.map((resource) => [resource.id, resource]));
  const started = new Set(plan.changes.map((change) => change.live?.id));
  const byMark = new Map<Address, LiveResource>();
  for (const resource of all)
    if (resource.mark?.stack === plan.stack && !started.has(resource.id))
      byMark.set(toAddress(resource.kind, resource.mark.name), resource);
  const find = (change: Change): LiveResource | undefined => {
    const address = toBaseAddress(change.address);
    const start = live.attachments.get(address) ?? byId.get(change.live?.id ?? '');
    return change.action === 'create' || change.action === 'replace' ? (byMark.get(address) ?? start) : start;
  };
  const ids = new Map(plan.changes.map((change) => [change.address, find(change)?.id]));
  const resolve = ({ kind, desired, live: start }: Change): Spec => {
    const table = getKind(kind);
    const spec = desired ?? start?.spec ?? {};
    return normalizeSpec(
      table,
      mapReferences(table, spec, ({ value }) => ids.get(value) ?? value),
    );
  };
  return { find, resolve };
}

/** Nothing of what the plan deletes and has gone. */
function compareChange(change: Change, finder: Finder): readonly ResourceDrift[] {
  const { address, kind } = change;
  const found = finder.find(change);
  const base = { address, kind, differences: [] };
  if (change.action === 'delete')
    return found === undefined ? [] : [{ ...base, ...toFacts(found), state: 'left-over' }];
  if (found === undefined) return [{ ...base, state: 'missing' }];
  const isUnknown = change.action === 'no-op' && change.live?.spec === undefined;
  return [
    {
      ...base,
      ...toFacts(found),
      ...(isUnknown ? compareDigests(change, found) : compareSpecs(change, found, finder)),
    },
  ];
}

function toFacts(live: LiveResource): Pick<ResourceDrift, 'id' | 'validUntil'> {
  return { id: live.id, ...toValidUntil(live) };
}

type Compared = Pick<ResourceDrift, 'state' | 'differences' | 'moved'>;

/** A field that is as it was before is pending, any other that differs has drifted. */
function compareSpecs(change: Change, live: LiveResource, finder: Finder): Compared {
  const kind = getKind(change.kind);
  const start = change.live?.spec;
  const names = new Set(listCompared(kind, change));
  const desired = Object.fromEntries(Object.entries(finder.resolve(change)).filter(([name]) => names.has(name)));
  const differences = diffSpecs(kind, fillUnknown(kind, live.spec, desired), desired).map(
    ({ field, ...difference }) => {
      const isBefore = start !== undefined && isSameJson(start[field] ?? null, live.spec[field] ?? null);
      return { ...difference, origin: isBefore ? ('manifest' as const) : ('drift' as const) };
    },
  );
  if (differences.length > 0) return { state: toOwner(differences), differences };
  return { state: isReplaced(change, live) ? 'in-sync' : 'pending', differences };
}

/** A replace that changes no field is done when another one stands there. */
function isReplaced({ action, live: start }: Change, live: LiveResource): boolean {
  return action !== 'replace' || start?.id !== live.id;
}

/** Of what stays as it is a plan holds digests only: which field moved, those in the mark that it found say. */
function compareDigests(change: Change, live: LiveResource): Compared {
  if (change.live?.digest === toLiveDigest(live)) return { state: 'in-sync', differences: [] };
  const moved = listMoved(getKind(change.kind), live, change.live?.mark);
  const state: DriftState = 'drifted';
  return { state, differences: [], moved: moved.length === 0 ? ['metadata'] : moved };
}

function listMoved(kind: Kind, { spec }: LiveResource, mark: Mark | undefined): readonly string[] {
  return listSpecFields(kind)
    .filter(([name, field]) => {
      const applied = mark?.fields[name] ?? toDefaultDigest(kind, name);
      return (
        applied !== undefined &&
        applied !== UNMANAGED &&
        !isUnknown(field.type, spec[name]) &&
        toFieldDigest(spec[name] ?? null) !== applied
      );
    })
    .map(([name]) => name);
}

/** Of what modules are attached to, those that the plan found or sets: which others are somebody else's, it does not say. */
function listCompared(kind: Kind, { desired, live }: Change): readonly string[] {
  return listSpecFields(kind).flatMap(([name, field]) => {
    const isStated = [desired?.[name], live?.spec?.[name]].some((value) => value !== undefined && value !== null);
    return kind.role === 'owned' || !isModule(field) || isStated ? [name] : [];
  });
}

function toAttachment(change: Change): ReadRequest['attachments'][number] {
  const kind = getKind(change.kind);
  const spec = change.desired ?? change.live?.spec ?? {};
  const fields = listSpecFields(kind);
  const ids = fields.filter(([, field]) => !isModule(field)).map(([name]) => [name, spec[name] ?? null] as const);
  const compared = listCompared(kind, change);
  const modules = fields.filter(([name, field]) => isModule(field) && compared.includes(name)).map(([name]) => name);
  return { address: toBaseAddress(change.address), kind, ids: Object.fromEntries(ids), modules };
}
