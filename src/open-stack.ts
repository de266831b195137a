import type { TokenSinks } from './apply/token-sinks.ts';
import type { ClientOptions } from './client/client.ts';
import type { ManifestContent } from './manifest/source.ts';
import { createSourceFiles } from './manifest/source-files.ts';
import { type ApplyResult, EMPTY_APPLY_RESULT } from './model/outcome.ts';
import type { Plan } from './model/plan.ts';
import type { TokenSettings } from './model/stack.ts';
import type { FindTakingOverStack } from './model/stack-tree.ts';
import type { Transport } from './model/transport.ts';
import { StackError } from './model/user-errors.ts';
import { rehearsePlan } from './rehearse/rehearse.ts';
import { listMissingManifests } from './repository/missing-manifests.ts';
import { findTokensInGit } from './repository/token-files.ts';
import { applyStacks } from './run/apply-stacks.ts';
import { createOtherStacks, findTakingOverStack, refuseTakeOverWithOldManifest } from './run/hand-over.ts';
import { findStackAmongOthers } from './run/neighbours.ts';
import { createPlannedResources } from './run/planned-resources.ts';
import { createRefusalError, createSession, type OpenedStack, type Session } from './run/session.ts';
import type { ServiceSettingOptions } from './settings/table.ts';
import { createAccount } from './stack/account.ts';
import type { Host } from './stack/host.ts';
import { createProcessHost, readVersion } from './stack/process-host.ts';
import { readValidManifests } from './stack/read-manifests.ts';
import {
  readManifestTrust,
  readSecretsNamedInEnvironment,
  refuseUntrustedManifests,
  resolveSettingsFromManifests,
} from './stack/settings.ts';
import { APPROVED_PLAN, type ApplyOptions, createStack, type StackReads } from './stack/stack.ts';

/**
 * The manifests of one stack, with a connection to its service. Plans and applies the manifests, and compares them with
 * the live state.
 */
export interface Stack extends StackReads {
  /**
   * Applies a plan. A plan that this object made, also by `compare`, is applied without planning again, but only once.
   * Any other plan is an approval: `compare` makes a new plan, which is applied if it is as approved. With `confirm`,
   * the plan is made and compared once more after consent. Failed writes do not reject: they are in the result.
   * Rejects before the first write: with `InvalidManifests` for a plan with errors; with `NotApprovedError`, which
   * contains the comparison, for a plan that is not as approved or as shown; with `StackError` for a violated safety
   * rule, or a token sink that does not work.
   */
  readonly apply: (plan: Plan, options?: ApplyOptions) => Promise<ApplyResult>;
}

/**
 * Manifests, service and callbacks of a stack. Every option is optional. The settings of the service have the names of
 * the library, and the values and defaults of `spec.api` of a Stack. They take precedence over the environment and the
 * Stack.
 */
export interface StackOptions extends ServiceSettingOptions, Pick<ClientOptions, 'onRetry' | 'onWait' | 'onRequest'> {
  /** Files and folders with manifests. Default: the working folder, or none if `manifests` is given. */
  readonly paths?: readonly string[];
  /** Manifests in memory: `{ file, text }` or `{ file, bytes }`. */
  readonly manifests?: readonly ManifestContent[];
  /** The API key. Default: EDGEWISE_API_KEY, else the content of the file that EDGEWISE_API_KEY_FILE names. */
  readonly apiKey?: string;
  /** Sends the requests. Default: a new transport with the proxies and certificates that environment variables name. */
  readonly transport?: Transport;
  /** Where to deliver the tokens of new credentials. Replaces `spec.tokens` of the Stack. */
  readonly tokens?: TokenSettings;
  /** Token sinks that the calling program implements. They replace `tokens` and `spec.tokens` of the Stack. */
  readonly sinks?: TokenSinks;
  /** Files and folders with policies. Policies among the manifests and in `spec.policies` of the Stack apply too. */
  readonly policies?: readonly string[];
  /**
   * Whether the manifests are untrusted. If true, nothing is applied. A manifest setting that decides where the API key
   * is sent is then an error, unless the options or the environment set the same value. Default: EDGEWISE_UNTRUSTED.
   */
  readonly untrusted?: boolean;
  /** Names of the variables that manifests may read (`${env:NAME}`). Default: EDGEWISE_ENV, else none. */
  readonly offered?: readonly string[];
  /**
   * Names of the variables that manifests may send (`${secret:NAME}`), and no output shows. Default: EDGEWISE_SECRETS,
   * else none.
   */
  readonly offeredSecrets?: readonly string[];
  /**
   * The folder that must contain every file that manifests name. Default: EDGEWISE_ROOT, else the repository of the
   * manifests.
   */
  readonly root?: string;
  /** The base folder of relative paths. Default: the working folder of the process. */
  readonly cwd?: string;
  /**
   * Environment variables. They set options that are not given, and fill in manifests as far as
   * `offered` and `offeredSecrets` allow it. Default: the environment of the process.
   */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The clock for plans, expiry and the rate limit. Default: the system's clock. */
  readonly now?: () => Date;
}

