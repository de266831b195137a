import { listClaims } from '../kinds/claims.ts';
import { isRotatable } from '../kinds/kind.ts';
import { listReferences } from '../kinds/references.ts';
import { toBaseAddress } from '../model/change.ts';
import type { Write } from '../model/plan.ts';
import { breakCycles } from './break-cycles.ts';
import type { Decision } from './decide.ts';
import { listAwaited } from './desired-form.ts';
import { Needs, type Planned } from './needs.ts';
import { listWrites, type WriteDraft } from './writes.ts';

/**
 * The order of writes comes from references alone, and from four rules: a value that only one resource can have is released
 * before it is claimed; a replace creates first and deletes last; a delete comes after the writes that drop the references to
 * it; a restriction that can lock its caller out comes last. Nothing else waits for anything.
 */
export function orderWrites(decisions: readonly Decision[], stack: string): readonly Write[] {
  const planned = decisions.map((decision): Planned => ({ decision, writes: listWrites(decision, stack) }));
  const needs = new Needs(planned.flatMap(({ writes }) => writes));
  addReferenceNeeds(planned, needs);
  addDropNeeds(planned, needs);
  addClaimNeeds(planned, needs);
  addDuplicateNeeds(planned, needs);
  const { drafts, order } = breakCycles(planned, needs);
  return markLast(planned, order, needs, drafts);
}

/** A body with an address in it waits for the creation that gives the address its id. */
function addReferenceNeeds(planned: readonly Planned[], needs: Needs): void {
  for (const { decision, writes } of planned) {
    for (const write of writes) {
      const awaited = listAwaited(decision.pair.kind, { ...write.mark?.pending, ...write.body });
      for (const address of awaited) needs.add(write.id, `create ${address}`);
    }
  }
}

/** Deleting something waits for every write that drops a reference to it. */
function addDropNeeds(planned: readonly Planned[], needs: Needs): void {
  const deletes = new Map(
    planned.flatMap(({ writes }) => writes.filter(isResourceDelete).map((write) => [write.resourceId, write.id])),
  );
  if (deletes.size === 0) return;
  for (const { decision, writes } of planned) {
    const { kind, live } = decision.pair;
    if (live === undefined || writes.length === 0) continue;
    for (const { value, path } of listReferences(kind, live.spec)) {
      const removal = deletes.get(value);
      if (removal === undefined) continue;
      for (const write of writes) if (drops(write, String(path[0]))) needs.add(removal, write.id);
    }
  }
}

function isResourceDelete(write: WriteDraft): boolean {
  return write.method === 'DELETE' && write.module === undefined;
}

function drops(write: WriteDraft, field: string): boolean {
  return (
    isResourceDelete(write) || write.module === field || (write.method === 'PATCH' && write.body?.[field] !== undefined)
  );
}

/** The token of a duplicate may be the one in use, so it goes when the token of what replaces both is delivered. */
function addDuplicateNeeds(planned: readonly Planned[], needs: Needs): void {
  const duplicates = planned.filter(({ decision: { pair } }) => pair.by === 'duplicate' && isRotatable(pair.kind));
  for (const { decision, writes } of duplicates) {
    const address = toBaseAddress(decision.pair.address);
    const kept = planned.find((other) => other.decision.pair.address === address);
    const made = kept?.writes.filter((write) => !isResourceDelete(write)) ?? [];
    for (const { id } of writes) for (const write of made) needs.add(id, write.id);
  }
}

/** A write that claims a value waits for the write that releases it. */
function addClaimNeeds(planned: readonly Planned[], needs: Needs): void {
  const releases = new Map(planned.flatMap(listReleases));
  for (const { decision, writes } of planned) {
    const claim = writes.find(
      ({ method, module }) => module === undefined && (method === 'POST' || method === 'PATCH'),
    );
    if (claim === undefined || decision.form === undefined) continue;
    for (const { key } of listClaims(decision.pair.kind, decision.form.normal)) {
      const release = releases.get(key);
      if (release === undefined) continue;
      needs.addClaim(claim.id, release);
      if (release === `delete ${decision.pair.address}`) needs.remove(release, claim.id);
    }
  }
}

/** The values that a resource has and will not have, or will not have under its present id, with the write that releases each. */
function listReleases({ decision, writes }: Planned): readonly (readonly [claim: string, write: string])[] {
  const { kind, live } = decision.pair;
  const release = writes.find(isResourceDelete) ?? writes.find(({ method }) => method === 'PATCH');
  if (live === undefined || release === undefined || decision.pair.by === 'attachment') return [];
  const kept = isResourceDelete(release) ? [] : listClaims(kind, decision.form?.normal ?? {});
  const keys = new Set(kept.map(({ key }) => key));
  return listClaims(kind, live.spec).flatMap(({ key }) => (keys.has(key) ? [] : [[key, release.id] as const]));
}

function markLast(
  planned: readonly Planned[],
  order: readonly string[],
  needs: Needs,
  drafts: ReadonlyMap<string, WriteDraft>,
): readonly Write[] {
  const last = new Set(planned.filter(isLockout).flatMap(({ writes }) => writes.map(({ id }) => id)));
  for (const id of order) if ([...needs.of(id)].some((needed) => last.has(needed))) last.add(id);
  const writes = order.flatMap((id): Write[] => {
    const draft = drafts.get(id);
    return draft === undefined
      ? []
      : [{ ...draft, needs: [...needs.of(id)].filter((needed) => drafts.has(needed)).sort(), last: last.has(id) }];
  });
  return [...writes.filter((write) => !write.last), ...writes.filter((write) => write.last)];
}

/** Whether a decision makes, or changes, a resource that can then lock its own caller out. */
export function isLockout({ decision }: Pick<Planned, 'decision'>): boolean {
  const { action, form, pair } = decision;
  return action !== 'no-op' && form !== undefined && pair.kind.canLockOut(form.normal);
}
