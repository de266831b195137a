import type { SubmittedKind } from '../../kinds/kind.ts';
import type { JsonObject } from '../../model/json.ts';
import { renderSubmissionState, toSubmissionView } from '../../report/text/submission.ts';
import type { TellBy } from '../connection/notices.ts';
import type { Context } from '../context.ts';
import { createStatusLine, type StatusLine } from '../output/status-line.ts';

/** How a wait ended, and the last that was read; `undefined`: interrupted before anything was. */
export interface Waited {
  readonly ended: 'decided' | 'too-late' | 'interrupted';
  readonly shown: JsonObject | undefined;
}

/** What to wait with. */
export interface Wait {
  readonly kind: SubmittedKind;
  readonly read: (signal: AbortSignal) => Promise<JsonObject>;
  readonly timeoutMs: number;
  /** Has what the client tells written beside the progress. */
  readonly tellBy: TellBy;
  /** Aborted: the wait is over. */
  readonly signal: AbortSignal;
}

/** A service allows about 120 requests a minute for all that an account does: a wait begins with 12 and comes down to one. */
const FIRST_DELAY_MS = 5_000;
const MAX_DELAY_MS = 60_000;

/** Reads a submission until it is decided, the time is over or an interrupt comes, and says on stderr how far it is. */
export async function waitForDecision(wait: Wait, context: Context): Promise<Waited> {
  const line = createStatusLine(context.stderr);
  try {
    return await poll(wait, { context, line });
  } finally {
    line.clear();
    wait.tellBy(undefined);
  }
}

interface Polling {
  readonly context: Context;
  readonly line: StatusLine;
}

async function poll({ kind, read, timeoutMs, tellBy, signal }: Wait, { context, line }: Polling): Promise<Waited> {
  const deadline = context.now().getTime() + timeoutMs;
  let shown: JsonObject | undefined;
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(delayMs * 2, MAX_DELAY_MS)) {
    const answer = await unlessAborted(read, signal);
    if (answer === undefined) return { ended: 'interrupted', shown };
    shown = answer;
    const leftMs = deadline - context.now().getTime();
    const view = toSubmissionView(kind, shown);
    if (view.isDecided) return { ended: 'decided', shown };
    if (leftMs <= 0) return { ended: 'too-late', shown };
    tellBy(line.tell);
    line.show(`${renderSubmissionState(view)}; waiting for ${toTimeText(leftMs)} more at most`);
    await context.sleep(Math.min(delayMs, leftMs), signal);
    if (signal.aborted) return { ended: 'interrupted', shown };
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
