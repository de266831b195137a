import { AsyncLocalStorage } from 'node:async_hooks';
import { coalesceLists } from '../apply/duplicates.ts';
import type { TokenSinks } from '../apply/token-sinks.ts';
import { readFiles } from '../apply/write-files.ts';
import type { Client, ClientOptions } from '../client/client.ts';
import { readLive } from '../client/read-live.ts';
import type { RequestNotice } from '../client/request-notice.ts';
import type { ExportResult } from '../export/export-live.ts';
import { findRoots } from '../files/boundary.ts';
import type { Kind } from '../kinds/kind.ts';
import { createPlanDocument } from '../kinds/request-body.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Drift, Inventory } from '../model/drift.ts';
import { InvariantError } from '../model/errors.ts';
import type { Send } from '../model/http.ts';
import type { JsonObject } from '../model/json.ts';
import type { ApplyResult } from '../model/outcome.ts';
import { readPipeline } from '../model/pipeline.ts';
import type { Plan } from '../model/plan.ts';
import type { TokenSettings } from '../model/stack.ts';
import type { DesiredState } from '../model/state.ts';
import { computeDrift } from '../plan/compute-drift.ts';
import { computeDriftAgainst, createDriftReadRequest } from '../plan/saved/drift-against.ts';
import { createInventory, createInventoryRequest } from '../plan/to-inventory.ts';
import type { Policy } from '../policy/evaluate.ts';
import {
  type AttachableResource,
  type ExportRequest,
  exportResources,
  listIdShapes,
  parseAttached,
} from './export-resources.ts';
import { type Host, InvalidManifests, StackError } from './host.ts';
import { isInvalid, type PlanOptions, planAndRehearse, planLive, type Reader } from './plan-live.ts';
import {
  type ConnectionOverrides,
  connectToService,
  createServiceClient,
  type ServiceConnection,
} from './reach-service.ts';
import { EMPTY_APPLY_RESULT, FRESH_PLAN_CHECK, type RunOptions, type RunPlan, runPlan } from './run-plan.ts';
import {
  checkSaved,
  refuseOtherVersion,
  refuseUnapproved,
  refuseUnfit,
  refuseViolations,
  replan,
  type SavedFile,
  type SavedPlan,
  verifyShown,
} from './saved-plan.ts';
import type { RunSettings } from './settings.ts';
import { refuseUntrusted } from './trust.ts';

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
  /** Applies an earlier plan unless it is stale. */
  readonly apply: (saved: ApprovedPlan, options: RunOptions) => Promise<ApplyResult>;
  /** Compares the live state with the state after a plan. Sends GETs only. */
  readonly drift: (against: AgainstPlan) => Promise<Drift>;
  /** Exports live resources as manifests that adopt them. Sends GETs only. */
  readonly export: (request: Omit<ExportRequest, 'settings'>) => Promise<ExportResult>;
  /** Closes connections, and keeps what the embedded server holds. */
  readonly close: () => Promise<void>;
}

/** A plan that was made earlier, with what it may do and where its tokens go. */
export type ApprovedPlan = Omit<SavedPlan, 'signal' | 'cwd' | 'roots'> & Pick<RunPlan, 'tokens'>;

