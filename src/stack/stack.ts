import type { AcceptResult } from '../accept/accept-drift.ts';
import { confirmDeletes, type StartedApply } from '../apply/apply.ts';
import { removeTokenLeftovers } from '../apply/token-leftovers.ts';
import type { TokenSinks } from '../apply/token-sinks.ts';
import type { Client, ClientOptions } from '../client/client.ts';
import { readLive } from '../client/read-live.ts';
import type { AttemptNotice } from '../client/request-notice.ts';
import type { ExportResult } from '../export/export-live.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Drift, StackInventory } from '../model/drift.ts';
import { ApiError, InvariantError } from '../model/errors.ts';
import type { Send } from '../model/http.ts';
import type { JsonObject } from '../model/json.ts';
import type { ApplyResult } from '../model/outcome.ts';
import { readCiJobLinks } from '../model/pipeline.ts';
import type { Plan, PlanComparison } from '../model/plan.ts';
import type { TokenSettings } from '../model/stack.ts';
import type { FindTakingOverStack, OtherStacks } from '../model/stack-tree.ts';
import type { DesiredState } from '../model/state.ts';
import { InvalidManifests, StackError } from '../model/user-errors.ts';
import { computeDrift } from '../plan/compute-drift.ts';
import { createInventoryRequest, createStackInventory } from '../plan/inventory.ts';
import type { Policy } from '../policy/evaluate.ts';
import type { ServiceSettings } from '../settings/table.ts';
import { type AcceptOptions, acceptLive } from './accept.ts';
import {
  compareWithApproval,
  type NamedPlan,
  type PlanWithEvidence,
  refuseUnapproved,
  refuseUnusableApproval,
} from './approval.ts';
import { type ConnectionOverrides, createServiceClient, openServiceConnection } from './connect.ts';
import {
  type AttachableResource,
  type ExportRequest,
  exportResources,
  listAttachedKindIdFormats,
  parseAttachedResourceIdPath,
} from './export-resources.ts';
import { addHiddenDigests, computeDigestsToCompare } from './hidden-digests.ts';
import type { Host, ServiceConnection } from './host.ts';
import {
  createCheckedLivePlan,
  hasPlanErrors,
  type PlanOptions,
  type PlanRequest,
  type ReadingClient,
} from './plan-live.ts';
import type { ValidateEdited } from './read-manifests.ts';
import { restoreRedactedTexts } from './redacted-texts.ts';
import {
  type ApplyRunOptions,
  addTokensInGit,
  chooseTokenSinks,
  confirmWrites,
  EMPTY_APPLY_RESULT,
  listCommandVariables,
  openApply,
  type PlanToApply,
  refuseSecretsInSinks,
  refuseViolations,
} from './run-plan.ts';
import { refuseToWriteUntrusted } from './settings.ts';

/**
 * An account of the service, with the operations that need no manifests. All operations, including those of different
 * stacks, use one client and therefore share one rate limit.
 */
export interface Account {
  readonly settings: ServiceSettings;
  readonly open: () => Promise<ReadingClient>;
  /** Runs a task with a client that can write. Outside of such tasks, only GET requests are sent. */
  readonly write: <T>(task: (client: Client) => Promise<T>) => Promise<T>;
  /** Exports live resources as manifests that adopt them. Sends GETs only. */
  readonly export: (request: Omit<ExportRequest, 'settings'>) => Promise<ExportResult>;
  /** Closes connections. The embedded server saves its data. */
  readonly close: () => Promise<void>;
}

export interface AccountInput {
  readonly settings: ServiceSettings;
  readonly given?: ConnectionOverrides;
  /** Called with the connection before anything is sent. */
  readonly onConnected?: (reached: ServiceConnection) => void;
  readonly notices?: Pick<ClientOptions, 'onRetry' | 'onWait' | 'onRequest'>;
  /** Wraps the client, to observe what it reads. */
  readonly watch?: (client: Client) => Client;
}

