import type { ApplyEvent } from '../../model/outcome.ts';
import type { TextStyleOptions } from '../../report/report.ts';
import {
  createEventLog,
  createLiveProgress,
  formatRemaining,
  type PendingWait,
  type PlannedWrites,
} from '../../report/text/progress.ts';
import { clipToColumns } from '../../report/view/escape.ts';
import { formatCount } from '../../report/view/wording.ts';
import type { Context, OutputStream } from '../context.ts';
import { isInfoLogged } from './present.ts';

export interface ApplyProgress {
  readonly onEvent: (event: ApplyEvent) => void;
  /** Prints a permanent line. */
  readonly tell: (line: string) => void;
  /** Records that no request is sent before `wait.until`. */
  readonly wait: (wait: PendingWait) => void;
  /** Stops the progress, removes the live line, and prints the last permanent lines. */
  readonly end: () => void;
}

/**
 * Returns stderr. Its lines are updated in place only on a terminal that can do so, and if no log is written to it: log
 * lines would be overwritten.
 */
export function getProgressStream({ env, stderr }: Pick<Context, 'env' | 'stderr'>): OutputStream {
  return { ...stderr, isTerminal: stderr.isTerminal && env['TERM'] !== 'dumb' && !isInfoLogged({ env }) };
}

interface ProgressPlace extends Pick<Context, 'now' | 'after'> {
  readonly output: OutputStream;
}

export function createApplyProgress(
  place: ProgressPlace,
  ahead: PlannedWrites,
  options: TextStyleOptions,
): ApplyProgress {
  return place.output.isTerminal ? createLive(place, ahead, options) : createPlain(place, ahead, options);
}

/** Prints a line for each finished write, and a summary after each half minute without a line. */
function createPlain(
  { output, now, after }: ProgressPlace,
  { total, rateLimit }: PlannedWrites,
  options: TextStyleOptions,
): ApplyProgress {
  const log = createEventLog(options);
  const live = createLiveProgress({ total, rateLimit }, { ...options, color: false, width: 0 });
  let left = total;
  let saidAt = Number.NEGATIVE_INFINITY;
  let wroteAt = now().getTime();
  const isQuietSince = (time: number): boolean => now().getTime() - time >= PLAIN_MS;
  const write = (lines: readonly string[]): void => {
    if (lines.length > 0) output.write(`${lines.join('\n')}\n`);
  };
  const onEvent = (event: ApplyEvent): void => {
    if (event.event === 'write-ended') left -= 1;
    live.apply(event);
    const lines = log.take(event);
    if (lines.length > 0) wroteAt = now().getTime();
    write(lines);
  };
  const say = (line: string): void => {
    saidAt = now().getTime();
    wroteAt = saidAt;
    output.write(`${line}\n`);
  };
  const tell = (line: string): void => {
    wroteAt = now().getTime();
    const [least] = formatRemaining(left, rateLimit);
    output.write(least === undefined ? `${line}\n` : `${line} ${formatCount(left, 'write')} to go, ${least}.\n`);
  };
  const stop = callPeriodically(() => {
    if (isQuietSince(wroteAt)) say(live.render(now().getTime()));
  }, after);
  const wait = (pending: PendingWait): void => {
    const time = now().getTime();
    live.wait(pending);
    if (pending.until - time < MIN_SHOWN_WAIT_MS || !isQuietSince(saidAt)) return;
    saidAt = time;
    tell(`Waiting ${Math.ceil((pending.until - time) / 1000)} s: ${pending.reason}.`);
  };
  const end = (): void => {
    stop();
    write(log.end());
  };
  return { onEvent, tell, wait, end };
}

/** Redraws the line every second and after events, but at most once per turn of the event loop. */
function createLive(
  { output, now, after }: ProgressPlace,
  ahead: PlannedWrites,
  options: TextStyleOptions,
): ApplyProgress {
  const live = createLiveProgress(ahead, options);
  const line = createStatusLine(output);
  let isPending = false;
  let isEnded = false;
  const show = (): void => {
    if (!isEnded) line.show(live.render(now().getTime()));
  };
  const stop = callPeriodically(show, after);
  const showSoon = (): void => {
    if (isPending) return;
    isPending = true;
    setImmediate(() => {
      isPending = false;
      show();
    });
  };
  return {
    onEvent: (event) => {
      for (const kept of live.apply(event)) line.tell(kept);
      showSoon();
    },
    tell: line.tell,
    wait: (pending) => {
      live.wait(pending);
      showSoon();
    },
    end: () => {
      isEnded = true;
      stop();
      line.clear();
      for (const kept of live.end()) output.write(`${kept}\n`);
    },
  };
}

/** Minimum length of a wait that is shown. A shorter wait is over before anyone reads the line. */
export const MIN_SHOWN_WAIT_MS = 1_000;

/** Calls `show` every second. Returns a function that stops the calls. */
function callPeriodically(show: () => void, after: Context['after']): () => void {
  let cancel = (): void => undefined;
  const again = (): void => {
    cancel = after(LIVE_MS, () => {
      show();
      again();
    });
  };
  again();
  return () => cancel();
}

/** A terminal shows the time left in seconds. A log gets two lines a minute, so that it stays short. */
export const LIVE_MS = 1_000;
const PLAIN_MS = 30_000;

/** A line that is updated in place on a terminal. Elsewhere, each changed text is printed as a new line. */
export interface StatusLine {
  readonly show: (text: string) => void;
  /** Writes a permanent line above the status line. */
  readonly tell: (line: string) => void;
  readonly clear: () => void;
}

export function createStatusLine(output: OutputStream): StatusLine {
  return output.isTerminal ? createLiveLine(output) : createPlainLine(output);
}

const ERASE = '\r\u001b[K';

function createLiveLine({ write, columns }: OutputStream): StatusLine {
  let shown = '';
  const draw = (): void => {
    if (shown !== '') write(`${ERASE}${clipToColumns(shown, Math.max(0, columns() - 1))}`);
  };
  const erase = (): void => {
    if (shown !== '') write(ERASE);
  };
  return {
    show: (text) => {
      shown = text;
      draw();
    },
    tell: (line) => {
      erase();
      write(`${line}\n`);
      draw();
    },
    clear: () => {
      erase();
      shown = '';
    },
  };
}

function createPlainLine({ write }: OutputStream): StatusLine {
  let shown = '';
  return {
    show: (text) => {
      if (text !== shown) write(`${text}\n`);
      shown = text;
    },
    tell: (line) => write(`${line}\n`),
    clear: () => undefined,
  };
}
