import type { ApplyEvent } from '../../model/outcome.ts';
import type { TextOptions } from '../../report/report.ts';
import { type Ahead, createEventLog, createLiveProgress, listLeft } from '../../report/text/progress.ts';
import { clipToColumns } from '../../report/view/escape.ts';
import { formatCount } from '../../report/view/wording.ts';
import type { Output } from '../context.ts';

/** Shows an apply while it runs. */
export interface Progress {
  readonly onEvent: (event: ApplyEvent) => void;
  /** Prints a line that is not replaced. */
  readonly tell: (line: string) => void;
  /** Takes the live lines off the screen. */
  readonly end: () => void;
}

/** A live view on a terminal, plain lines anywhere else. */
export function createProgress(output: Output, ahead: Ahead, options: TextOptions): Progress {
  return output.isTerminal ? createLive(output, ahead, options) : createPlain(output, ahead, options);
}

/** Lines are written once for each turn of the event loop: a fast service brings thousands of events a second. */
function createPlain(output: Output, { total, rateLimit }: Ahead, options: TextOptions): Progress {
  const log = createEventLog(options);
  let due = '';
  let left = total;
  const flush = (): void => {
    if (due !== '') output.write(due);
    due = '';
  };
  const onEvent = (event: ApplyEvent): void => {
    if (event.event === 'write-ended') left -= 1;
    const lines = log.take(event);
    if (lines.length === 0) return;
    if (due === '') setImmediate(flush);
    due += `${lines.join('\n')}\n`;
  };
  const tell = (line: string): void => {
    flush();
    const [least] = listLeft(left, rateLimit);
    output.write(least === undefined ? `${line}\n` : `${line} ${formatCount(left, 'write')} to go, ${least}.\n`);
  };
  const end = (): void => {
    due += log
      .end()
      .map((line) => `${line}\n`)
      .join('');
    flush();
  };
  return { onEvent, tell, end };
}

/** Redraws at most once for each turn of the event loop, however many events it brings. */
function createLive(output: Output, ahead: Ahead, options: TextOptions): Progress {
  const live = createLiveProgress(ahead, options);
  let shown = 0;
  let isPending = false;
  let isEnded = false;
  const draw = (lines: readonly string[]): void => {
    const up = shown > 0 ? `\u001b[${shown}A\r\u001b[J` : '';
    output.write(`${up}${lines.map((line) => `${line}\n`).join('')}`);
  };
  const redraw = (kept: readonly string[]): void => {
    const lines = live.render();
    draw([...kept, ...lines]);
    shown = lines.length;
  };
  const onEvent = (event: ApplyEvent): void => {
    const kept = live.apply(event);
    if (kept.length > 0) redraw(kept);
    else if (!isPending) {
      isPending = true;
      setImmediate(() => {
        isPending = false;
        if (!isEnded) redraw([]);
      });
    }
  };
  return {
    onEvent,
    tell: (line) => redraw([line]),
    end: () => {
      isEnded = true;
      draw(live.end());
      shown = 0;
    },
  };
}

/** Has a line drawn now and again, as it is then: each second on a terminal, where it moves, and every half minute anywhere else. Returns what ends that. */
export function keepShowing(
  show: () => void,
  { isTerminal, after }: { readonly isTerminal: boolean; readonly after: (ms: number, run: () => void) => () => void },
): () => void {
  let cancel = (): void => undefined;
  const again = (): void => {
    cancel = after(isTerminal ? LIVE_MS : PLAIN_MS, () => {
      show();
      again();
    });
  };
  again();
  return () => cancel();
}

const LIVE_MS = 1_000;
const PLAIN_MS = 30_000;

/** One line that is updated: in place on a terminal; elsewhere as a new line, if the text has changed. */
export interface StatusLine {
  readonly show: (text: string) => void;
  /** Writes a line that stays, and below it what was shown. */
  readonly tell: (line: string) => void;
  /** Takes it off the screen. */
  readonly clear: () => void;
}

/** A status line at the end of an output. */
export function createStatusLine(output: Output): StatusLine {
  return output.isTerminal ? createLiveLine(output) : createPlainLine(output);
}

const ERASE = '\r\u001b[K';

function createLiveLine({ write, columns }: Output): StatusLine {
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

function createPlainLine({ write }: Output): StatusLine {
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
