import { parseTimeoutMs, type RunSettings, type SettingOverrides } from '../../stack/settings.ts';
import {
  type Account,
  type AccountParts,
  createAccount,
  createStack,
  type Stack,
  type StackParts,
} from '../../stack/stack.ts';
import { type Context, VERSION } from '../context.ts';
import { CommandError, EXIT } from '../exit-code.ts';
import { announceService, createServiceNotices, type SetLineWriter } from './notices.ts';

/** An account for the length of one command. */
interface AccountSession {
  readonly account: Account;
  readonly setLineWriter: SetLineWriter;
  /** Aborted by the first request to stop. Reading ends at once; writes that are under way finish. */
  readonly signal: AbortSignal;
}

/** A stack for the length of one command. */
interface StackSession extends Omit<AccountSession, 'account'> {
  readonly stack: Stack;
  /** What reads, of the same account. */
  readonly open: Account['open'];
}

/** Opens an account, runs the task, and closes the account however the task ends. */
export async function withAccount<T>(
  settings: RunSettings,
  context: Context,
  task: (session: AccountSession) => Promise<T>,
): Promise<T> {
  const { signal, stopListening } = listenForInterrupts(context);
  const { setLineWriter, watch, end, ...notices } = await createServiceNotices(settings, context);
  const onReached: AccountParts['onReached'] = ({ warning }) => announceService(settings, warning, context);
  const account = createAccount({ settings, watch, notices, onReached }, context);
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

/** Does the same with a stack. */
export async function withStack<T>(
  { settings, ...parts }: Omit<StackParts, 'version' | 'sinks'> & { readonly settings: RunSettings },
  context: Context,
  task: (session: StackSession) => Promise<T>,
): Promise<T> {
  return withAccount(settings, context, ({ account, ...session }) => {
    const stack = createStack({ ...parts, version: VERSION }, account, context);
    return task({ stack, open: account.open, ...session });
  });
}

/** Flags that say how to reach the service, in the words of the command line. */
export interface ConnectionFlags {
  readonly baseUrl?: string;
  readonly versionHeader?: string;
  readonly rateLimit?: string;
  readonly timeout?: string;
  readonly caFile?: string;
  readonly keyEnv?: string;
}

/** The settings that flags give. An empty word gives none. */
export function parseConnectionFlags(flags: ConnectionFlags): SettingOverrides {
  const { baseUrl, versionHeader, rateLimit, caFile, keyEnv } = flags;
  return {
    baseUrl,
    versionHeader,
    rateLimit,
    timeouts: { requestMs: parseTimeoutMs('request', flags.timeout) },
    caFile,
    keyEnv,
  };
}

/** Requests to stop, for the length of one command. */
interface Interrupts {
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
