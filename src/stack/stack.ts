import type { AcceptResult } from '../accept/accept-drift.ts';
import { StartedApply } from '../apply/apply.ts';
import { removeTokenLeftovers } from '../apply/token-leftovers.ts';
import type { Client } from '../client/client.ts';
import type { ExportResult } from '../export/export-live.ts';
import type { Kind } from '../kinds/kind.ts';
import { toServiceTime } from '../model/clock.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Drift, StackInventory } from '../model/drift.ts';
import { assertDefined } from '../model/errors.ts';
import type { ApplyEvent } from '../model/outcome.ts';
import { describePipeline, readCiJobLinks } from '../model/pipeline.ts';
import type { Plan, PlanComparison } from '../model/plan.ts';
import type { DesiredState } from '../model/state.ts';
import { StackError } from '../model/user-errors.ts';
import type { WriteId } from '../model/write.ts';
import { computeDrift } from '../plan/compute-drift.ts';
import { createInventoryRequest, createStackInventory } from '../plan/inventory.ts';
import type { Surroundings } from '../plan/plan-input.ts';
import type { Request, RequestScope } from '../settings/request.ts';
import type { ServiceSettings } from '../settings/table.ts';
import { type AcceptOptions, acceptLive } from './accept.ts';
import type { Account } from './account.ts';
import { compareWithApproval, type NamedPlan, type PlanWithEvidence, refuseUnusableApproval } from './approval.ts';
import { addTokensInGit, chooseTokenSinks, listCommandVariables, refuseSecretsInSinks } from './choose-sinks.ts';
import {
  type AttachableResource,
  exportResources,
  listAttachedKindIdFormats,
  parseAttachedResourceIdPath,
} from './export-resources.ts';
import { addHiddenDigests, computeDigestsToCompare } from './hidden-digests.ts';
import type { Host } from './host.ts';
import { createCheckedLivePlan, type PlanContents, type PlanOptions, type PlanRequest } from './plan-live.ts';
import type { ValidateEdited } from './read-manifests.ts';
import { restoreRedactedTexts } from './redacted-texts.ts';

