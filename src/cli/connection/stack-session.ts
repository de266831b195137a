import { StackError } from '../../model/user-errors.ts';
import type { ServiceSettings } from '../../settings/table.ts';
import { type Account, type AccountInput, createAccount } from '../../stack/stack.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../exit-code.ts';
import { createServiceNotices, printConnectionNotices, type SetNoticeWriter } from './notices.ts';

/** An account that is open during one command. */
interface AccountSession {
  readonly account: Account;
  readonly setLineWriter: SetNoticeWriter;
  /** Aborted by the first SIGINT or SIGTERM. Reads then end at once; writes in progress finish. */
  readonly signal: AbortSignal;
}

/** Opens an account, runs the task, and closes the account even if the task fails. */
export async function withAccount<T>(
  settings: ServiceSettings,
  context: Context,
  task: (session: AccountSession) => Promise<T>,
): Promise<T> {
  const { signal, stopListening } = listenForInterrupts(context);
  const { setLineWriter, watch, end, ...notices } = createServiceNotices(settings, context);
  const onConnected: AccountInput['onConnected'] = ({ warning }) => printConnectionNotices(settings, warning, context);
  const account = createAccount({ settings, watch, notices, onConnected }, context);
  try {
    return await task({ account, setLineWriter, signal });
  } finally {
    try {
      end();
      await account.close();
    } finally {
      stopListening();
    }
  }
}

/** Handles SIGINT and SIGTERM during one command. */
interface Interrupts {
  /** Aborted by the first signal. The reason is an error which says that nothing was written. */
  readonly signal: AbortSignal;
  readonly stopListening: () => void;
}

/** Listens for SIGINT and SIGTERM. The second signal ends the process at once. */
export function listenForInterrupts(context: Pick<Context, 'onInterrupt' | 'exitNow'>): Interrupts {
  const abort = new AbortController();
  const stopListening = context.onInterrupt(() => {
    if (abort.signal.aborted) context.exitNow(EXIT.interrupted);
    abort.abort(new StackError('Interrupted.', { reason: 'interrupted', remedy: 'Nothing was written.' }));
  });
  return { signal: abort.signal, stopListening };
}
