import { StackError } from '../../model/user-errors.ts';
import { isEmbedded } from '../../settings/base-url.ts';
import type { ServiceSettings } from '../../settings/table.ts';
import { SERVICE_SETTING_NAMES, SETTINGS } from '../../settings/table.ts';
import { type Account, createAccount } from '../../stack/account.ts';
import { createAccountKeyContainingSecret } from '../../stack/account-key.ts';
import { readApiKey } from '../../stack/settings.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../exit-code.ts';
import { createServiceNotices, printConnectionNotices, type SetNoticeWriter } from './notices.ts';

/** The accounts of a command: one for each base URL and API key, for any number of stacks. */
export interface Accounts {
  /**
   * Returns the account for connection settings. `file`: the Stack file that sets them, for errors. Throws if another
   * stack of the account has different settings, because both stacks would share one client.
   */
  readonly get: (settings: ServiceSettings, file?: string) => Account;
  /** Throws like `get`, but needs no key and opens nothing. */
  readonly checkSettings: (settings: ServiceSettings, file: string) => void;
  /** The number of requests that reads have taken so far, over all accounts. */
  readonly countReads: () => number;
  /** Redirects the notices of all accounts. */
  readonly setLineWriter: SetNoticeWriter;
}

interface AccountsInUse {
  readonly accounts: Accounts;
  /** Aborted by the first SIGINT or SIGTERM. Reads then end at once; writes in progress finish. */
  readonly signal: AbortSignal;
}

/** Runs a task that uses accounts, and closes all of them even if the task fails. */
export async function withAccounts<T>(context: Context, task: (use: AccountsInUse) => Promise<T>): Promise<T> {
  const { signal, stopListening } = listenForInterrupts(context);
  const opened = new Map<string, OpenedAccount>();
  try {
    return await task({ accounts: createAccounts(opened, context), signal });
  } finally {
    try {
      for (const { account, notices } of opened.values()) {
        notices.end();
        await account.close();
      }
    } finally {
      stopListening();
    }
  }
}

interface OpenedAccount {
  readonly account: Account;
  readonly notices: ReturnType<typeof createServiceNotices>;
}

/** The settings of an account, and the first Stack file that sets them. */
interface AccountSettings {
  readonly settings: ServiceSettings;
  readonly file: string;
}

function createAccounts(opened: Map<string, OpenedAccount>, context: Context): Accounts {
  const checked = new Map<string, AccountSettings>();
  const open = (settings: ServiceSettings, apiKey: string | undefined): OpenedAccount => {
    const notices = createServiceNotices(settings, context);
    const onConnected = ({ warning }: { readonly warning: string | undefined }) =>
      printConnectionNotices(settings, warning, context);
    const account = createAccount({ settings, isShared: true, notices, given: { apiKey }, onConnected }, context);
    return { account, notices };
  };
  const checkSettings = (settings: ServiceSettings, file: string): string => {
    const id = createAccountKeyContainingSecret(settings, context);
    const first = checked.get(id) ?? { settings, file };
    checked.set(id, first);
    refuseOtherSettings(first, { settings, file });
    return id;
  };
  return {
    get: (settings, file = '') => {
      const apiKey = isEmbedded(settings.baseUrl) ? undefined : readApiKey(context, settings);
      const id = checkSettings(settings, file);
      const found = opened.get(id) ?? open(settings, apiKey);
      opened.set(id, found);
      return found.account;
    },
    checkSettings: (settings, file) => void checkSettings(settings, file),
    countReads: () => opened.values().reduce((sum, { account }) => sum + account.countReads(), 0),
    setLineWriter: (...writers) => {
      for (const { notices } of opened.values()) notices.setLineWriter(...writers);
    },
  };
}

/**
 * Throws if the settings differ from those of another stack of the account. With two clients, each would keep the rate limit
 * of the account, and both together would exceed it.
 */
function refuseOtherSettings(first: AccountSettings, { settings, file }: AccountSettings): void {
  const differing = SHARED_SETTINGS.find((name) => first.settings[name] !== settings[name]);
  if (differing === undefined) return;
  throw new StackError(
    `${file} sets another spec.${SETTINGS[differing].stack} than ${first.file}, but both stacks use the same account.`,
    {
      reason: 'invalid',
      remedy: 'Set the same value in both. Stacks of one account share one connection in a run.',
    },
  );
}

/**
 * Settings that must be equal for all stacks of an account. `keyEnv` and `baseUrl` may differ: two variables can contain
 * the same key, and one data file of the embedded server has several names.
 */
const SHARED_SETTINGS = SERVICE_SETTING_NAMES.filter((name) => name !== 'keyEnv' && name !== 'baseUrl');

/** Handles SIGINT and SIGTERM during one command. */
interface Interrupts {
  /** Aborted by the first signal. The reason is an error which says that nothing was written. */
  readonly signal: AbortSignal;
  readonly stopListening: () => void;
}

/** Listens for SIGINT and SIGTERM. The second signal ends the process at once. */
function listenForInterrupts(context: Pick<Context, 'onInterrupt' | 'exitNow'>): Interrupts {
  const abort = new AbortController();
  const stopListening = context.onInterrupt(() => {
    if (abort.signal.aborted) context.exitNow(EXIT.interrupted);
    abort.abort(new StackError('Interrupted.', { reason: 'interrupted', remedy: 'Nothing was written.' }));
  });
  return { signal: abort.signal, stopListening };
}
