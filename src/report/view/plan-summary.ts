import { hasErrors } from '../../model/diagnostic.ts';
import { toPrintable } from '../../model/printable.ts';
import { toCount, toTimeText } from '../text/layout.ts';
import type { PlanView } from './plan-view.ts';

/** What a plan comes to, in one sentence. Nothing of one with errors can be applied, so that has no numbers to be approved. */
export function toSummary(view: PlanView): string {
  if (hasErrors(view.diagnostics)) return 'This plan cannot be applied.';
  return view.isEmpty ? toNothing(view) : toCounts(view);
}

function toNothing({ totals, withheld }: PlanView): string {
  const number = totals['no-op'];
  if (number === 0 && withheld.length > 0) return `Nothing to do: ${toCount(withheld.length, 'resource')} kept.`;
  if (number === 0) return 'Nothing to do: there are no resources.';
  return `Nothing to do: ${toCount(number, 'resource is', 'resources are')} as the manifests say.`;
}

function toCounts({ totals }: PlanView): string {
  const { delete: deletes, replace, update, release, adopt, create, 'no-op': unchanged } = totals;
  const releases = release === 0 ? '' : `${release} to release, `;
  return `${deletes} to delete, ${replace} to replace, ${update} to update, ${releases}${adopt} to adopt, ${create} to create; ${unchanged} unchanged.`;
}

/** What reading took and applying will take: `12`; when requests take their time, `540 requests, at least 4 min 0 s at 120/60s`. */
export function toRequestSentence(view: PlanView): string {
  const isRead = `Reading took ${toCount(view.requests.read, 'request')}`;
  return view.isEmpty || hasErrors(view.diagnostics) ? `${isRead}.` : `${isRead}; applying needs ${toNeeds(view)}.`;
}

function toNeeds({ requests: { apply, leastMs }, rateLimit }: PlanView): string {
  if (leastMs === 0) return String(apply);
  return `${toCount(apply, 'request')}, at least ${toTimeText(leastMs)} at ${toPrintable(rateLimit)}`;
}