/**
 * Opens a stack as the command line does: reads and checks its manifests, and resolves the settings of its service.
 * Sends no request. Rejects with `InvalidManifests`, which lists every mistake, and with `StackError` for invalid
 * settings.
 * @example
 * const stack = await openStack({ paths: ['manifests'], baseUrl: 'https://api.example.com' });
 * const plan = await stack.plan();
 * const { outcomes } = await stack.apply(plan);
 * await stack.close();
 */
export async function openStack(options: StackOptions = {}): Promise<Stack> {
  const { manifests = [], paths = manifests.length > 0 ? [] : ['.'], policies: apart = [] } = options;
  const host = await createHost(options);
  const read = { lint: 'for-plan', manifests, policies: apart } as const;
  const reading = { ...host, files: createSourceFiles() };
  const { state, diagnostics, policies, locate, validateEdited } = await readValidManifests(paths, reading, read);
  const settings = resolveSettingsFromManifests({ options }, host, state.stack.layers);
  const { transport, apiKey, tokens = state.stack.tokens, sinks, onRetry, onWait, onRequest } = options;
  const notices = { onRetry, onWait, onRequest };
  const account = createAccount({ settings, given: { transport, apiKey }, notices }, host);
  const { folder, tree, diagnostics: onOthers } = findStackAmongOthers({ state, settings, locate }, reading);
  const findTaker: FindTakingOverStack = (address, former) => findTakingOverStack(folder, { tree, address, former });
  const others = createOtherStacks(folder, () => tree.stacks);
  const refuseBesideOthers = () => refuseTakeOverWithOldManifest(folder, tree, host);
  const beside = { findTaker, others, refuseBesideOthers };
  const parts = { state, settings, validateEdited, policies, tokens, sinks, ...beside, version: readVersion() };
  const stack = createStack({ ...parts, diagnostics: [...diagnostics, ...onOthers] }, account, host);
  return withApply({ folder, tree, state, settings, stack, account }, host);
}

/** Lets a stack apply its plans: as the only one of a run. */
export function withApply(opened: OpenedStack, host: Host): Stack {
  const { stack, folder } = opened;
  return {
    ...stack,
    apply: async (plan, options = {}) => {
      refuseUntrustedManifests(host);
      for (const warning of await stack.removeTokenLeftovers()) options.onWarning?.(warning);
      const comparison = stack.useOnce(plan) ? undefined : await stack.compare(plan, options, APPROVED_PLAN);
      const shown = comparison?.after ?? plan;
      stack.useOnce(shown);
      const session: Session = { ...createSession(folder), opened, plan: shown, comparison, approvedBy: APPROVED_PLAN };
      const run = {
        sessions: [session],
        isOfMany: false,
        signal: options.signal ?? new AbortController().signal,
        context: host,
        consentTo: () => options,
        planned: createPlannedResources(),
      };
      const { confirm } = options;
      const ask = async (): Promise<void> => {
        if ((await confirm?.(shown.writes.length)) !== true)
          throw new StackError('Declined: nothing was written.', { reason: 'interrupted' });
      };
      await applyStacks(run, {
        ask: confirm && ask,
        createFollower: () => ({ follow: () => options, end: () => undefined }),
      });
      const refusal = createRefusalError(session, run);
      if (refusal !== undefined) throw refusal;
      return session.result ?? EMPTY_APPLY_RESULT;
    },
  };
}

async function createHost({ cwd, env, now, apiKey, ...more }: StackOptions): Promise<Host> {
  const own = createProcessHost();
  const { untrusted, offered = [], offeredSecrets = [], root, paths = [], manifests = [] } = more;
  const given = {
    ...own,
    rehearse: rehearsePlan,
    listMissingManifests,
    findTokensInGit,
    cwd: cwd ?? own.cwd,
    env: env ?? own.env,
    now: now ?? own.now,
    namedPaths: [...paths.filter((path) => path !== '-'), ...manifests.map(({ file }) => file)],
  };
  const { secrets, env: known } = readSecretsNamedInEnvironment(given);
  const trust = { env: offered, secret: offeredSecrets, untrusted, root };
  if (apiKey !== undefined) secrets.add('the API key', apiKey);
  return { ...given, env: known, secrets, ...readManifestTrust(trust, given) };
}
