import type { JsonObject } from '../../model/json.ts';
import { isProcessed, renderAbuseReportState, toAbuseReportView } from '../../report/text/abuse-report.ts';
import { toClipped } from '../../report/view/columns.ts';
import type { Context, Output } from '../context.ts';

/** How a wait ended, and the last that was read; `undefined`: interrupted before anything was. */
export interface Waited {
  readonly ended: 'processed' | 'too-late' | 'interrupted';
  readonly report: JsonObject | undefined;
}

/** What to wait with. */
export interface Wait {
  readonly read: (signal: AbortSignal) => Promise<JsonObject>;
  readonly timeoutMs: number;
  /** Aborted: the wait is over. */
  readonly signal: AbortSignal;
}

/** A service allows about 120 requests a minute for all that an account does: a wait begins with 12 and comes down to one. */
const FIRST_DELAY_MS = 5_000;
const MAX_DELAY_MS = 60_000;

/** Reads an abuse report until it is processed, the time is over or an interrupt comes, and says on stderr how far it is. */
export async function waitForReport(wait: Wait, context: Context): Promise<Waited> {
  const line = createLine(context.stderr);
  try {
    return await poll(wait, { context, line });
  } finally {
    line.end();
  }
}

interface Polling {
  readonly context: Context;
  readonly line: Line;
}

async function poll({ read, timeoutMs, signal }: Wait, { context, line }: Polling): Promise<Waited> {
  const deadline = context.now().getTime() + timeoutMs;
  let report: JsonObject | undefined;
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(delayMs * 2, MAX_DELAY_MS)) {
    const answer = await unlessAborted(read, signal);
    if (answer === undefined) return { ended: 'interrupted', report };
    report = answer;
    const leftMs = deadline - context.now().getTime();
    const view = toAbuseReportView(report);
    if (isProcessed(view)) return { ended: 'processed', report };
    if (leftMs <= 0) return { ended: 'too-late', report };
    line.show(`${renderAbuseReportState(view)}; waiting for ${toTimeText(leftMs)} more at most`);
    await context.sleep(Math.min(delayMs, leftMs), signal);
    if (signal.aborted) return { ended: 'interrupted', report };
  }
}

async function unlessAborted<T>(
  read: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T | undefined> {
  try {
    return await read(signal);
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

/** `40 s`; from two minutes on `15 min`. */
function toTimeText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}

/** One line that is shown anew: in place on a terminal, anywhere else below the last one when it says something new. */
interface Line {
  readonly show: (text: string) => void;
  readonly end: () => void;
}

function createLine(output: Output): Line {
  return output.isTerminal ? createLiveLine(output) : createPlainLine(output);
}

function createLiveLine({ write, columns }: Output): Line {
  const erase = '\r\u001b[K';
  return {
    show: (text) => write(`${erase}${toClipped(text, Math.max(0, columns() - 1))}`),
    end: () => write(erase),
  };
}

function createPlainLine({ write }: Output): Line {
  let shown = '';
  return {
    show: (text) => {
      if (text !== shown) write(`${text}\n`);
      shown = text;
    },
    end: () => undefined,
  };
}
