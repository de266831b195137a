import { listClaims } from '../kinds/claims.ts';
import { isRotatable, type Kind } from '../kinds/kind.ts';
import { listReferences } from '../kinds/references.ts';
import { assertNever } from '../model/errors.ts';
import { toWriteId, type WriteId } from '../model/write.ts';
import { listAwaited } from './desired-form.ts';
import type { Needs, Planned } from './needs.ts';
import type { Draft } from './writes.ts';

/** A write with an address in its body depends on the creation of that resource. */
export function addReferenceNeeds(planned: readonly Planned[], needs: Needs): void {
  for (const { kind, writes } of planned) {
    for (const write of writes)
      for (const address of listAwaitedBy(kind, write)) needs.add(write.id, toWriteId({ act: 'create', address }));
  }
}

function listAwaitedBy(kind: Kind, write: Draft) {
  switch (write.act) {
    case 'create':
    case 'update':
    case 'adopt':
      return listAwaited(kind, { ...write.mark?.pending, ...write.body });
    case 'deliver':
    case 'deliver-again':
      return listAwaited(kind, write.mark.pending);
    case 'set-module':
      return listAwaited(kind, { [write.module]: write.body });
    case 'give-up':
      return listAwaited(kind, write.body);
    case 'remove-module':
    case 'delete':
    case 'release':
      return [];
    default:
      return assertNever(write);
  }
}

/** A delete depends on every write that drops a reference to the resource. */
export function addDropNeeds(planned: readonly Planned[], needs: Needs): void {
  const all = planned.flatMap(({ writes }) => writes);
  const deletes = new Map(all.flatMap((write) => (write.act === 'delete' ? [[write.resourceId, write.id]] : [])));
  if (deletes.size === 0) return;
  for (const { change, kind, writes } of planned) {
    if (change.live?.spec === undefined || writes.length === 0) continue;
    for (const { value, path } of listReferences(kind, change.live.spec)) {
      const removal = deletes.get(value);
      if (removal === undefined) continue;
      for (const write of writes) if (drops(write, String(path[0]))) needs.add(removal, write.id);
    }
  }
}

function drops(write: Draft, field: string): boolean {
  switch (write.act) {
    case 'delete':
      return true;
    case 'set-module':
    case 'remove-module':
      return write.module === field;
    case 'update':
    case 'adopt':
    case 'release':
    case 'give-up':
      return write.body[field] !== undefined;
    case 'create':
    case 'deliver':
    case 'deliver-again':
      return false;
    default:
      return assertNever(write);
  }
}

/** The token of a duplicate may be in use, so it is deleted only after the token of its replacement is delivered. */
export function addDuplicateNeeds(planned: readonly Planned[], needs: Needs): void {
  for (const { change, kind, writes } of planned) {
    if (change.duplicateOf === undefined || !isRotatable(kind)) continue;
    const kept = planned.find(({ change: other }) => isKept(other) && other.address === change.address);
    const made = kept?.writes.filter(({ act }) => act !== 'delete' && act !== 'deliver-again') ?? [];
    for (const { id } of writes) for (const write of made) needs.add(id, write.id);
  }
}

function isKept({ duplicateOf }: Planned['change']): boolean {
  return duplicateOf === undefined;
}

/** A write that claims a value depends on the write that releases it. */
export function addClaimNeeds(planned: readonly Planned[], needs: Needs): void {
  const releases = new Map(planned.flatMap(listReleases));
  for (const { change, kind, writes } of planned) {
    const claim = writes.find(isClaim);
    if (claim === undefined) continue;
    for (const { key } of listClaims(kind, change.desired ?? {})) {
      const release = releases.get(key);
      if (release === undefined) continue;
      needs.addClaim(claim.id, release);
      if (writes.some(({ act, id }) => act === 'delete' && id === release)) needs.remove(release, claim.id);
    }
  }
}

function isClaim({ act }: Draft): boolean {
  return act === 'create' || act === 'update' || act === 'adopt';
}

/** The values that a resource has and will not have, or will not have under its present id, with the write that releases each. */
function listReleases({ change, kind, writes }: Planned): readonly (readonly [claim: string, write: WriteId])[] {
  const removal = writes.find(({ act }) => act === 'delete');
  const release = removal ?? writes.find(({ act }) => act === 'update' || act === 'adopt');
  if (change.live?.spec === undefined || release === undefined) return [];
  const kept = removal === undefined ? listClaims(kind, change.desired ?? {}) : [];
  const keys = new Set(kept.map(({ key }) => key));
  return listClaims(kind, change.live.spec).flatMap(({ key }) => (keys.has(key) ? [] : [[key, release.id] as const]));
}
