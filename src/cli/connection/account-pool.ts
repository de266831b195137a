import { StackError } from '../../model/user-errors.ts';
import { isEmbedded } from '../../settings/base-url.ts';
import type { ServiceSettings } from '../../settings/table.ts';
import { SERVICE_SETTING_NAMES, SETTINGS } from '../../settings/table.ts';
import { createAccountKeyContainingSecret } from '../../stack/account-key.ts';

import { readApiKey } from '../../stack/settings.ts';
import { createSharedAccount, type SharedAccount } from '../../stack/stack.ts';
import type { Context } from '../context.ts';
import { createServiceNotices, printConnectionNotices, type SetNoticeWriter } from './notices.ts';

/** An account that stays open during a run. */
export interface PooledAccount {
  readonly account: SharedAccount;
  readonly setLineWriter: SetNoticeWriter;
}

/** The accounts of a run: one for each base URL and API key, for any number of stacks. */
export interface AccountPool {
  /**
   * Returns the account for connection settings. `file`: the Stack file that sets them, for errors. Throws if another
   * stack of the account has different settings, because both stacks would share one client.
   */
  readonly getAccount: (settings: ServiceSettings, file: string) => Promise<PooledAccount>;
  /** Throws like `getAccount`, but needs no key and opens nothing. */
  readonly checkSettings: (settings: ServiceSettings, file: string) => void;
  /** Returns the number of requests sent by reads so far, over all accounts. */
  readonly countReads: () => number;
  readonly close: () => Promise<void>;
}

interface Entry extends PooledAccount {
  readonly end: () => void;
}

/** The settings of an account, and the first Stack file that sets them. */
interface AccountSettings {
  readonly settings: ServiceSettings;
  readonly file: string;
}

/** Creates the accounts of a run. */
export function createAccountPool(context: Context): AccountPool {
  const entries = new Map<string, Promise<Entry>>();
  const checked = new Map<string, AccountSettings>();
  const accounts: SharedAccount[] = [];
  const open = async (settings: ServiceSettings, apiKey: string | undefined): Promise<Entry> => {
    const { setLineWriter, watch, end, ...notices } = createServiceNotices(settings, context);
    const parts = {
      settings,
      watch,
      notices,
      given: { apiKey },
      onConnected: ({ warning }: { readonly warning: string | undefined }) =>
        printConnectionNotices(settings, warning, context),
    };
    const account = createSharedAccount(parts, context);
    accounts.push(account);
    return { account, setLineWriter, end };
  };
  const checkSettings = (settings: ServiceSettings, file: string): string => {
    const id = createAccountKeyContainingSecret(settings, context);
    const first = checked.get(id) ?? { settings, file };
    checked.set(id, first);
    refuseOtherSettings(first, { settings, file });
    return id;
  };
  return {
    getAccount: async (settings, file) => {
      const apiKey = isEmbedded(settings.baseUrl) ? undefined : readApiKey(context, settings);
      const id = checkSettings(settings, file);
      const opening = entries.get(id) ?? open(settings, apiKey);
      entries.set(id, opening);
      return opening;
    },
    checkSettings: (settings, file) => void checkSettings(settings, file),
    countReads: () => accounts.reduce((sum, account) => sum + account.countReads(), 0),
    close: async () => {
      for (const { account, end } of await Promise.all(entries.values())) {
        end();
        await account.close();
      }
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
