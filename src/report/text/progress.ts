import { assertNever } from '../../model/errors.ts';
import type { ApplyEvent, Outcome, WriteWaiting } from '../../model/outcome.ts';
import { toPrintable } from '../../model/printable.ts';
import { computeMinimumRequestTimeMs, parseRateLimit } from '../../model/stack.ts';
import type { Write } from '../../model/write.ts';
import type { TextStyleOptions } from '../report.ts';
import { formatNotStarted } from '../view/apply-wording.ts';
import { clipToColumns } from '../view/escape.ts';
import { toFinding } from '../view/finding-wording.ts';
import { formatWaitTime, formatWriteName } from '../view/wording.ts';
import { renderFindingLines } from './findings.ts';
import { createPainter } from './layout.ts';

/** Turns the events of an apply into lines while the apply runs. */
interface EventLog {
  /**
   * Returns the lines of one event. Empty for the start of a write, and for a write that was not started (see `end`).
   */
  readonly take: (event: ApplyEvent) => readonly string[];
  /**
   * Returns the last line of an apply: one sentence on all writes that were not started because the run was interrupted
   * or the service could not be reached. Empty if there are no such writes.
   */
  readonly end: () => readonly string[];
}

/**
 * Creates a log with one line for each event, such as `[3/12] create TCPEdge/postgres … done`. Writes that were not started
 * have no line, and do not count.
 */
export function createEventLog(options: TextStyleOptions): EventLog {
  const notStarted = new Map<string, Outcome>();
  return {
    take: (event) => {
      const shown = event.event === 'write-ended' ? { ...event, done: event.done - notStarted.size } : event;
      if (event.event !== 'write-ended' || event.result.outcome !== 'skipped') return renderApplyEvent(shown, options);
      const { write, waitedFor, isKept } = event.result;
      if (isKept === true || waitedFor.some((id) => !notStarted.has(id))) return renderApplyEvent(shown, options);
      notStarted.set(write.id, event.result);
      return [];
    },
    end: () =>
      notStarted.size === 0
        ? []
        : [createPainter(options.color)('warning', formatNotStarted([...notStarted.values()]))],
  };
}

/** A pause during which no request is sent. */
export interface PendingWait {
  /** The end of the pause, in milliseconds since 1970. */
  readonly until: number;
  /** The reason of the pause, such as `edgewise sends at most 120/60s`. */
  readonly reason: string;
}

/**
 * The progress line on a terminal while an apply runs. This object does not draw: the caller replaces the previous line
 * by the result of `render`.
 */
interface LiveProgress {
  /** Records an event. Returns lines to keep above the progress line: failed and skipped writes, and diagnostics. */
  readonly apply: (event: ApplyEvent) => readonly string[];
  /** Records a pause, which replaces the previous pause. */
  readonly wait: (wait: PendingWait) => void;
  /** Returns lines to keep when the apply is over. */
  readonly end: () => readonly string[];
  /**
   * Returns the progress line for `now` (milliseconds since 1970): the finished writes, what Edgewise waits for, and
   * the minimum time left. At most as wide as the terminal.
   */
  readonly render: (now: number) => string;
}

export interface PlannedWrites {
  readonly total: number;
  /** Such as `120/60s`, or `none`. */
  readonly rateLimit: string;
}

export function createLiveProgress({ total, rateLimit }: PlannedWrites, options: TextStyleOptions): LiveProgress {
  const running = new Map<string, Write>();
  const waiting = new Map<string, WriteWaiting>();
  const ended = { applied: 0, failed: 0, skipped: 0 };
  const log = createEventLog(options);
  let pending: PendingWait | undefined;
  return {
    apply: (event) => {
      if (event.event === 'write-started') {
        running.set(event.write.id, event.write);
        waiting.delete(event.write.id);
      }
      if (event.event === 'write-waiting') {
        running.delete(event.write.id);
        waiting.set(event.write.id, event);
      }
      if (event.event === 'write-ended') {
        waiting.delete(event.result.write.id);
        running.delete(event.result.write.id);
        ended[event.result.outcome] += 1;
      }
      return isWorthKeeping(event) ? log.take(event) : [];
    },
    wait: (wait) => {
      pending = wait;
    },
    end: log.end,
    render: (now) => {
      const { applied, failed, skipped } = ended;
      const done = applied + failed + skipped;
      const bad = [...(failed === 0 ? [] : [`${failed} failed`]), ...(skipped === 0 ? [] : [`${skipped} skipped`])];
      const waitMs = Math.max(0, (pending?.until ?? now) - now);
      const left = formatRemaining(total - done, rateLimit, waitMs);
      const awaited = pending !== undefined && waitMs > 0 ? [formatProgressWait(pending, now)] : listAnswers(running);
      const line = [`${done} of ${total} done`, ...bad, ...left, ...awaited, ...listConflicts(waiting)].join(', ');
      return clipToColumns(line, options.width);
    },
  };
}

