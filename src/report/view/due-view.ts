import { renderTimeSpan } from '../../kinds/duration.ts';
import type { Change } from '../../model/change.ts';
import { quoteIfNeeded } from './escape.ts';

/** An unchanged resource that time will replace or end. */
export interface DueView {
  readonly address: string;
  /** Such as `rotates in 11 days`. */
  readonly said: string;
  /** In UTC, to the minute: `2026-03-12 09:30 UTC`. */
  readonly at: string;
}

/** How far ahead reports look: a job that runs once a week shows each date twice. */
export const DUE_DAYS = 14;

const DAY_MS = 86_400_000;

/** The resources that are due in the next DUE_DAYS days, the earliest first. `from`: the time of the report, RFC 3339. */
export function listDue(
  changes: readonly Pick<Change, 'address' | 'due'>[],
  from: string | undefined,
): readonly DueView[] {
  const start = Date.parse(from ?? '');
  const found = changes.flatMap(({ address, due }) => {
    const at = Date.parse(due?.at ?? '');
    return due !== undefined && at - start <= DUE_DAYS * DAY_MS ? [{ address, event: due.event, at }] : [];
  });
  return found
    .sort((left, right) => left.at - right.at)
    .map(({ address, event, at }) => ({
      address: quoteIfNeeded(address),
      said: `${event} in ${renderTimeSpan(Math.max(0, at - start))}`,
      at: `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    }));
}
