import { renderTimeSpan } from '../../kinds/duration.ts';
import { listClockSkewWarnings, NO_SKEW, toServiceTime } from '../../model/clock.ts';
import type { StackInventory } from '../../model/drift.ts';
import { toPrintable } from '../../model/printable.ts';
import type { Context } from '../context.ts';

/** The current time by the clock of the service from which an inventory was read. */
export function getServiceTime(
  { clock = NO_SKEW }: Pick<StackInventory, 'clock'>,
  { now }: Pick<Context, 'now'>,
): Date {
  return toServiceTime(now(), clock);
}

/** Warns on stderr, once, if the clock of this machine and that of the service differ. */
export function warnOfClockSkew(
  inventories: readonly Pick<StackInventory, 'clock'>[],
  { stderr }: Pick<Context, 'stderr'>,
): void {
  const [first] = inventories.flatMap(({ clock = NO_SKEW }) => listClockSkewWarnings(clock, renderTimeSpan));
  if (first === undefined) return;
  stderr.write(`Warning: ${toPrintable(first.message)}. ${toPrintable(first.remedy ?? '')}\n`);
}
