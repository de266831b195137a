import { isEmbedded } from '../../stack/embedded-url.ts';
import { type RunSettings, readApiKey } from '../../stack/settings.ts';
import { type SharedAccount, shareAccount } from '../../stack/shared-account.ts';
import { StackError } from '../../stack/stack-error.ts';
import { createServiceNotices, type TellBy, tellOfService } from '../connection/notices.ts';
import type { Context } from '../context.ts';

/** An account, for as long as a run over many stacks takes. */
export interface PooledAccount {
  readonly account: SharedAccount;
  readonly tellBy: TellBy;
}

/** The accounts of a run: one for each base URL and key, whatever the number of stacks. */
export interface AccountPool {
  /** The account that settings lead to. Throws when another stack of it says something else about the way there: they share one client. */
  readonly find: (settings: RunSettings, file: string) => Promise<PooledAccount>;
  /** How many requests reading took, of all accounts. */
  readonly countReads: () => number;
  readonly close: () => Promise<void>;
}

interface Entry extends PooledAccount {
  /** Who opened it, and how. */
  readonly file: string;
  readonly settings: RunSettings;
  readonly end: () => void;
}

/** A pool without accounts. `signal` ends what is being read. */
export function createAccountPool(context: Context, signal: AbortSignal): AccountPool {
  const entries = new Map<string, Promise<Entry>>();
  const accounts: SharedAccount[] = [];
  const open = async (settings: RunSettings, apiKey: string | undefined, file: string): Promise<Entry> => {
    const { tellBy, watch, end, ...notices } = await createServiceNotices(settings, context);
    const parts = {
      settings,
      watch,
      notices,
      given: { apiKey },
      onReached: ({ warning }: { readonly warning: string | undefined }) => tellOfService(settings, warning, context),
    };
    const account = shareAccount(parts, context, signal);
    accounts.push(account);
    return { account, tellBy, end, file, settings };
  };
  return {
    find: async (settings, file) => {
      const apiKey = isEmbedded(settings.baseUrl) ? undefined : readApiKey(context, settings);
      const id = JSON.stringify([settings.baseUrl, apiKey]);
      const opening = entries.get(id) ?? open(settings, apiKey, file);
      entries.set(id, opening);
      const entry = await opening;
      refuseOther(entry, settings, file);
      return entry;
    },
    countReads: () => accounts.reduce((sum, account) => sum + account.countReads(), 0),
    close: async () => {
      for (const { account, end } of await Promise.all(entries.values())) {
        end();
        await account.close();
      }
    },
  };
}

/** Two clients of one account would each keep to the rate limit, and together exceed it. */
function refuseOther(entry: Entry, settings: RunSettings, file: string): void {
  const names = Object.keys(WORDS) as (keyof typeof WORDS)[]; // its keys are those of its type
  const differing = names.find((name) => JSON.stringify(entry.settings[name]) !== JSON.stringify(settings[name]));
  if (differing === undefined) return;
  throw new StackError(`${file} says another ${WORDS[differing]} than ${entry.file}, and both are of one account.`, {
    reason: 'invalid',
    remedy: 'Stacks of one account share one connection in a run. State the same in spec.api of both.',
  });
}

/** Two names of one key are one way. */
const WORDS: Readonly<Record<Exclude<keyof RunSettings, 'keyEnv'>, string>> = {
  baseUrl: 'base URL',
  versionHeader: 'version header',
  pageSize: 'page size',
  concurrency: 'concurrency',
  rateLimit: 'rate limit',
  timeouts: 'timeout',
  caFile: 'file of authorities',
};
