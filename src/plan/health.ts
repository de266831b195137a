import { renderTimeSpan } from '../kinds/duration.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { DesiredResource } from '../model/state.ts';
import type { Decision } from './decide.ts';
import { NEAR } from './renew.ts';
import { readTime } from './validity.ts';

/** Warnings on live resources of ours that fail at the service or expire soon, whether or not the plan changes them. */
export function listHealthWarnings(decisions: readonly Decision[], now: Date): readonly Diagnostic[] {
  return decisions.flatMap((decision) => {
    const { desired } = decision.pair;
    const goes = decision.action === 'delete' || decision.action === 'create' || decision.action === 'replace';
    return goes || desired === undefined
      ? []
      : [...listTroubles(decision, desired), ...listEnds(decision, desired, now)];
  });
}

function listTroubles({ pair }: Decision, desired: DesiredResource): readonly Diagnostic[] {
  return pair.kind.findTroubles(pair.live?.computed ?? {}).map(({ message, remedy, field }) => ({
    code: 'service-trouble',
    severity: 'warning',
    message: `${pair.address}: ${message}`,
    remedy,
    address: pair.address,
    place: desired.locate(['spec', field]),
  }));
}

/** Certificates that are renewed before their end, or state their end, are handled elsewhere. */
function listEnds({ pair, form }: Decision, desired: DesiredResource, now: Date): readonly Diagnostic[] {
  const { kind, live, address } = pair;
  const after = readTime(live?.spec ?? {}, kind.validity?.after);
  const until = readTime(live?.spec ?? {}, kind.validity?.until);
  const isStated = readTime(form?.written ?? {}, kind.validity?.until) !== undefined;
  if (
    after === undefined ||
    until === undefined ||
    isStated ||
    desired.lifecycle.settings['renew_before'] !== undefined
  )
    return [];
  const leftMs = until - now.getTime();
  if (leftMs > (until - after) * NEAR) return [];
  const when = leftMs > 0 ? `expires in ${renderTimeSpan(leftMs)}` : `expired ${renderTimeSpan(-leftMs)} ago`;
  return [
    {
      code: 'validity-ends',
      severity: 'warning',
      message: `${address} ${when}; only an apply after that replaces it`,
      remedy: `Set lifecycle.renew_before, so that it is replaced in time, or replace it now with --rotate ${address}.`,
      address,
      place: desired.locate(),
    },
  ];
}
