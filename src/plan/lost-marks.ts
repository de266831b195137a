import { listClaims } from '../kinds/claims.ts';
import type { Kind } from '../kinds/kind.ts';
import { hasSameFields } from '../kinds/same-fields.ts';
import { toAddress } from '../model/address.ts';
import { findCutMark } from '../model/mark.ts';
import { isCutMarkOf } from '../model/ownership.ts';
import type { Place } from '../model/place.ts';
import type { DesiredResource, LiveResource, LiveState, Spec } from '../model/state.ts';
import type { ChangeDecision } from './decide.ts';
import { hasOwnValues, isUnmarked } from './duplicates.ts';
import { findManifestValidForMs, listValidityDifference, readFieldTime } from './validity.ts';

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

/** Whether the fields of a resource to create tell it apart: others of the kind do not have them by chance. */
export type Telling = 'told-apart' | 'alike';

/**
 * Finds creations for which a live resource exists that has the same fields and no metadata: an earlier apply may have
 * created it, and delivered its token. A resource with unique values is refused anyway (`claims.ts`). One without any field
 * is like each other one that a user created without any, such as the first credential of an account.
 */
export function findUnmarked(
  decisions: readonly ChangeDecision[],
  { live, now }: { readonly live: LiveState; readonly now: Date },
  telling: Telling,
): readonly (LostMark & { readonly address: string })[] {
  const isMeant = ({ pair, form }: ChangeDecision) =>
    form !== undefined && hasOwnValues(pair.kind, form.normal) === (telling === 'told-apart');
  const creations = decisions.filter((one) => isCreation(one) && isMeant(one));
  if (creations.length === 0) return [];
  const planned = listPlannedIds(decisions);
  const isFree = (one: LiveResource): boolean => isUnmarked(one) && !planned.has(one.id);
  const free = new Map([...live.resources].map(([kind, members]) => [kind, members.filter(isFree)]));
  return creations.flatMap(({ pair: { kind, desired, address }, form }) =>
    form === undefined || listClaims(kind, form.normal).length > 0
      ? []
      : (free.get(kind.name) ?? [])
          .filter(({ spec }) => hasSameFields(kind, spec, form.normal) && isSameValidity({ kind, spec, desired, now }))
          .map(({ id }) => ({ ...toLostMark(id, desired), address })),
  );
}

interface ComparedValidity {
  readonly kind: Kind;
  readonly spec: Spec;
  readonly desired: DesiredResource | undefined;
  readonly now: Date;
}

/** Whether a live resource is still valid, and for as long as its manifest says. True for kinds without a validity. */
function isSameValidity({ kind, spec, desired, now }: ComparedValidity): boolean {
  const until = readFieldTime(spec, kind.validity?.until);
  const validForMs = findManifestValidForMs(kind, desired);
  const isOver = until !== undefined && until <= now.getTime();
  return !isOver && listValidityDifference({ kind, live: { spec }, validForMs }).length === 0;
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
