import { toClipped } from '../../report/view/columns.ts';
import type { Output } from '../context.ts';

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
    if (shown !== '') write(`${ERASE}${toClipped(shown, Math.max(0, columns() - 1))}`);
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
