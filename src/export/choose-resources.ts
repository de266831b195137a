import type { LiveResource, LiveState } from '../model/state.ts';

/** A live resource that is not exported. */
export interface LeftOut {
  readonly kind: string;
  readonly id: string;
  /** A sentence without its full stop. */
  readonly reason: string;
}

/** Live resources to export, and those to leave out. */
export interface Choice {
  readonly chosen: readonly LiveResource[];
  readonly leftOut: readonly LeftOut[];
}

/** What nobody owns, and what `stack` owns. Taking over a resource of another stack has to be stated in each manifest. */
export function chooseResources(live: LiveState, stack: string | undefined): Choice {
  const all = [...live.resources.values()].flat().sort(byAge);
  const first = new Map<string, LiveResource>();
  for (const resource of all) {
    const key = toMarkKey(resource);
    if (key !== undefined && !first.has(key)) first.set(key, resource);
  }
  const reasons = all.map((resource) => ({ resource, reason: findReason(resource, stack, first) }));
  return {
    chosen: [
      ...reasons.filter(({ reason }) => reason === undefined).map(({ resource }) => resource),
      ...live.attachments.values(),
    ],
    leftOut: reasons.flatMap(({ resource: { kind, id }, reason }) =>
      reason === undefined ? [] : [{ kind, id, reason }],
    ),
  };
}

function findReason(
  resource: LiveResource,
  stack: string | undefined,
  first: ReadonlyMap<string, LiveResource>,
): string | undefined {
  const { mark, markTrouble } = resource;
  if (markTrouble !== undefined) return `its mark cannot be read: ${markTrouble}`;
  if (mark === undefined) return undefined;
  if (mark.stack !== stack) return `it belongs to the stack ${mark.stack}, as ${resource.kind}/${mark.name}`;
  const owner = first.get(toMarkKey(resource) ?? '');
  return owner === resource ? undefined : `it bears the same mark as ${owner?.id}, ${resource.kind}/${mark.name}`;
}

function toMarkKey({ kind, mark }: LiveResource): string | undefined {
  return mark === undefined ? undefined : `${mark.stack} ${kind}/${mark.name}`;
}

function byAge(left: LiveResource, right: LiveResource): number {
  return `${left.createdAt} ${left.id}` < `${right.createdAt} ${right.id}` ? -1 : 1;
}
