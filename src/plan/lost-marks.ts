import { hasToken } from '../kinds/kind.ts';
import { toAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { findCutMark } from '../model/mark.ts';
import { isCutMarkOf } from '../model/ownership.ts';
import type { DesiredResource, LiveResource, LiveState } from '../model/state.ts';
import type { ChangeDecision } from './decide.ts';
import { createAdoptionCandidateSearch, formatLifecycleHint, hasNoMetadata } from './duplicates.ts';

/**
 * Errors on creations that a live resource speaks against: it is in the place of the new one, and its mark was lost. A
 * service that cuts or drops metadata would otherwise get another resource with each apply.
 */
export function listLostMarkErrors(
  decisions: readonly ChangeDecision[],
  live: LiveState,
  stack: string,
): readonly Diagnostic[] {
  const creations = decisions.filter(({ action }) => action === 'create' || action === 'replace');
  if (creations.length === 0) return [];
  const planned = new Set(decisions.map(({ pair }) => pair.live?.id));
  return [
    ...listCutMarkErrors(creations, { live, stack, planned }),
    ...creations.flatMap(createDeliveredSearch(live, planned)),
  ];
}

interface CutMarkContext {
  readonly live: LiveState;
  readonly stack: string;
  /** Ids of the live resources in the plan. */
  readonly planned: ReadonlySet<string | undefined>;
}

/** Errors on kinds of which a resource has only the beginning of a mark of the stack. */
function listCutMarkErrors(
  creations: readonly ChangeDecision[],
  { live, stack, planned }: CutMarkContext,
): readonly Diagnostic[] {
  const byKind = Map.groupBy(creations, ({ pair }) => pair.kind.name);
  return Array.from(byKind, ([kind, ofKind]) => {
    const cut = (live.resources.get(kind) ?? []).flatMap((one) => {
      const mark = planned.has(one.id) ? undefined : findCutMark(one);
      return mark !== undefined && isCutMarkOf(mark, stack) ? [{ ...mark, one }] : [];
    });
    return cut.map(({ name, one }) => {
      const address = name === undefined ? undefined : toAddress(kind, name);
      const same = ofKind.find(({ pair }) => pair.address === address);
      const [other] = ofKind;
      const what = same === undefined ? `no ${other?.pair.kind.title ?? kind}` : same.pair.address;
      return createError(one, same?.pair.desired, {
        message: `${what} ${same === undefined ? 'is' : 'is not'} created: ${one.id} has only the beginning of its mark, so the service cuts metadata and cannot be managed`,
      });
    });
  }).flat();
}

/** Finds the errors on a credential for which a live one exists that has the same fields and no metadata. */
function createDeliveredSearch(
  live: LiveState,
  planned: ReadonlySet<string | undefined>,
): (creation: ChangeDecision) => readonly Diagnostic[] {
  const listCandidates = createAdoptionCandidateSearch(live, planned);
  return ({ pair: { kind, desired, address }, form }) => {
    if (!hasToken(kind) || form === undefined) return [];
    return listCandidates(kind, form.normal)
      .filter(hasNoMetadata)
      .map((one) =>
        createError(one, desired, {
          message: `${address} is not created: ${one.id} has the same fields and no metadata, so it may be the one whose token was delivered, and have lost its mark`,
        }),
      );
  };
}

function createError(
  { id }: LiveResource,
  desired: DesiredResource | undefined,
  { message }: Pick<Diagnostic, 'message'>,
): Diagnostic {
  const adopt = desired && `, or adopt it: ${formatLifecycleHint(desired, { name: 'adopt', value: id })}`;
  return {
    code: 'mark-lost',
    severity: 'error',
    message,
    remedy: `If it is not needed, delete ${id} by hand${adopt ?? ''}`,
    address: desired?.address,
    place: desired?.locate(['metadata', 'name']),
  };
}
