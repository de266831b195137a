import type { ServiceSettings } from '../../stack/settings.ts';
import {
  type Account,
  type AccountInput,
  createAccount,
  createStack,
  type Stack,
  type StackContents,
} from '../../stack/stack.ts';
import { type Context, VERSION } from '../context.ts';
import { CommandError, EXIT } from '../exit-code.ts';
import { createServiceNotices, printConnectionNotices, type SetNoticeWriter } from './notices.ts';

/** An account that is open during one command. */
interface AccountSession {
  readonly account: Account;
  readonly setLineWriter: SetNoticeWriter;
  /** Aborted by the first SIGINT or SIGTERM. Reads then end at once; writes in progress finish. */
  readonly signal: AbortSignal;
}

/** A stack whose account is open during one command. */
interface StackSession extends Omit<AccountSession, 'account'> {
  readonly stack: Stack;
  /** Opens a client that reads the same account. */
  readonly open: Account['open'];
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

/** Like `withAccount`, but passes a stack of the account to the task. */
export async function withStack<T>(
  { settings, ...parts }: Omit<StackContents, 'version' | 'sinks'> & { readonly settings: ServiceSettings },
  context: Context,
  task: (session: StackSession) => Promise<T>,
): Promise<T> {
  return withAccount(settings, context, ({ account, ...session }) => {
    const stack = createStack({ ...parts, version: VERSION }, account, context);
    return task({ stack, open: account.open, ...session });
  });
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
    abort.abort(new CommandError('Interrupted.', { exitCode: EXIT.interrupted, remedy: 'Nothing was written.' }));
  });
  return { signal: abort.signal, stopListening };
}
