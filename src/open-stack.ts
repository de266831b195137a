import type { TokenSinks } from './apply/token-sinks.ts';
import type { ClientOptions } from './client/client.ts';
import type { ManifestContent } from './manifest/load.ts';
import type { TokenSettings } from './model/stack.ts';
import type { Transport } from './model/transport.ts';
import { rehearsePlan } from './rehearse/rehearse.ts';
import { listMissingManifests } from './repository/missing-manifests.ts';
import { openTakeOverLookUp } from './repository/read-stack-tree.ts';
import type { Host } from './stack/host.ts';
import { createProcessHost, readVersion } from './stack/process-host.ts';
import { readValidManifests } from './stack/read-manifests.ts';
import { createRenderCommandRunner } from './stack/render.ts';
import {
  parseTimeoutMs,
  readManifestTrust,
  readSecretsNamedInEnvironment,
  refuseUntrustedRender,
  resolveSettingsFromManifests,
  type ServiceSettingOverrides,
} from './stack/settings.ts';
import { createAccount, createStack, type Stack } from './stack/stack.ts';

/** Manifests, service and callbacks of a stack. Every option is optional. */
export interface StackOptions extends Pick<ClientOptions, 'onRetry' | 'onWait' | 'onRequest'> {
  /** Files and folders with manifests. Default: the working folder, or none if `manifests` is given. */
  readonly paths?: readonly string[];
  /** Manifests in memory: `{ file, text }` or `{ file, bytes }`. */
  readonly manifests?: readonly ManifestContent[];
  /**
   * URL of the service. `embedded:` or `embedded:FILE` selects the bundled server instead. Default: EDGEWISE_BASE_URL,
   * else `spec.api.base_url` of the Stack.
   */
  readonly baseUrl?: string;
  /** The API key. Default: EDGEWISE_API_KEY, else the content of the file that EDGEWISE_API_KEY_FILE names. */
  readonly apiKey?: string;
  /** Sends the requests. Default: a new transport with the proxies and certificates that environment variables name. */
  readonly transport?: Transport;
  /** Name of the header that contains the API version. */
  readonly versionHeader?: string;
  /** The maximum number of resources per list request, 1 to 100. */
  readonly pageSize?: number;
  /** The maximum number of concurrent requests, 1 to 64. */
  readonly concurrency?: number;
  /** The maximum number of requests in any window of time: `120/60s` allows 120 in any 60 seconds. `none`: no limit. */
  readonly rateLimit?: string;
  /** Time limits for parts of a request and for the whole request, such as `30s`. */
  readonly timeouts?: Readonly<Partial<Record<'connect' | 'headers' | 'body' | 'request' | 'conflict', string>>>;
  /** PEM file of certificate authorities to trust in addition to those of the platform. */
  readonly caFile?: string;
  /** Where to deliver the tokens of new credentials. Replaces `spec.tokens` of the Stack. */
  readonly tokens?: TokenSettings;
  /** Token sinks that the calling program implements. They replace `tokens` and `spec.tokens` of the Stack. */
  readonly sinks?: TokenSinks;
  /** Files and folders with policies. Policies among the manifests and in `spec.policies` of the Stack apply too. */
  readonly policies?: readonly string[];
  /**
   * Whether to run the command of `spec.render`, which prints the manifests of the stack. If false, a Stack with
   * `spec.render` is an error. Default: false.
   */
  readonly render?: boolean;
  /**
   * Whether the manifests are untrusted. If true, nothing is applied. A manifest setting that decides where the API key
   * is sent is then an error, unless the options or the environment set the same value. Default: EDGEWISE_UNTRUSTED.
   */
  readonly untrusted?: boolean;
  /**
   * Environment variables that manifests may read: names, or prefixes such as `APP_*`. Default: EDGEWISE_ENV, else
   * none.
   */
  readonly offered?: readonly string[];
  /**
   * The folder that must contain every file that manifests name. Default: EDGEWISE_ROOT, else the repository of the
   * manifests.
   */
  readonly root?: string;
  /**
   * The environment variable that contains the API key. Its name must start with `EDGEWISE_API_KEY_`. Default:
   * EDGEWISE_KEY_ENV, else the variable that the Stack names.
   */
  readonly keyEnv?: string;
  /** The base folder of relative paths. Default: the working folder of the process. */
  readonly cwd?: string;
  /**
   * Environment variables. They set options that are not given, and replace `${env:NAME}` in manifests if `offered`
   * allows it. Default: the environment of the process.
   */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The clock for plans, expiry and the rate limit. Default: the system's clock. */
  readonly now?: () => Date;
}

/**
 * Opens a stack as the command line does: reads and checks its manifests, and resolves the settings of its service.
 * Sends no request. Rejects with `InvalidManifests`, which lists every mistake, and with `StackError` for invalid
 * settings.
 */
export async function openStack(options: StackOptions = {}): Promise<Stack> {
  const { manifests = [], paths = manifests.length > 0 ? [] : ['.'], policies: apart = [] } = options;
  const host = await createHost(options);
  const read = { lint: 'for-plan', manifests, policies: apart } as const;
  const { state, diagnostics, policies } = await readValidManifests(paths, host, read);
  const settings = resolveSettingsFromManifests(parseGivenSettings(options), host, state.stack.api);
  const { transport, apiKey, tokens = state.stack.tokens, sinks, onRetry, onWait, onRequest } = options;
  const notices = {
    ...(onRetry !== undefined && { onRetry }),
    ...(onWait !== undefined && { onWait }),
    ...(onRequest !== undefined && { onRequest }),
  };
  const account = createAccount({ settings, given: { transport, apiKey }, notices }, host);
  return createStack({ state, diagnostics, policies, tokens, sinks, version: readVersion() }, account, host);
}

async function createHost({ cwd, env, now, apiKey, render = false, ...trust }: StackOptions): Promise<Host> {
  const own = createProcessHost();
  const { untrusted, offered = [], root } = trust;
  const given = {
    ...own,
    rehearse: rehearsePlan,
    listMissingManifests,
    openNeighbours: openTakeOverLookUp,
    ...(cwd !== undefined && { cwd }),
    ...(env !== undefined && { env }),
    ...(now !== undefined && { now }),
  };
  const flags = { env: offered, ...(untrusted !== undefined && { untrusted }), ...(root !== undefined && { root }) };
  const { secrets, env: known } = readSecretsNamedInEnvironment(given);
  if (apiKey !== undefined) secrets.add('the API key', apiKey);
  const host = { ...given, env: known, secrets, ...readManifestTrust(flags, given) };
  if (render) refuseUntrustedRender(host);
  return render ? { ...host, render: createRenderCommandRunner(host) } : host;
}

function parseGivenSettings({ timeouts = {}, ...options }: StackOptions): ServiceSettingOverrides {
  const { baseUrl, versionHeader, pageSize, concurrency, rateLimit, caFile, keyEnv } = options;
  return {
    baseUrl,
    versionHeader,
    pageSize,
    concurrency,
    rateLimit,
    timeouts: {
      connectMs: parseTimeoutMs('connect', timeouts.connect),
      headersMs: parseTimeoutMs('headers', timeouts.headers),
      bodyMs: parseTimeoutMs('body', timeouts.body),
      requestMs: parseTimeoutMs('request', timeouts.request),
      conflictMs: parseTimeoutMs('conflict', timeouts.conflict),
    },
    caFile,
    keyEnv,
  };
}