/** The manifests of one stack, with a connection to its service. Plans them, and compares them with the live state. */
export interface StackReads extends AsyncDisposable {
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

/** Callbacks of an apply, and options for its requests. */
export interface ApplyRunOptions {
  readonly onEvent?: (event: ApplyEvent) => void;
  /** Called with each warning, such as that other users can read a token sink. */
  readonly onWarning?: (message: string) => void;
  /** Called with each sentence that a user should see before tokens are delivered, such as what decides where they go. */
  readonly onNote?: (message: string) => void;
  /**
   * Asks for consent before the first write, after the token sinks are chosen. Consent is refused unless the result is
   * true. After consent, the plan is made and compared once more. Default: nothing is asked.
   */
  readonly confirm?: (writes: number) => boolean | Promise<boolean>;
  /** Called right before the first write, with the plan that is applied. */
  readonly onStart?: (plan: Plan) => void;
  /**
   * For each External whose id was unknown when the plan was made, maps its address to the id of the other stack's
   * resource.
   */
  readonly ids?: ReadonlyMap<string, string>;
  /** When aborted, no new write starts. Running writes finish, and the result lists the skipped writes. */
  readonly signal?: AbortSignal;
}

/** Options, consents and callbacks of an apply. */
export interface ApplyOptions extends ApplyRunOptions, Omit<Request, 'mode' | 'policies'> {}

/** Selects the resources that `Stack.get` returns. */
export interface GetOptions {
  /** Addresses of resources, or names of kinds. Default: all resources of the stack. */
  readonly names?: readonly string[];
  /** Returns false for kinds that need not be read. Default: every kind is read. */
  readonly mayRead?: (kind: Kind) => boolean;
  readonly signal?: AbortSignal;
}

/** Options of `Stack.drift`. */
export interface DriftOptions extends RequestScope, Omit<Surroundings, 'keptPrunes' | 'mayDeleteAdopted'> {
  readonly signal?: AbortSignal;
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
export interface StackContents extends PlanContents, Pick<Surroundings, 'findTaker' | 'others'> {
  readonly validateEdited: ValidateEdited;
  /** Rejects if the manifests of another stack forbid a plan of this one. Called before each plan. */
  readonly refuseBesideOthers?: () => Promise<void>;
}

/**
 * Creates a stack of an account. Several stacks may share an account. If any of these stacks is closed, the account is
 * closed.
 */
export function createStack(contents: StackContents, account: Account, host: Host): RunnableStack {
  const { state, diagnostics, settings } = contents;
  const { close } = account;
  const planner = createPlanner({ contents, account, host });
  return {
    desired: state,
    diagnostics,
    settings,
    plan: async (options = {}) => planner.plan(options),
    compare: async (approved, options = {}, name = APPROVED_PLAN) =>
      planner.compareApproved({ plan: approved, name }, options),
    useOnce: planner.useOnce,
    planAgain: planner.planAgain,
    prepareApply: async (plan) => prepareApply(plan, contents, host),
    removeTokenLeftovers: async () =>
      contents.sinks === undefined ? removeTokenLeftovers(contents.tokens, state.stack.name, host) : [],
    drift: async ({ onPlanned, ...options } = {}) => {
      const { plan, input } = await createCheckedLivePlan(
        await account.open(),
        planner.createRequest({ ...options, mayDeleteAdopted: true }),
      );
      onPlanned?.(plan);
      return computeDrift(plan, input);
    },
    accept: async (options) => {
      const reader = await account.open();
      const request = planner.createRequest({ ...options, mayDeleteAdopted: true });
      return acceptLive(reader, request, { ...options, validateEdited: contents.validateEdited });
    },
    get: async ({ names = [], mayRead, signal } = {}) => {
      const request = createInventoryRequest(state, { names, mayRead });
      const reader = await account.open();
      const live = await reader.read({ ...request, signal });
      return { ...createStackInventory(state, live, { names, baseUrl: settings.baseUrl }), clock: reader.clockSkew() };
    },
    export: async ({ names = [], modulesOf = [], signal } = {}) => {
      const attached = modulesOf.map(requireAttached);
      const request = { only: names, attached, stack: state.stack.name, described: state, settings, signal };
      return exportResources(await account.open(), request);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The name of an approved plan in messages, unless the caller gives one. */
export const APPROVED_PLAN = 'the approved plan';

/** A stack that a run plans and applies. */
export interface RunnableStack extends StackReads {
  /** Whether this object made a plan that was not applied yet. From now on, the plan counts as applied. */
  readonly useOnce: (plan: Plan) => boolean;
  /** Makes a plan once more, with the options that it was made with, and compares the two. */
  readonly planAgain: (plan: Plan) => Promise<PlanComparison>;
  /** Prepares the apply of a plan. Rejects if it needs an unknown secret. Called before the user is asked. */
  readonly prepareApply: (plan: Plan) => Promise<PreparedApply>;
  /** Removes what killed runs left in the token folders of the stack. Returns warnings. Called when an apply starts. */
  readonly removeTokenLeftovers: () => Promise<readonly string[]>;
}

interface ApplyToStart extends ApplyRunOptions {
  readonly plan: Plan;
  /** Writes that follow writes of other stacks, which may free what they claim. Default: none. */
  readonly afterOthers?: ReadonlySet<WriteId> | undefined;
}

/** The apply of a plan, before its first write. */
export interface PreparedApply {
  /** Rejects if a token of the plan could not be rescued. Called before the first write of any stack of the run. */
  readonly testRescue: () => Promise<void>;
  /** Starts the apply. `plan`: the plan that was prepared, or one that is the same. */
  readonly start: (client: Client, options: ApplyToStart) => Promise<StartedApply>;
}

function prepareApply(shown: Plan, contents: StackContents, host: Host): PreparedApply {
  const chosen = chooseTokenSinks(shown, contents, host);
  const { conflictTimeout: conflictMs } = contents.settings;
  return {
    testRescue: chosen.testRescue,
    start: async (client, { plan, afterOthers, ids = new Map(), onNote, onWarning, onStart, ...options }) => {
      const { onEvent = () => undefined, signal = new AbortController().signal } = options;
      refuseAwaited(plan, ids);
      if (chosen.note !== undefined) onNote?.(chosen.note);
      for (const warning of await chosen.test()) onWarning?.(warning);
      signal.throwIfAborted();
      onStart?.(plan);
      return new StartedApply(plan, {
        ...{ client, sinks: chosen.sinks, onEvent, signal, ids, conflictMs, afterOthers },
        now: () => toServiceTime(host.now(), client.clockSkew()),
        sleep: host.sleep,
        by: describePipeline(readCiJobLinks(host.env)),
      });
    },
  };
}

interface PlannerContext {
  readonly contents: StackContents;
  readonly account: Account;
  readonly host: Host;
}

/** Makes the plans of a stack, and remembers with which options each was made, so that it can be made once more. */
interface Planner {
  readonly createRequest: (options: PlanOptions) => PlanRequest;
  readonly plan: (options: PlanOptions) => Promise<Plan>;
  readonly compareApproved: (approved: NamedPlan, options: PlanOptions) => Promise<PlanComparison>;
  readonly useOnce: (plan: Plan) => boolean;
  readonly planAgain: (plan: Plan) => Promise<PlanComparison>;
}

function createPlanner({ contents, account, host }: PlannerContext): Planner {
  const { state, settings, version } = contents;
  const optionsByPlan = new WeakMap<Plan, PlanOptions>();
  const used = new WeakSet<Plan>();
  const createRequest = (options: PlanOptions): PlanRequest => ({
    options: { findTaker: contents.findTaker, others: contents.others, ...options },
    contents,
    tokenVariables: listCommandVariables(contents, host),
    now: host.now(),
    commit: readCiJobLinks(host.env).commit,
    rehearse: host.rehearse,
    listMissing: async () => host.listMissingManifests?.(state, host),
  });
  const make = async (options: PlanOptions, approved?: Plan): Promise<PlanWithEvidence> => {
    await contents.refuseBesideOthers?.();
    const reader = await account.open();
    refuseSecretsInSinks(contents.tokens, host);
    const restored =
      approved && restoreRedactedTexts(approved, [state.stack.name, ...state.resources.keys()], host.secrets);
    const made = await createCheckedLivePlan(reader, { ...createRequest(options), approved: restored });
    const { evidence } = made;
    const context = { ...host, signal: options.signal };
    const plan = await addHiddenDigests(await addTokensInGit(made.plan, contents, host), evidence, context);
    if (approved === undefined) return { plan, evidence };
    const hiddenDigests = await computeDigestsToCompare(approved, { plan, evidence }, context);
    return { plan, evidence: { ...evidence, hiddenDigests } };
  };
  const remember = (plan: Plan, options: PlanOptions): Plan => {
    optionsByPlan.set(plan, options);
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
    useOnce: (plan) => {
      const isNew = optionsByPlan.has(plan) && !used.has(plan);
      used.add(plan);
      return isNew;
    },
    planAgain: async (plan) => compare(plan, assertDefined(optionsByPlan.get(plan), 'the options of a plan')),
  };
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