/** The plan that is compared with the live state. */
interface AgainstPlan {
  readonly plan: Plan;
  /** What it is called in the result: its file. */
  readonly name: string;
  /** Folders below which the files lie that the plan writes. Default: the repository that the working folder is in. */
  readonly roots?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What an account is made of. */
export interface AccountParts {
  readonly settings: RunSettings;
  readonly given?: ConnectionOverrides;
  /** Told of the way to the service before anything is sent. */
  readonly onReached?: (reached: ServiceConnection) => void;
  /** What the client tells of. */
  readonly notices?: Pick<ClientOptions, 'onRetry' | 'onWait' | 'onRequest'>;
  /** Wraps the client, to observe what is read. */
  readonly watch?: (client: Client) => Client;
}

/** An account. The way to the service is opened when it is first needed. */
export function createAccount(parts: AccountParts, host: Host): Account {
  const { settings } = parts;
  const link = createLink(parts, host);
  const { cwd } = host;
  return {
    settings,
    ...link,
    apply: createSavedApply(link, host),
    drift: async ({ plan, name, roots = findRoots([], host), signal }) => {
      const request = createDriftReadRequest(plan);
      const live = await readLive(await link.open(), { ...request, ...(signal !== undefined && { signal }) });
      const paths = plan.files.map(({ path }) => path);
      const present = await readFiles(paths, { cwd, roots });
      return computeDriftAgainst(plan, { live, present, now: host.now(), file: name });
    },
    export: async (request) => exportResources(await link.open(), { ...request, settings }),
  };
}

/** Creates the function that applies saved plans: it reads the live state, then writes. */
function createSavedApply({ open, write }: Pick<Link, 'open' | 'write'>, host: Host): Account['apply'] {
  return async ({ tokens, ...saved }, options) => {
    refuseUntrusted(host);
    const { cwd } = host;
    const roots = findRoots([], host);
    const check = await checkSaved(await open(), { ...saved, roots, signal: options.signal, cwd });
    const run = { plan: saved.plan, roots, tokens, ...check };
    return write((client) => runPlan(client, run, options, host));
  };
}

type Link = Pick<Account, 'open' | 'write' | 'close'>;

interface Opened extends Required<Pick<ServiceConnection, 'prepareWrites' | 'close'>> {
  readonly client: Client;
}

function createLink({ settings, given, notices = {}, watch, onReached }: AccountParts, host: Host): Link {
  let opened: Promise<Opened> | undefined;
  let writing = 0;
  const guard =
    (send: Send): Send =>
    async (request) => {
      if (request.method === 'GET' || writing > 0) return send(request);
      throw new InvariantError(`What only reads was about to send a ${request.method}`);
    };
  const connect = async () => {
    const reached = await connectToService(settings, host, given);
    onReached?.(reached);
    const { now, sleep, secrets } = host;
    const more = { now: () => now().getTime(), sleep, secrets, ...notices };
    const client = createServiceClient(settings, { ...reached, send: guard(reached.send) }, more);
    const { prepareWrites = async () => undefined, close } = reached;
    return { client: watch?.(client) ?? client, prepareWrites, close };
  };
  const openOnce = (): Promise<Opened> => {
    opened ??= connect();
    return opened;
  };
  return {
    open: async () => {
      const { send: _, ...reader } = (await openOnce()).client;
      return reader;
    },
    write: async (task) => {
      const { client, prepareWrites } = await openOnce();
      await prepareWrites();
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

/** An account that several stacks use in one run: one client, one rate limit, and each list is read once. */
export interface SharedAccount {
  /** The account as one stack sees it: each counts the requests that it would have taken alone. */
  readonly toView: (settings: RunSettings) => Account;
  /** As that of an account. What it reads is read anew. */
  readonly write: Account['write'];
  /** How many requests reading took. */
  readonly countReads: () => number;
  /** Called after a write: the next read sends requests again. */
  readonly forget: () => void;
  readonly close: () => Promise<void>;
}

/** What was read once, and how many requests that took. */
interface ReadOnce<T> {
  readonly value: T;
  readonly requests: number;
}

/** The reads of an account by what was read: a kind's list, or a module by its path. */
interface Readings {
  readonly lists: Map<string, Promise<ReadOnce<readonly JsonObject[]>>>;
  readonly modules: Map<string, Promise<ReadOnce<JsonObject | null>>>;
}

function createReadings(): Readings {
  return { lists: new Map(), modules: new Map() };
}

/** An account for several stacks. `signal` ends every read of it. */
export function shareAccount(parts: AccountParts, host: Host, signal: AbortSignal): SharedAccount {
  const { notices, countSent, countReads } = createCounter(parts);
  const account = createAccount({ ...parts, notices }, host);
  let readings = createReadings();
  const write = shareLooks(account.write);
  return {
    toView: (settings) => {
      const open = async (): Promise<Reader> => toOwnReader(await account.open(), { readings, countSent, signal });
      return { ...account, settings, open, write, apply: createSavedApply({ open, write }, host) };
    },
    write,
    countReads,
    forget: () => {
      readings = createReadings();
    },
    close: account.close,
  };
}

/** Plans that are applied side by side share list requests that they send at the same time. */
function shareLooks(write: Account['write']): Account['write'] {
  const shared = new WeakMap<Client, Client>();
  const toShared = (client: Client): Client => {
    const known = shared.get(client) ?? { ...client, list: coalesceLists(client.list) };
    shared.set(client, known);
    return known;
  };
  return (task) => write((client) => task(toShared(client)));
}

/** Runs a read, and counts the requests that are sent for it and for nothing else. */
type CountSent = <T>(read: () => Promise<T>) => Promise<ReadOnce<T>>;

/** Reads run side by side: which of them a request is sent for is known by the call that it is a part of. */
function createCounter({ notices = {} }: AccountParts): {
  readonly notices: NonNullable<AccountParts['notices']>;
  readonly countSent: CountSent;
  readonly countReads: () => number;
} {
  let all = 0;
  const current = new AsyncLocalStorage<{ sent: number }>();
  const onRequest = (notice: RequestNotice): void => {
    const count = current.getStore();
    if (count !== undefined && notice.event === 'sent') {
      count.sent += 1;
      all += 1;
    }
    notices.onRequest?.(notice);
  };
  return {
    notices: { ...notices, onRequest },
    countReads: () => all,
    countSent: async (read) => {
      const count = { sent: 0 };
      const value = await current.run(count, read);
      return { value, requests: count.sent };
    },
  };
}

interface Sharing {
  readonly readings: Readings;
  readonly countSent: CountSent;
  readonly signal: AbortSignal;
}

/** A reader that takes part in what others read, and counts as if it had read alone. */
function toOwnReader(client: Reader, { readings, countSent, signal }: Sharing): Reader {
  let requests = 0;
  const take = async <T>(reading: Promise<ReadOnce<T>>): Promise<T> => {
    const { value, requests: taken } = await reading;
    requests += taken;
    return value;
  };
  const own = () => toStop(signal);
  return {
    ...client,
    list: (kind: Kind) => take(readOnce(readings.lists, kind.name, () => countSent(() => client.list(kind, own())))),
    readModule: (path) => take(readOnce(readings.modules, path, () => countSent(() => client.readModule(path, own())))),
    requestCount: () => requests,
  };
}

function readOnce<T>(known: Map<string, Promise<T>>, name: string, read: () => Promise<T>): Promise<T> {
  const found = known.get(name) ?? read();
  known.set(name, found);
  return found;
}

/** One that fails ends no other: each stack fails for what it needs itself. */
function toStop(signal: AbortSignal): AbortController {
  const stop = new AbortController();
  if (signal.aborted) stop.abort(signal.reason);
  else signal.addEventListener('abort', () => stop.abort(signal.reason), { once: true });
  return stop;
}

/** The manifests of one stack and the service that they are for: the whole way from there to a plan, and back. */
export interface Stack extends AsyncDisposable {
  /** What the manifests ask for, with the settings of their `Stack` document. */
  readonly desired: DesiredState;
  /** Warnings on the manifests. */
  readonly diagnostics: readonly Diagnostic[];
  /** How the service is reached: from the options, else the environment, else the `Stack`, else the default. */
  readonly settings: RunSettings;
  /** Reads the live state and computes the changes that the manifests ask for. Sends GETs only. */
  readonly plan: (options?: PlanOptions) => Promise<Plan>;
  /**
   * Plans again and compares the result with an earlier plan; resolves with the new plan when both are the same, except for finished writes. The options are
   * those of the earlier plan. Rejects with `StackError` when a touched resource has changed since, or the manifests ask for something else.
   */
  readonly replan: (saved: Plan, options?: PlanOptions, name?: string) => Promise<Plan>;
  /**
   * Does what a plan says. One that this stack made is applied as it is, once; any other is planned again first (`replan`), and that plan is applied.
   * What failed is in the result. Rejects before the first write: with `InvalidManifests` for a plan with errors,
   * with `StackError` for a safety rule, a stale plan, one that the manifests do not give, or a place for tokens that does not work; with `NotApproved`, which has
   * the comparison, when it does what the approved plan does not.
   */
  readonly apply: (plan: Plan, options?: ApplyOptions) => Promise<ApplyResult>;
  /** Compares the live state with the manifests, or with the state after a plan. Sends GETs only. */
  readonly drift: (options?: DriftOptions) => Promise<Drift>;
  /** What the stack owns, live, with what the service computed; never a token. Sends GETs only. */
  readonly get: (options?: GetOptions) => Promise<Inventory>;
  /** Exports live resources without another owner as manifests that adopt them into this stack. Sends GETs only. */
  readonly export: (options?: ExportStackOptions) => Promise<ExportResult>;
  /** Closes connections, and keeps what the embedded server holds. */
  readonly close: () => Promise<void>;
}

/** Consents and callbacks of an apply. */
export interface ApplyOptions
  extends RunOptions,
    Pick<PlanOptions, 'targets' | 'rotate' | 'takeOver' | 'revertDrift' | 'delete' | 'rehearsal' | 'skipRejected'> {
  /** Consent to more deletes than the guard allows. Default: none. */
  readonly allowDeletes?: boolean;
  /** Protected addresses that may be deleted, replaced or released. */
  readonly allowProtected?: readonly string[];
  /** Addresses whose writes are sent although the rehearsal foretells that the service rejects them. */
  readonly allowRejected?: readonly string[];
  /** A plan that was approved: nothing is written unless it shows all that this plan does. */
  readonly approved?: Plan;
}

/** A query of the resources that the stack owns. */
export interface GetOptions {
  /** Addresses, and names of kinds. Default: everything. */
  readonly names?: readonly string[];
  /** Kinds for which it gives false are not read. */
  readonly isOfUse?: (kind: Kind) => boolean;
  readonly signal?: AbortSignal;
}

/** Options of a comparison with the live state. */
export interface DriftOptions extends Pick<PlanOptions, 'targets' | 'signal' | 'findTaker' | 'findPlanned'> {
  /** Told of the plan that would revert it. */
  readonly onPlanned?: (plan: Plan) => void;
  /** A plan of this stack instead of the manifests: all of it, whatever the targets. */
  readonly against?: Plan;
}

/** Options of an export. */
export interface ExportStackOptions {
  /** Names of kinds. Default: every kind that can be listed. */
  readonly kinds?: readonly string[];
  /** Ids of what exists and has modules of its own, each with those of its parents, such as `edghts_…/edghtsrt_…`. */
  readonly modulesOf?: readonly string[];
  readonly signal?: AbortSignal;
}

/** What a stack is made of, when its manifests have been read. */
export interface StackParts {
  readonly state: DesiredState;
  readonly diagnostics: readonly Diagnostic[];
  /** Rules of one's own that plans are checked with. */
  readonly policies?: readonly Policy[] | undefined;
  readonly tokens: TokenSettings;
  readonly version: string;
  readonly sinks?: TokenSinks | undefined;
}

/** A stack of an account, which several stacks may share. To close the stack is to close the account. */
export function createStack(parts: StackParts, account: Account, host: Host): Stack {
  const { state, diagnostics } = parts;
  const { settings, close } = account;
  const made = new WeakSet<Plan>();
  const remember = (plan: Plan): Plan => {
    made.add(plan);
    return plan;
  };
  const toRequest = (options: PlanOptions) => ({
    ...parts,
    ...options,
    settings,
    now: host.now(),
    commit: readPipeline(host.env).commit,
    cwd: host.cwd,
    rehearse: host.rehearse,
    openNeighbours: async () => (await host.openNeighbours?.(state, host)) ?? (() => undefined),
  });
  const again: Stack['replan'] = async (saved, options = {}, name = NAME) => {
    refuseForeign({ plan: saved, name }, parts, account);
    return remember(await replan(await account.open(), { plan: saved, name }, toRequest(options)));
  };
  return {
    desired: state,
    diagnostics,
    settings,
    plan: async (options = {}) => {
      return remember(await planAndRehearse(await account.open(), toRequest(options)));
    },
    replan: again,
    apply: async (given, options = {}) => {
      refuseUntrusted(host);
      const plan = made.has(given) ? given : await again(given, toPlanOptions(options));
      made.delete(plan);
      return applyTo({ parts, host, account }, plan, options);
    },
    drift: async ({ against, onPlanned, ...options } = {}) => {
      if (against !== undefined) {
        refuseOtherStack(against, parts, account);
        return account.drift({ plan: against, name: NAME, roots: state.roots, signal: options.signal });
      }
      const request = toRequest(options);
      const { plan, input } = await planLive(await account.open(), request);
      onPlanned?.(plan);
      return computeDrift(plan, input);
    },
    get: async ({ names = [], isOfUse, signal } = {}) => {
      const request = createInventoryRequest(state, { names, ...(isOfUse !== undefined && { isOfUse }) });
      const live = await readLive(await account.open(), { ...request, ...(signal !== undefined && { signal }) });
      return createInventory(state, live, { names, baseUrl: settings.baseUrl });
    },
    export: async ({ kinds = [], modulesOf = [], signal } = {}) =>
      account.export({ kinds, attached: modulesOf.map(toAttached), stack: state.stack.name, signal }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Of the options of an apply, those of the plan that is made again. */
function toPlanOptions({
  targets,
  rotate,
  takeOver,
  revertDrift,
  skipRejected,
  rehearsal,
  signal,
  ...rest
}: ApplyOptions): PlanOptions {
  return {
    ...(targets !== undefined && { targets }),
    ...(rotate !== undefined && { rotate }),
    ...(takeOver !== undefined && { takeOver }),
    ...(revertDrift !== undefined && { revertDrift }),
    ...(skipRejected !== undefined && { skipRejected }),
    ...(rest.delete !== undefined && { delete: rest.delete }),
    ...(rehearsal !== undefined && { rehearsal }),
    ...(signal !== undefined && { signal }),
  };
}

interface Run {
  readonly parts: StackParts;
  readonly host: Host;
  readonly account: Account;
}

/** Applies a plan that was just made, and of which nothing was done. */
async function applyTo({ parts, host, account }: Run, plan: Plan, options: ApplyOptions): Promise<ApplyResult> {
  const { tokens, sinks, state } = parts;
  if (isInvalid(plan)) throw new InvalidManifests(plan.diagnostics);
  const { allowDeletes = false, allowProtected = [], allowRejected = [] } = options;
  refuseViolations(plan.violations, { deletes: allowDeletes, protected: allowProtected, rejected: allowRejected });
  if (options.approved !== undefined) checkApproval(plan, options.approved, { parts, cwd: host.cwd });
  if (plan.writes.length + plan.files.length === 0) return EMPTY_APPLY_RESULT;
  const { ids = FRESH_PLAN_CHECK.ids } = options;
  refuseAwaited(plan, ids);
  const known = { ...FRESH_PLAN_CHECK, ids };
  const { roots } = state;
  return account.write((client) => runPlan(client, { plan, roots, tokens, sinks, ...known }, options, host));
}

/** Nothing is written for what refers to something that does not exist yet. */
function refuseAwaited({ awaitedReferences = {} }: Plan, ids: ReadonlyMap<string, string>): void {
  const missing = Object.entries(awaitedReferences).find(([address]) => !ids.has(address));
  if (missing === undefined) return;
  const [address, { stack, resource }] = missing;
  const message = `${address} is ${resource} of the stack ${stack}, which does not exist yet.`;
  throw new StackError(message, { reason: 'failed', remedy: `Apply the stack ${stack} first. Nothing was written.` });
}

const NAME = 'The plan';

function checkApproval(
  plan: Plan,
  approved: Plan,
  { parts, cwd }: Pick<Run, 'parts'> & { readonly cwd: string },
): void {
  const name = 'The approved plan';
  const given = { plan: verifyShown(name, createPlanDocument(approved)), name };
  refuseUnfit(given, parts.version);
  refuseUnapproved(plan, given, cwd);
}

/** Checks a plan of another process, or one from a file. */
function refuseForeign({ plan, name }: SavedFile, parts: StackParts, account: Account): void {
  verifyShown(name, createPlanDocument(plan));
  refuseOtherVersion({ plan, name }, parts.version);
  refuseOtherStack(plan, parts, account);
}

function refuseOtherStack(plan: Plan, { state }: StackParts, { settings }: Account): void {
  const [made, own] = [`${plan.stack} on ${plan.baseUrl}`, `${state.stack.name} on ${settings.baseUrl}`];
  if (made === own) return;
  const message = `${NAME} was made for the stack ${made}, and this is the stack ${own}.`;
  throw new StackError(message, { reason: 'stale', remedy: 'Make a new plan.' });
}

function toAttached(ids: string): AttachableResource {
  const attached = parseAttached(ids);
  if (attached !== undefined) return attached;
  const remedy = `It is one of ${listIdShapes().join(', ')}.`;
  throw new StackError(`Nothing with modules can have the id ${ids}.`, { reason: 'invalid', remedy });
}
