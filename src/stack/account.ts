import { readFiles } from '../apply/certificate-file.ts';
import type { Client, ClientOptions } from '../client/client.ts';
import { readLive } from '../client/read-live.ts';
import type { Exported } from '../export/export-live.ts';
import type { Drift } from '../model/drift.ts';
import { InvariantError } from '../model/errors.ts';
import type { ApplyResult } from '../model/outcome.ts';
import type { Plan } from '../model/plan.ts';
import { doBefore, type Transport } from '../model/transport.ts';
import { toAgainstRequest, toDriftAgainst } from '../plan/saved/drift-against.ts';
import { checkSaved, type SavedPlan } from './check-saved.ts';
import { type ExportRequest, exportResources } from './export-resources.ts';
import type { Reader } from './plan-live.ts';
import { createServiceClient, type Given, type Reached, reachService } from './reach-service.ts';
import { type RunOptions, type RunPlan, runPlan } from './run-plan.ts';
import type { RunSettings } from './settings.ts';
import type { Surroundings } from './surroundings.ts';

/**
 * An account of the service, and everything that needs no manifests. Whatever is done with it, for one stack or for several, is done by one client, so
 * that all of it keeps to one rate limit.
 */
export interface Account {
  readonly settings: RunSettings;
  /** What reads. It has no function that writes. */
  readonly open: () => Promise<Reader>;
  /** Only while the task runs, anything but a GET can be sent. */
  readonly write: <T>(task: (client: Client) => Promise<T>) => Promise<T>;
  /** Applies a plan that somebody made earlier, when nothing that it touches has moved since. */
  readonly apply: (saved: ApprovedPlan, options: RunOptions) => Promise<ApplyResult>;
  /** Compares what is live with what a plan would have left. Sends GETs only. */
  readonly drift: (against: AgainstPlan) => Promise<Drift>;
  /** What is live, as manifests that adopt it. Sends GETs only. */
  readonly export: (request: Omit<ExportRequest, 'settings'>) => Promise<Exported>;
  /** Closes connections, and keeps what the embedded server holds. */
  readonly close: () => Promise<void>;
}

/** A plan that was made earlier, with what it may do and where its tokens go. */
export type ApprovedPlan = Omit<SavedPlan, 'signal' | 'cwd'> & Pick<RunPlan, 'tokens' | 'sinks'>;

/** The plan that is compared with what is live. */
export interface AgainstPlan {
  readonly plan: Plan;
  /** What it is called in the result: its file. */
  readonly name: string;
  readonly signal?: AbortSignal | undefined;
}

/** What an account is made of. */
export interface AccountParts {
  readonly settings: RunSettings;
  readonly given?: Given;
  /** Told of the way to the service before anything is sent. */
  readonly onReached?: (reached: Reached) => void;
  /** What the client tells of. */
  readonly notices?: Pick<ClientOptions, 'onRetry' | 'onWait' | 'onRequest'>;
  /** Looks at what is read while it is read. */
  readonly watch?: (client: Client) => Client;
}

/** An account. The way to the service is opened when it is first needed. */
export function createAccount(parts: AccountParts, surroundings: Surroundings): Account {
  const { settings } = parts;
  const link = createLink(parts, surroundings);
  const { cwd } = surroundings;
  return {
    settings,
    ...link,
    apply: createSavedApply(link, surroundings),
    drift: async ({ plan, name, signal }) => {
      const request = toAgainstRequest(plan);
      const live = await readLive(await link.open(), { ...request, ...(signal !== undefined && { signal }) });
      const paths = plan.files.map(({ path }) => path);
      const present = await readFiles(paths, cwd);
      return toDriftAgainst(plan, { live, present, now: surroundings.now(), file: name });
    },
    export: async (request) => exportResources(await link.open(), { ...request, settings }),
  };
}

/** Applies saved plans by a link: what is live is read, then written to. */
export function createSavedApply(
  { open, write }: Pick<Link, 'open' | 'write'>,
  surroundings: Surroundings,
): Account['apply'] {
  return async ({ tokens, sinks, ...saved }, options) => {
    const check = await checkSaved(await open(), { ...saved, signal: options.signal, cwd: surroundings.cwd });
    return write((client) => runPlan(client, { plan: saved.plan, tokens, sinks, ...check }, options, surroundings));
  };
}

type Link = Pick<Account, 'open' | 'write' | 'close'>;

function createLink(
  { settings, given, notices = {}, watch, onReached }: AccountParts,
  surroundings: Surroundings,
): Link {
  let opened: Promise<{ readonly client: Client; readonly close: () => Promise<void> }> | undefined;
  let writing = 0;
  const guard = (transport: Transport): Transport =>
    doBefore(transport, ({ method }) => {
      if (method !== 'GET' && writing === 0) throw new InvariantError(`What only reads was about to send a ${method}`);
    });
  const connect = async () => {
    const reached = await reachService(settings, surroundings, given);
    onReached?.(reached);
    const { now, sleep } = surroundings;
    const more = { now: () => now().getTime(), sleep, ...notices };
    const client = createServiceClient(settings, { ...reached, transport: guard(reached.transport) }, more);
    return { client: watch?.(client) ?? client, close: reached.close };
  };
  const openClient = async (): Promise<Client> => {
    opened ??= connect();
    return (await opened).client;
  };
  return {
    open: async () => {
      const { send: _, ...reader } = await openClient();
      return reader;
    },
    write: async (task) => {
      const client = await openClient();
      writing += 1;
      try {
        return await task(client);
      } finally {
        writing -= 1;
      }
    },
    close: async () => {
      const last = opened;
      opened = undefined;
      await (await last?.catch(() => undefined))?.close();
    },
  };
}
