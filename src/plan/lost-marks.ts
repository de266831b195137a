import { hasToken } from '../kinds/kind.ts';
import { toAddress } from '../model/address.ts';
import { findCutMark } from '../model/mark.ts';
import { isCutMarkOf } from '../model/ownership.ts';
import type { Place } from '../model/place.ts';
import type { DesiredResource, LiveState } from '../model/state.ts';
import type { ChangeDecision } from './decide.ts';
import { createAdoptionCandidateSearch, hasNoMetadata } from './duplicates.ts';

/**
 * Creations that a live resource speaks against: it is in the place of the new one, and its mark was lost. A service that
 * cuts or drops metadata would otherwise get another resource with each apply.
 */
interface LostMark {
  readonly address: string | undefined;
  readonly place: Place | undefined;
  readonly desired: DesiredResource | undefined;
  /** Of the live resource. */
  readonly id: string;
}

interface CutMark extends LostMark {
  /** What is not created, as a clause. */
  readonly what: string;
}

/** Finds resources that have only the beginning of a mark of the stack, of the kinds of which the plan creates some. */
export function findCutMarks(
  decisions: readonly ChangeDecision[],
  { live, stack }: { readonly live: LiveState; readonly stack: string },
): readonly CutMark[] {
  const planned = listPlannedIds(decisions);
  const byKind = Map.groupBy(decisions.filter(isCreation), ({ pair }) => pair.kind.name);
  return [...byKind].flatMap(([kind, ofKind]) => {
    const cut = (live.resources.get(kind) ?? []).flatMap((one) => {
      const mark = planned.has(one.id) ? undefined : findCutMark(one);
      return mark !== undefined && isCutMarkOf(mark, stack) ? [{ ...mark, id: one.id }] : [];
    });
    return cut.map(({ name, id }) => {
      const address = name === undefined ? undefined : toAddress(kind, name);
      const same = ofKind.find(({ pair }) => pair.address === address)?.pair;
      const what =
        same === undefined ? `no ${ofKind[0]?.pair.kind.title ?? kind} is created` : `${same.address} is not created`;
      return { ...toLostMark(id, same?.desired), what };
    });
  });
}

/** Finds credentials to create for which a live one exists that has the same fields and no metadata. */
export function findLostDeliveries(
  decisions: readonly ChangeDecision[],
  live: LiveState,
): readonly (LostMark & { readonly address: string })[] {
  const creations = decisions.filter(isCreation);
  if (creations.length === 0) return [];
  const listCandidates = createAdoptionCandidateSearch(live, listPlannedIds(decisions));
  return creations.flatMap(({ pair: { kind, desired, address }, form }) =>
    !hasToken(kind) || form === undefined
      ? []
      : listCandidates(kind, form.normal)
          .filter(hasNoMetadata)
          .map(({ id }) => ({ ...toLostMark(id, desired), address })),
  );
}

function isCreation({ action }: ChangeDecision): boolean {
  return action === 'create' || action === 'replace';
}

function listPlannedIds(decisions: readonly ChangeDecision[]): ReadonlySet<string | undefined> {
  return new Set(decisions.map(({ pair }) => pair.live?.id));
}

function toLostMark(id: string, desired: DesiredResource | undefined): LostMark {
  return { id, desired, address: desired?.address, place: desired?.locate(['metadata', 'name']) };
}
