import type { TokenSinks } from '../apply/token-sinks.ts';
import { readLive } from '../client/read-live.ts';
import type { Exported } from '../export/export-live.ts';
import type { Kind } from '../kinds/kind.ts';
import { toPlanDocument } from '../kinds/plan-document.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Drift } from '../model/drift.ts';
import type { Inventory } from '../model/inventory.ts';
import type { ApplyResult } from '../model/outcome.ts';
import { readPipeline } from '../model/pipeline.ts';
import type { Plan } from '../model/plan.ts';
import type { TokenSettings } from '../model/stack.ts';
import type { DesiredState } from '../model/state.ts';
import { toDrift } from '../plan/compute-drift.ts';
import { toInventory, toInventoryRequest } from '../plan/to-inventory.ts';
import type { Policy } from '../policy/policy.ts';
import type { Account } from './account.ts';
import { refuseUnapproved, refuseUnfit } from './approve.ts';
import { refuseOtherVersion, refuseViolations } from './check-saved.ts';
import { type Attached, listIdShapes, parseAttached } from './export-resources.ts';
import { checkPolicies, isInvalid, type PlanOptions, planAndRehearse, planLive } from './plan-live.ts';
import { NOTHING_DONE, NOTHING_KNOWN, type RunOptions, runPlan } from './run-plan.ts';
import type { RunSettings } from './settings.ts';
import { InvalidManifests, StackError } from './stack-error.ts';
import type { Surroundings } from './surroundings.ts';
import { verifyShown } from './verify-shown.ts';

/** The manifests of one stack and the service that they are for: the whole way from there to a plan, and back. */
export interface Stack extends AsyncDisposable {
  /** What the manifests ask for, with the settings of their `Stack` document. */
  readonly desired: DesiredState;
  /** Warnings on the manifests. */
  readonly diagnostics: readonly Diagnostic[];
  /** How the service is reached: from the options, else the environment, else the `Stack`, else the default. */
  readonly settings: RunSettings;
  /** Reads what is live and computes what would make it what the manifests ask for. Sends GETs only. */
  readonly plan: (options?: PlanOptions) => Promise<Plan>;
  /**
   * Does what a plan says. One that this stack made is applied as it is, once; any other is held against what is live first, and refused when what it
   * touches has moved. What failed is in the result. Rejects before the first write: with `InvalidManifests` for a plan with errors,
   * with `StackError` for a safety rule, a stale plan, or a place for tokens that does not work; with `NotApproved`, which has the comparison,
   * when it does what the approved plan does not.
   */
  readonly apply: (plan: Plan, options?: ApplyOptions) => Promise<ApplyResult>;
  /** Compares what is live with the manifests, or with what a plan would have left. Sends GETs only. */
  readonly drift: (options?: DriftOptions) => Promise<Drift>;
  /** What the stack owns, live, with what the service computed; never a token. Sends GETs only. */
  readonly get: (options?: GetOptions) => Promise<Inventory>;
  /** What is live and belongs to nobody else, as manifests that adopt it into this stack. Sends GETs only. */
  readonly export: (options?: ExportStackOptions) => Promise<Exported>;
  /** Closes connections, and keeps what the embedded server holds. */
  readonly close: () => Promise<void>;
}

/** What an apply may do, and what it tells. */
export interface ApplyOptions extends RunOptions {
  /** Consent to more deletes than the guard allows. Default: none. */
  readonly allowDeletes?: boolean;
  /** Protected addresses that may be deleted, replaced or released. */
  readonly allowProtected?: readonly string[];
  /** A plan that was approved: nothing is written unless it shows all that this plan does. */
  readonly approved?: Plan;
}

/** What is asked for of what the stack owns. */
export interface GetOptions {
  /** Addresses, and names of kinds. Default: everything. */
  readonly names?: readonly string[];
  /** Kinds for which it gives false are not read. */
  readonly isOfUse?: (kind: Kind) => boolean;
  readonly signal?: AbortSignal;
}

/** What is compared with what is live. */
export interface DriftOptions extends Pick<PlanOptions, 'targets' | 'signal' | 'isHandedOver'> {
  /** A plan of this stack instead of the manifests: all of it, whatever the targets. */
  readonly against?: Plan;
}

