import { type Attachment, toAttachment } from '../../kinds/attachment.ts';
import { fillUnknown, isUnknown } from '../../kinds/fill-unknown.ts';
import { isModule, type Kind, listSpecFields } from '../../kinds/kind.ts';
import { getKind } from '../../kinds/tables/registry.ts';
import type { Change } from '../../model/change.ts';
import type { Drift, DriftState, ResourceDrift } from '../../model/drift.ts';
import { isSameJson } from '../../model/json.ts';
import { type Mark, toFieldDigest, UNMANAGED } from '../../model/mark.ts';
import type { Plan } from '../../model/plan.ts';
import type { LiveResource, LiveState } from '../../model/state.ts';
import { toDefaultDigest } from '../attribute.ts';
import { listStrangers, sortByAddress, toLack, toOwner, toValidUntil } from '../compute-drift.ts';
import { diffSpecs } from '../diff.ts';
import { toFileText } from '../files.ts';
import { listUsedKinds, type ReadRequest } from '../select-targets.ts';
import { toLiveDigest } from '../to-change.ts';
import { createFinder, type Finder, isCreation, resolveSpec } from './finder.ts';

/** What comparing with a saved plan reads: every kind that its stack uses, and the modules that the plan found or sets. */
export function toAgainstRequest(plan: Plan): ReadRequest {
  const attached = plan.changes.filter(({ kind }) => getKind(kind).role === 'attached');
  return { kinds: listUsedKinds(plan.settings), attachments: attached.map(toCompared) };
}

/** What a saved plan is compared with. */
export interface Against {
  readonly live: LiveState;
  /** Texts of the files that the plan would have written, by path. */
  readonly present: ReadonlyMap<string, string>;
  readonly now: Date;
  /** Where the plan came from. */
  readonly file: string;
}

/** What is live, compared with what a saved plan would have left. */
export function toDriftAgainst(plan: Plan, { live, present, now, file }: Against): Drift {
  const found = createFinder(plan, live);
  const { stack, baseUrl, targets, externals } = plan;
  const resources = plan.changes
    .flatMap((change) => compareChange(change, { ...found, stack }))
    .map((resource) => withFile(resource, plan.files, { live, present }));
  const known = new Set(resources.filter(({ state }) => state !== 'unowned').map(({ id }) => id));
  return {
    stack,
    baseUrl,
    at: now.toISOString(),
    against: file,
    targets,
    resources: sortByAddress(resources),
    kinds: [...live.resources.keys()],
    strangers: listStrangers({ stack, known }, live),
    diagnostics: [],
    externals,
    requests: live.requests,
  };
}

/** The live resource of a change: the one with its mark, else the one that it started from. */
function findResult(change: Change, found: Finder): LiveResource | undefined {
  return isCreation(change) ? (found.bearer(change) ?? found.start(change)) : found.start(change);
}

/** Nothing for a resource that the plan deletes and that is gone. */
function compareChange(change: Change, found: Finder & Pick<Plan, 'stack'>): readonly ResourceDrift[] {
  const { address, duplicateOf, kind } = change;
  const live = findResult(change, found);
  const base = { address, ...(duplicateOf !== undefined && { duplicateOf }), kind, differences: [] };
  if (change.action === 'delete') return live === undefined ? [] : [{ ...base, ...toFacts(live), state: 'left-over' }];
  if (live === undefined) return [{ ...base, state: 'missing' }];
  const isOwned = getKind(kind).role === 'owned' && change.action !== 'release';
  if (isOwned && live.mark?.stack !== found.stack)
    return [{ ...base, ...toFacts(live), state: 'unowned', reason: toLack(live) }];
  const isUnread = change.action === 'no-op' && change.live?.spec === undefined;
  return [
    {
      ...base,
      ...toFacts(live),
      ...(isUnread ? compareDigests(change, live) : compareSpecs(change, live, found)),
    },
  ];
}

/** Issued values are also in files; the plan names the files that it would have written. */
function withFile(
  resource: ResourceDrift,
  files: Plan['files'],
  { live, present }: Pick<Against, 'live' | 'present'>,
): ResourceDrift {
  const file = files.find(({ address }) => address === resource.address);
  const one = live.resources.get(resource.kind)?.find(({ id }) => id === resource.id);
  const text = one === undefined ? undefined : toFileText(one.computed[getKind(one.kind).fileField ?? '']);
  if (file === undefined || text === undefined || resource.duplicateOf !== undefined) return resource;
  const there = present.get(file.path);
  if (there === text || resource.state !== 'in-sync') return resource;
  const reason = `${file.path} ${there === undefined ? 'is missing' : 'has other content'}`;
  return { ...resource, reason, state: 'file-differs' };
}

function toFacts(live: LiveResource): Pick<ResourceDrift, 'id' | 'validUntil'> {
  return { id: live.id, ...toValidUntil(live) };
}

type Compared = Pick<ResourceDrift, 'state' | 'differences' | 'moved'>;

/** A field that still has its old value is pending; any other difference is drift. */
function compareSpecs(change: Change, live: LiveResource, { ids }: Finder): Compared {
  const kind = getKind(change.kind);
  const start = change.live?.spec;
  const names = new Set(listCompared(kind, change));
  const left = resolveSpec(change.kind, change.desired ?? start ?? {}, ids);
  const desired = Object.fromEntries(Object.entries(left).filter(([name]) => names.has(name)));
  const differences = diffSpecs(kind, fillUnknown(kind, live.spec, desired), desired).map((difference) => {
    const { field } = difference;
    const isBefore = start !== undefined && isSameJson(start[field] ?? null, live.spec[field] ?? null);
    return { ...difference, origin: isBefore ? ('manifest' as const) : ('drift' as const) };
  });
  if (differences.length > 0) return { state: toOwner(differences), differences };
  return { state: isReplaced(change, live) ? 'in-sync' : 'pending', differences };
}

/** A replace that changes no field is done when the live resource is another one. */
function isReplaced({ action, live: start }: Change, live: LiveResource): boolean {
  return action !== 'replace' || start?.id !== live.id;
}

/** For unchanged resources a plan stores digests only. The digests in the mark tell which field moved. */
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

/** The modules that the plan found or sets. It does not know whose the other ones are. */
function listCompared(kind: Kind, { desired, live }: Change): readonly string[] {
  return listSpecFields(kind).flatMap(([name, field]) => {
    const isStated = [desired?.[name], live?.spec?.[name]].some((value) => value !== undefined && value !== null);
    return kind.role === 'owned' || !isModule(field) || isStated ? [name] : [];
  });
}

function toCompared(change: Change): Attachment {
  const kind = getKind(change.kind);
  const compared = new Set(listCompared(kind, change));
  const spec = change.desired ?? change.live?.spec ?? {};
  return toAttachment(kind, { address: change.address, spec, isRead: (module) => compared.has(module) });
}