/** Creates an account. Connects to the service on first use. */
export function createAccount(parts: AccountInput, host: Host): Account {
  const { settings } = parts;
  const link = createLink(parts, host);
  return {
    settings,
    ...link,
    export: async (request) => exportResources(await link.open(), { ...request, settings }),
  };
}

type Link = Pick<Account, 'open' | 'write' | 'close'>;

interface Opened extends Required<Pick<ServiceConnection, 'prepareWrites' | 'close'>> {
  readonly client: Client;
}

function createLink({ settings, given, notices = {}, watch, onConnected }: AccountInput, host: Host): Link {
  let opened: Promise<Opened> | undefined;
  let writing = 0;
  const guard =
    (send: Send): Send =>
    async (request) => {
      if (request.method === 'GET' || writing > 0) return send(request);
      throw new InvariantError(`A command that only reads was about to send a ${request.method} request`);
    };
  const connect = async () => {
    const reached = await openServiceConnection(settings, host, given);
    onConnected?.(reached);
    const { now, sleep, random, secrets } = host;
    const more = { now: () => now().getTime(), date: now, sleep, random, secrets, ...notices };
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

/**
 * An account that several stacks use in one run. They share one client and one rate limit, and each list is read once.
 */
export interface SharedAccount {
  /**
   * Returns a view of the account for one stack. It has the stack's settings, and counts requests as if no other stack
   * read from the account.
   */
  readonly toView: (settings: ServiceSettings) => Account;
  readonly open: Account['open'];
  /** Like `Account.write`. Reads inside the task send requests, and do not use the shared lists. */
  readonly write: Account['write'];
  /** The number of requests sent by reads. */
  readonly countReads: () => number;
  /** Drops the shared lists. Called after a write, so that the next read sends requests again. */
  readonly forget: () => void;
  readonly close: () => Promise<void>;
}

export function createSharedAccount(
  { notices = {}, onConnected: tellConnected, ...parts }: AccountInput,
  host: Host,
): SharedAccount {
  let prefix = '';
  const onConnected = (reached: ServiceConnection): void => {
    prefix = URL.parse(reached.baseUrl)?.pathname.replace(/[/]$/, '') ?? '';
    tellConnected?.(reached);
  };
  const sent = new Map<string, number>();
  const count = (path: string): number => sent.get(`${prefix}${path}`) ?? 0;
  const onRequest = (notice: AttemptNotice): void => {
    const [path = ''] = notice.path.split('?');
    if (notice.event === 'sent') sent.set(path, (sent.get(path) ?? 0) + 1);
    notices.onRequest?.(notice);
  };
  const account = createAccount({ ...parts, onConnected, notices: { ...notices, onRequest } }, host);
  let readings = createReadings();
  let reads = 0;
  const readOnce: ReadOnce = (known, path, read) => {
    const found = known.get(path);
    if (found !== undefined) return found;
    const before = count(path);
    const reading = read().then((value) => ({ value, requests: count(path) - before }));
    known.set(path, reading);
    reading.then(
      ({ requests }) => {
        reads += requests;
      },
      // A failed read is not kept, because it also ends other reads, unless the key was refused.
      (error: unknown) => {
        if (!(error instanceof ApiError && error.isAuthentication)) known.delete(path);
      },
    );
    return reading;
  };
  return {
    toView: (settings) => ({
      ...account,
      settings,
      open: async () => createOwnReader(await account.open(), readings, readOnce),
    }),
    open: account.open,
    write: account.write,
    countReads: () => reads,
    forget: () => {
      readings = createReadings();
    },
    close: account.close,
  };
}

/** The result of a read, and the number of requests that it took. */
type Reading<T> = Promise<{ readonly value: T; readonly requests: number }>;

/** Results by path. */
type Known<T> = Map<string, Reading<T>>;

type ReadOnce = <T>(known: Known<T>, path: string, read: () => Promise<T>) => Reading<T>;

interface Readings {
  readonly lists: Known<readonly JsonObject[]>;
  readonly modules: Known<JsonObject | null>;
}

function createReadings(): Readings {
  return { lists: new Map(), modules: new Map() };
}

/** Creates the client of one stack. It uses the shared reads, and counts requests as if no other stack had read. */
function createOwnReader(client: ReadingClient, { lists, modules }: Readings, readOnce: ReadOnce): ReadingClient {
  let requests = 0;
  const take = async <T>(reading: Reading<T>): Promise<T> => {
    const { value, requests: taken } = await reading;
    requests += taken;
    return value;
  };
  return {
    ...client,
    list: (kind, stop) => take(readOnce(lists, kind.path, () => client.list(kind, stop))),
    readModule: (path, stop) => take(readOnce(modules, path, () => client.readModule(path, stop))),
    requestCount: () => requests,
  };
}

/**
 * The manifests of one stack, with a connection to its service. Plans and applies the manifests, and compares them with
 * the live state.
 */
export interface Stack extends AsyncDisposable {
  /** The desired state from the manifests, and the settings of their `Stack` document. */
  readonly desired: DesiredState;
  /** Warnings about the manifests. */
  readonly diagnostics: readonly Diagnostic[];
  /**
   * The settings for reaching the service. A setting in the options takes precedence over the environment, the
   * environment over the `Stack`, and the `Stack` over the default.
   */
  readonly settings: ServiceSettings;
  /**
   * Reads the live state and computes the changes that the manifests describe. Sends GETs only. Like every method,
   * rejects with `ApiError` if the service refuses a request, such as for a wrong key, with `NetworkError` or
   * `TimeoutError` if it does not answer, and with `StackError` for anything else that the caller can correct.
   */
  readonly plan: (options?: PlanOptions) => Promise<Plan>;
  /**
   * Plans again, and compares the new plan with an approved one, such as from a file. Pass the options of the approved
   * plan; `name` is its name in messages. `isSamePlan` says whether the new plan, `after`, is as approved; `apply`
   * applies it. Rejects with `StackError` if the approved plan is from another version, has errors, or is for another
   * stack, service or key. Sends GETs only.
   */
  readonly compare: (approved: Plan, options?: PlanOptions, name?: string) => Promise<PlanComparison>;
  /**
   * Applies a plan. A plan that this object made, also by `compare`, is applied without planning again, but only once.
   * Any other plan is an approval: `compare` makes a new plan, which is applied if it is as approved. With `confirm`,
   * the plan is made and compared once more after consent. Failed writes do not reject: they are in the result.
   * Rejects before the first write: with `InvalidManifests` for a plan with errors; with `NotApprovedError`, which
   * contains the comparison, for a plan that is not as approved or as shown; with `StackError` for a violated safety
   * rule, or a token sink that does not work.
   */
  readonly apply: (plan: Plan, options?: ApplyOptions) => Promise<ApplyResult>;
  /** Compares the live state with the manifests. Sends GETs only. */
  readonly drift: (options?: DriftOptions) => Promise<Drift>;
  /**
   * Computes how the manifests have to change so that they describe what is live, for the drift that the options name.
   * Each file keeps everything else. Writes nothing: `files` has the texts. `refused` says what cannot be written back, and
   * why. Rejects with `StackError` for a name that the manifests do not have. Sends GETs only.
   */
  readonly accept: (options: AcceptOptions) => Promise<AcceptResult>;
  /**
   * Returns the live resources that the stack owns, including values that the service computed, but never a token.
   * Sends GETs only.
   */
  readonly get: (options?: GetOptions) => Promise<StackInventory>;
  /**
   * Exports live resources that no stack owns and no manifest of this stack describes, as manifests that adopt them into
   * this stack. Rejects with `StackError` for a name that no resource has. Sends GETs only.
   */
  readonly export: (options?: ExportStackOptions) => Promise<ExportResult>;
  /** Closes connections. The embedded server saves its data. */
  readonly close: () => Promise<void>;
}

/** Options, consents and callbacks of an apply. */
export interface ApplyOptions
  extends ApplyRunOptions,
    Pick<PlanOptions, 'targets' | 'exclusions' | 'rotate' | 'retire' | 'rehearsal' | 'allowAdopted'> {
  /** Consents to more deletes than the guard allows. Default: false. */
  readonly allowDeletes?: boolean;
  /** Addresses of protected resources that may be deleted, replaced or released. Default: no addresses. */
  readonly allowProtected?: readonly string[];
  /** Names of stacks whose resources may be taken over. Default: no stacks. */
  readonly allowTakeOver?: readonly string[];
  /** Addresses of credentials and certificates that may be renamed back, and keep what was handed out. Default: no addresses. */
  readonly allowRenamedBack?: readonly string[];
  /** Addresses whose writes are sent even if the service rejected them in the rehearsal. Default: no addresses. */
  readonly allowRejected?: readonly string[];
}

/** Selects the resources that `Stack.get` returns. */
export interface GetOptions {
  /** Addresses of resources, or names of kinds. Default: all resources of the stack. */
  readonly names?: readonly string[];
  /** Returns false for kinds that need not be read. Default: every kind is read. */
  readonly mayRead?: (kind: Kind) => boolean;
  readonly signal?: AbortSignal;
}

/** Options of `Stack.drift`. */
export interface DriftOptions
  extends Pick<PlanOptions, 'targets' | 'exclusions' | 'signal' | 'findTaker' | 'others' | 'findPlanned'> {
  /** Called with the plan that would revert the drift. */
  readonly onPlanned?: (plan: Plan) => void;
}

/** Options of `Stack.export`. */
export interface ExportStackOptions {
  /** Addresses, ids, and names of kinds. Default: every kind that can be listed. */
  readonly names?: readonly string[];
  /**
   * Resources whose modules are exported too. Each is written as the ids of its parents and its own id, such as
   * `edghts_…/edghtsrt_…`. Default: no modules are exported.
   */
  readonly modulesOf?: readonly string[];
  readonly signal?: AbortSignal;
}

/** The input of a stack, after its manifests were read. */
export interface StackContents {
  readonly state: DesiredState;
  readonly diagnostics: readonly Diagnostic[];
  readonly validateEdited: ValidateEdited;
  /** User-defined rules to check plans with. */
  readonly policies?: readonly Policy[] | undefined;
  readonly tokens: TokenSettings;
  readonly version: string;
  readonly sinks?: TokenSinks | undefined;
  /** Finds the stack of the repository that takes over a resource. Absent: other stacks are ignored. */
  readonly findTaker?: FindTakingOverStack | undefined;
  readonly others?: OtherStacks | undefined;
}

/**
 * Creates a stack of an account. Several stacks may share an account. If any of these stacks is closed, the account is
 * closed.
 */
export function createStack(parts: StackContents, account: Account, host: Host): RunnableStack {
  const { state, diagnostics } = parts;
  const { settings, close } = account;
  const run = { parts, account, host };
  const planner = createPlanner(run);
  const removeLeftovers = async (): Promise<readonly string[]> =>
    parts.sinks === undefined ? removeTokenLeftovers(parts.tokens, state.stack.name, host) : [];
  return {
    desired: state,
    diagnostics,
    settings,
    plan: async (options = {}) => planner.plan(options),
    compare: async (approved, options = {}, name = PLAN_NAME) =>
      planner.compareApproved({ plan: approved, name }, options),
    prepareApply: (plan, options) => prepareApply(run, plan, options),
    removeTokenLeftovers: removeLeftovers,
    apply: async (plan, options = {}) => {
      refuseToWriteUntrusted(host);
      for (const warning of await removeLeftovers()) options.onWarning?.(warning);
      const isOwn = planner.hasMade(plan);
      const shown = isOwn ? plan : await planApproved(planner, plan, options);
      const again = planner.use(shown);
      const prepared = await prepareApply(run, shown, options);
      await prepared.testRescue();
      if (shown.writes.length === 0) return EMPTY_APPLY_RESULT;
      return account.write(async (client) => {
        await confirmWrites(options, shown.writes.length);
        const plan = options.confirm === undefined ? shown : await confirmPlan(again, options);
        if (plan.writes.length === 0) return EMPTY_APPLY_RESULT;
        const started = await prepared.start(client, { ...options, plan });
        await started.send(plan.writes);
        await confirmDeletes([started]);
        return started.end();
      });
    },
    drift: async ({ onPlanned, ...options } = {}) => {
      const { plan, input } = await createCheckedLivePlan(
        await account.open(),
        planner.createRequest({ ...options, allowAdopted: 'asked' }),
      );
      onPlanned?.(plan);
      return computeDrift(plan, input);
    },
    accept: async (options) => {
      const client = await account.open();
      const request = planner.createRequest({ ...options, allowAdopted: 'asked' });
      return acceptLive(client, request, { ...options, validateEdited: parts.validateEdited });
    },
    get: async ({ names = [], mayRead, signal } = {}) => {
      const request = createInventoryRequest(state, { names, mayRead });
      const client = await account.open();
      const live = await readLive(client, { ...request, signal });
      return { ...createStackInventory(state, live, { names, baseUrl: settings.baseUrl }), clock: client.clockSkew() };
    },
    export: async ({ names = [], modulesOf = [], signal } = {}) =>
      account.export({
        only: names,
        attached: modulesOf.map(requireAttached),
        stack: state.stack.name,
        described: state,
        signal,
      }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

const PLAN_NAME = 'the approved plan';

/** A stack whose plans a run over stacks applies in parts. */
export interface RunnableStack extends Stack {
  /** Prepares the apply of a plan. Rejects if the plan is blocked, or needs an unknown secret. Called before the user is asked. */
  readonly prepareApply: (plan: Plan, options: ApplyOptions) => Promise<PreparedApply>;
  /** Removes what killed runs left in the token folders of the stack. Returns warnings. Called when an apply starts. */
  readonly removeTokenLeftovers: () => Promise<readonly string[]>;
}

/** The apply of a plan, before its first write. */
export interface PreparedApply {
  /** Rejects if a token of the plan could not be rescued. Called before the first write of any stack of the run. */
  readonly testRescue: () => Promise<void>;
  /** Starts the apply. `plan`: the plan that was prepared, or one that is the same. */
  readonly start: (
    client: Client,
    options: ApplyOptions & Pick<PlanToApply, 'plan' | 'afterOthers'>,
  ) => Promise<StartedApply>;
}

async function prepareApply(
  { parts, account, host }: Run,
  shown: Plan,
  consents: ApplyOptions,
): Promise<PreparedApply> {
  refuseBlockedPlan(shown, consents);
  const chosen = chooseTokenSinks(shown, parts, host);
  const { conflictTimeout: conflictMs } = account.settings;
  return {
    testRescue: chosen.testRescue,
    start: async (client, { plan, afterOthers, ids = new Map(), ...options }) => {
      refuseAwaited(plan, ids);
      return openApply(client, { plan, chosen, conflictMs, ids, afterOthers }, options, host);
    },
  };
}

/** Plans again after consent. Throws if the plan is not as shown. */
async function confirmPlan(again: () => Promise<PlanComparison>, options: ApplyOptions): Promise<Plan> {
  const comparison = await again();
  refuseUnapproved(comparison, 'the plan that was shown');
  refuseBlockedPlan(comparison.after, options);
  return comparison.after;
}

async function planApproved(planner: Planner, plan: Plan, options: PlanOptions): Promise<Plan> {
  const comparison = await planner.compareApproved({ plan, name: PLAN_NAME }, options);
  refuseUnapproved(comparison, PLAN_NAME);
  return comparison.after;
}

/** Makes the plans of a stack, and remembers their options until they are applied. */
interface Planner {
  readonly createRequest: (options: PlanOptions) => PlanRequest;
  readonly plan: (options: PlanOptions) => Promise<Plan>;
  readonly compareApproved: (approved: NamedPlan, options: PlanOptions) => Promise<PlanComparison>;
  readonly hasMade: (plan: Plan) => boolean;
  /** Forgets a plan. Returns a function that plans once more with the same options, and compares with that plan. */
  readonly use: (plan: Plan) => () => Promise<PlanComparison>;
}

function createPlanner({ parts, account, host }: Run): Planner {
  const { state, version } = parts;
  const { settings } = account;
  const made = new WeakMap<Plan, PlanOptions>();
  const createRequest = (options: PlanOptions): PlanRequest => ({
    ...parts,
    ...options,
    settings,
    tokenVariables: listCommandVariables(parts, host),
    now: host.now(),
    commit: readCiJobLinks(host.env).commit,
    cwd: host.cwd,
    uid: host.uid,
    rehearse: host.rehearse,
    listMissing: async () => host.listMissingManifests?.(state, host),
  });
  const make = async (options: PlanOptions, approved?: Plan): Promise<PlanWithEvidence> => {
    const client = await account.open();
    refuseSecretsInSinks(parts.tokens, host);
    const restored = approved && restoreRedactedTexts(approved, [...state.resources.keys()], host.secrets);
    const made = await createCheckedLivePlan(client, { ...createRequest(options), approved: restored });
    const { evidence } = made;
    const context = { ...host, signal: options.signal };
    const plan = await addHiddenDigests(await addTokensInGit(made.plan, parts, host), evidence, context);
    if (approved === undefined) return { plan, evidence };
    const hiddenDigests = await computeDigestsToCompare(approved, { plan, evidence }, context);
    return { plan, evidence: { ...evidence, hiddenDigests } };
  };
  const remember = (plan: Plan, options: PlanOptions): Plan => {
    made.set(plan, options);
    return plan;
  };
  const compare = async (approved: Plan, options: PlanOptions): Promise<PlanComparison> => {
    const made = await make(options, approved);
    const values = made.evidence.decisions.map(({ pair, form }) => [pair.live?.spec, form?.normal]);
    const comparison = compareWithApproval(made, restoreRedactedTexts(approved, [made.plan, values], host.secrets));
    remember(comparison.after, options);
    return comparison;
  };
  return {
    createRequest,
    plan: async (options) => remember((await make(options)).plan, options),
    compareApproved: async (approved, options) => {
      const { baseUrl, versionHeader, keyEnv } = settings;
      const place = { baseUrl, settings: { versionHeader, keyEnv } };
      const plan = restoreRedactedTexts(approved.plan, [state.stack.name, baseUrl], host.secrets);
      refuseUnusableApproval({ ...approved, plan }, { stack: state.stack.name, version, ...place });
      return compare(approved.plan, options);
    },
    hasMade: (plan) => made.has(plan),
    use: (plan) => {
      const options = made.get(plan) ?? {};
      made.delete(plan);
      return () => compare(plan, options);
    },
  };
}

interface Run {
  readonly parts: StackContents;
  readonly host: Host;
  readonly account: Account;
}

/** Throws for a plan with errors, or with a violation without consent. */
function refuseBlockedPlan(
  plan: Plan,
  {
    allowDeletes = false,
    allowProtected = [],
    allowRejected = [],
    allowTakeOver = [],
    allowRenamedBack = [],
  }: ApplyOptions,
): void {
  if (hasPlanErrors(plan)) throw new InvalidManifests(plan.diagnostics);
  refuseViolations(plan.violations, {
    deletes: allowDeletes,
    protected: allowProtected,
    rejected: allowRejected,
    takeOver: allowTakeOver,
    renamedBack: allowRenamedBack,
  });
}

/** Throws if the plan refers to a resource that another stack has not created yet. */
function refuseAwaited({ crossStackReferences = {} }: Plan, ids: ReadonlyMap<string, string>): void {
  const missing = Object.entries(crossStackReferences).find(([address]) => !ids.has(address));
  if (missing === undefined) return;
  const [address, { stack, resource }] = missing;
  const message = `${address} is ${resource} of the stack ${stack}, which does not exist yet.`;
  throw new StackError(message, { reason: 'failed', remedy: `Apply the stack ${stack} first. Nothing was written.` });
}

function requireAttached(ids: string): AttachableResource {
  const attached = parseAttachedResourceIdPath(ids);
  if (attached !== undefined) return attached;
  const remedy = `It is one of ${listAttachedKindIdFormats().join(', ')}.`;
  throw new StackError(`No resource with modules can have the id ${ids}.`, { reason: 'invalid', remedy });
}