/** What is exported. */
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
export function createStack(parts: StackParts, account: Account, surroundings: Surroundings): Stack {
  const { state, diagnostics } = parts;
  const { settings, close } = account;
  const made = new WeakSet<Plan>();
  const toRequest = (options: PlanOptions) => ({
    ...parts,
    ...options,
    settings,
    now: surroundings.now(),
    commit: readPipeline(surroundings.env).commit,
    cwd: surroundings.cwd,
    onDecided: surroundings.onDecided,
    onLetGo: surroundings.onLetGo,
  });
  return {
    desired: state,
    diagnostics,
    settings,
    plan: async (options = {}) => {
      const plan = await planAndRehearse(await account.open(), toRequest(options));
      made.add(plan);
      return plan;
    },
    apply: async (plan, options = {}) => {
      const run = { parts, surroundings, account, isKnown: made.delete(plan) };
      return applyTo(run, plan, options);
    },
    drift: async ({ against, ...options } = {}) => {
      if (against !== undefined) {
        refuseOtherStack(against, parts, account);
        return account.drift({ plan: against, name: NAME, signal: options.signal });
      }
      const request = toRequest(options);
      const { plan, input } = await planLive(await account.open(), request);
      return toDrift(plan, input);
    },
    get: async ({ names = [], isOfUse, signal } = {}) => {
      const request = toInventoryRequest(state, { names, ...(isOfUse !== undefined && { isOfUse }) });
      const live = await readLive(await account.open(), { ...request, ...(signal !== undefined && { signal }) });
      return toInventory(state, live, { names, baseUrl: settings.baseUrl });
    },
    export: async ({ kinds = [], modulesOf = [], signal } = {}) =>
      account.export({ kinds, attached: modulesOf.map(toAttached), stack: state.stack.name, signal }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

interface Run {
  readonly parts: StackParts;
  readonly surroundings: Surroundings;
  readonly account: Account;
  /** It was just made, and nothing of it was done. */
  readonly isKnown: boolean;
}

async function applyTo(run: Run, given: Plan, options: ApplyOptions): Promise<ApplyResult> {
  const { parts, surroundings, account, isKnown } = run;
  const { tokens, sinks, state } = parts;
  const { policies } = parts;
  const plan = isKnown
    ? given
    : await checkPolicies(given, { policies, state, now: surroundings.now(), isSaved: true });
  const allowances = { deletes: options.allowDeletes === true, protected: options.allowProtected ?? [] };
  if (isInvalid(plan)) throw new InvalidManifests(plan.diagnostics);
  if (!isKnown) refuseForeign(given, run);
  refuseViolations(plan.violations, allowances);
  if (options.approved !== undefined) checkApproval(plan, options.approved, parts);
  if (plan.writes.length + plan.files.length === 0) return NOTHING_DONE;
  const { guard } = state.stack;
  if (!isKnown) return account.apply({ plan, name: NAME, allowances, guard, tokens, sinks }, options);
  const { ids = NOTHING_KNOWN.ids } = options;
  refuseAwaited(plan, ids);
  const known = { ...NOTHING_KNOWN, ids };
  return account.write((client) => runPlan(client, { plan, tokens, sinks, ...known }, options, surroundings));
}

/** Nothing is written for what refers to something that does not exist yet. */
function refuseAwaited({ awaited = {} }: Plan, ids: ReadonlyMap<string, string>): void {
  const missing = Object.entries(awaited).find(([address]) => !ids.has(address));
  if (missing === undefined) return;
  const [address, { stack, resource }] = missing;
  const message = `${address} is ${resource} of the stack ${stack}, which does not exist yet.`;
  throw new StackError(message, { reason: 'failed', remedy: `Apply the stack ${stack} first. Nothing was written.` });
}

const NAME = 'The plan';

function checkApproval(plan: Plan, approved: Plan, { version }: StackParts): void {
  const name = 'The approved plan';
  const given = { plan: verifyShown(name, toPlanDocument(approved)), name };
  refuseUnfit(given, version);
  refuseUnapproved(plan, given);
}

/** A plan that somebody else made, or that came out of a file. */
function refuseForeign(plan: Plan, { parts, account }: Run): void {
  verifyShown(NAME, toPlanDocument(plan));
  refuseOtherVersion({ plan, name: NAME }, parts.version);
  refuseOtherStack(plan, parts, account);
}

function refuseOtherStack(plan: Plan, { state }: StackParts, { settings }: Account): void {
  const [made, own] = [`${plan.stack} on ${plan.baseUrl}`, `${state.stack.name} on ${settings.baseUrl}`];
  if (made === own) return;
  const message = `${NAME} was made for the stack ${made}, and this is the stack ${own}.`;
  throw new StackError(message, { reason: 'stale', remedy: 'Make a new plan.' });
}

function toAttached(ids: string): Attached {
  const attached = parseAttached(ids);
  if (attached !== undefined) return attached;
  const remedy = `It is one of ${listIdShapes().join(', ')}.`;
  throw new StackError(`Nothing with modules can have the id ${ids}.`, { reason: 'invalid', remedy });
}
