import { isRotatable, type Kind, listOneTimeFields } from '../kinds/kind.ts';
import { compareAge, type DesiredResource, type LiveResource } from '../model/state.ts';
import { forcesReplace } from './diff.ts';
import { toValidForMs } from './validity.ts';

/**
 * Which of several is kept: the one whose token was delivered, then one that need not be replaced (an interrupted replace left both), then
 * the older. Of kinds that expire the younger one is kept: it was made to replace the other.
 */
export function compareBearers(
  kind: Kind,
  desired: DesiredResource | undefined,
  { left, right }: Readonly<Record<'left' | 'right', LiveResource>>,
): number {
  const isOutdated = (live: LiveResource) => desired !== undefined && isReplaced({ kind, desired, live });
  return (
    Number(isUndelivered(kind, left)) - Number(isUndelivered(kind, right)) ||
    Number(isOutdated(left)) - Number(isOutdated(right)) ||
    (isRotatable(kind) ? compareAge(right, left) : compareAge(left, right))
  );
}

function isReplaced({
  kind,
  desired,
  live,
}: Readonly<{ kind: Kind; desired: DesiredResource; live: LiveResource }>): boolean {
  const { lifecycle, spec } = desired;
  return forcesReplace({ kind, live, ignored: lifecycle.ignore, validForMs: toValidForMs(kind, desired) }, spec);
}

/** Whether what is shown only once was not recorded as delivered. */
export function isUndelivered(kind: Kind, { mark }: LiveResource): boolean {
  return listOneTimeFields(kind).length > 0 && mark?.delivered !== true;
}
