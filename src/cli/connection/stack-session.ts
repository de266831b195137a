import { type Account, type AccountParts, createAccount } from '../../stack/account.ts';
import type { RunSettings } from '../../stack/settings.ts';
import { createStack, type Stack, type StackParts } from '../../stack/stack.ts';
import type { Context } from '../context.ts';
import { VERSION } from '../version.ts';
import { listenForInterrupts } from './interrupts.ts';
import { createServiceNotices, type TellBy, tellOfService } from './notices.ts';

/** An account for the length of one command. */
export interface AccountSession {
  readonly account: Account;
  readonly tellBy: TellBy;
  /** Aborted by the first request to stop. Reading ends at once; writes that are under way finish. */
  readonly signal: AbortSignal;
}

/** A stack for the length of one command. */
export interface StackSession extends Omit<AccountSession, 'account'> {
  readonly stack: Stack;
}

/** Opens an account, runs the task, and closes the account however the task ends. */
export async function withAccount<T>(
  settings: RunSettings,
  context: Context,
  task: (session: AccountSession) => Promise<T>,
): Promise<T> {
  const { signal, stopListening } = listenForInterrupts(context);
  const { tellBy, watch, end, ...notices } = await createServiceNotices(settings, context);
  const onReached: AccountParts['onReached'] = ({ warning }) => tellOfService(settings, warning, context);
  const account = createAccount({ settings, watch, notices, onReached }, context);
  try {
    return await task({ account, tellBy, signal });
  } finally {
    try {
      end();
      await account.close();
    } finally {
      stopListening();
    }
  }
}

/** Does the same with a stack. */
export async function withStack<T>(
  { settings, ...parts }: Omit<StackParts, 'version' | 'sinks'> & { readonly settings: RunSettings },
  context: Context,
  task: (session: StackSession) => Promise<T>,
): Promise<T> {
  return withAccount(settings, context, ({ account, ...session }) => {
    const stack = createStack({ ...parts, version: VERSION }, account, context);
    return task({ stack, ...session });
  });
}
