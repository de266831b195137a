import type { Context } from '../context.ts';
import { CommandError, EXIT } from '../exit-code.ts';

/** Requests to stop, for the length of one command. */
export interface Interrupts {
  /** Aborted by the first request. Throwing its reason ends a command that has not written anything. */
  readonly signal: AbortSignal;
  readonly stopListening: () => void;
}

/** Listens for requests to stop. The second one ends the process, whatever is under way. */
export function listenForInterrupts(context: Pick<Context, 'onInterrupt' | 'exitNow'>): Interrupts {
  const abort = new AbortController();
  const stopListening = context.onInterrupt(() => {
    if (abort.signal.aborted) context.exitNow(EXIT.interrupted);
    abort.abort(new CommandError('Interrupted.', { exitCode: EXIT.interrupted, remedy: 'Nothing was written.' }));
  });
  return { signal: abort.signal, stopListening };
}