/** Returns a clause such as `waiting 45 s: edgewise sends at most 120/60s`. */
export function formatProgressWait({ until, reason }: PendingWait, now: number): string {
  return `waiting ${formatWaitTime(until - now)}: ${toPrintable(reason)}`;
}

/** Names the first write without a response, and counts the others. */
function listAnswers(running: ReadonlyMap<string, Write>): readonly string[] {
  const [first] = running.values();
  if (first === undefined) return [];
  return [`${formatWriteName(first)} …${running.size === 1 ? '' : ` and ${running.size - 1} more`}`];
}

/** Names the first write that waits for the effect of others, and counts the others. */
function listConflicts(waiting: ReadonlyMap<string, WriteWaiting>): readonly string[] {
  const [first] = waiting.values();
  if (first === undefined) return [];
  const more = waiting.size === 1 ? '' : ` (and ${waiting.size - 1} more)`;
  return [`${formatWriteName(first.write)} waits until ${formatEffects(first)}${more}`];
}

/** Returns, for example, `the service has finished delete TCPEdge/old`. */
function formatEffects({ waitsFor }: WriteWaiting): string {
  const [first, ...others] = waitsFor;
  if (first === undefined) return 'the service has finished writes of another stack';
  return `the service has finished ${toPrintable(first)}${others.length === 0 ? '' : ` and ${others.length} more`}`;
}

/** Whether the terminal keeps the lines of the event. Applied writes are only counted. */
function isWorthKeeping(event: ApplyEvent): boolean {
  return event.event === 'diagnostic' || (event.event === 'write-ended' && event.result.outcome !== 'applied');
}

/** The minimum time for the remaining writes, including a pause of `waitMs`. Empty if no time is left. */
export function formatRemaining(writes: number, rateLimit: string, waitMs = 0): readonly string[] {
  const limit = parseRateLimit(rateLimit);
  const leastMs = (limit === undefined ? 0 : computeMinimumRequestTimeMs(writes, limit)) + waitMs;
  if (leastMs === 0) return [];
  const why = limit === undefined ? '' : ` at ${toPrintable(rateLimit)}`;
  return [`at least ${formatWaitTime(leastMs)} left${why}`];
}

function renderApplyEvent(event: ApplyEvent, options: TextStyleOptions): readonly string[] {
  switch (event.event) {
    case 'write-started':
      return [];
    case 'write-waiting':
      return event.isFirst
        ? [
            `${formatWriteName(event.write)} … rejected with 409; tried again for up to ${formatWaitTime(event.leftMs)}, until ${formatEffects(event)}`,
          ]
        : [];
    case 'write-ended': {
      const { result, done, total } = event;
      return [`[${done}/${total}] ${formatWriteName(result.write)} … ${renderEnd(result, options)}`];
    }
    case 'diagnostic':
      return renderFindingLines(toFinding(event.diagnostic), options);
    default:
      return assertNever(event);
  }
}

function renderEnd(result: Outcome, { color }: TextStyleOptions): string {
  const paint = createPainter(color);
  switch (result.outcome) {
    case 'applied':
      return paint('added', 'done');
    case 'failed': {
      const how = result.isUnknown ? 'failed, and may have taken effect' : 'failed';
      return `${paint('error', how)}: ${toPrintable(result.message)}`;
    }
    case 'skipped':
      return `${paint('warning', 'skipped')}: ${toPrintable(result.message)}`;
    default:
      return assertNever(result);
  }
}
