import type { TokenSinks } from './apply/token-sinks.ts';
import type { ClientOptions } from './client/client.ts';
import type { ManifestSource } from './manifest/load.ts';
import type { TokenSettings } from './model/stack.ts';
import type { Transport } from './model/transport.ts';
import type { Host, OpenNeighbours, Rehearse } from './stack/host.ts';
import { createProcessHost, readVersion } from './stack/process-host.ts';
import { readValidManifests } from './stack/read-manifests.ts';
import { collectSecrets, parseTimeoutMs, resolveManifestSettings, type SettingOverrides } from './stack/settings.ts';
import { createAccount, createStack, type Stack } from './stack/stack.ts';
import { readTrust, refuseUntrustedRender } from './stack/trust.ts';

/** Manifests, service and callbacks of a stack. Every option is optional. */
export interface StackOptions extends Pick<ClientOptions, 'onRetry' | 'onWait' | 'onRequest'> {
  /** Files and folders, as on the command line. Default: the working folder, or none if `manifests` are given. */
  readonly paths?: readonly string[];
  /** Manifests in memory: `{ file, text }` or `{ file, bytes }`. */
  readonly manifests?: readonly ManifestSource[];
  /**
   * URL of the service. `embedded:` and `embedded:FILE` are the bundled server. Default: EDGEWISE_BASE_URL, else
   * `spec.api.base_url` of the Stack.
   */
  readonly baseUrl?: string;
  /** Default: EDGEWISE_API_KEY, else the content of the file that EDGEWISE_API_KEY_FILE names. */
  readonly apiKey?: string;
  /**
   * Sends the requests. Default: a transport with its own connections, and the proxies and certificates that the
   * environment names.
   */
  readonly transport?: Transport;
  /** Name of the header that contains the API version. */
  readonly versionHeader?: string;
  /** Resources per list request, 1 to 100. */
  readonly pageSize?: number;
  /** Concurrent requests, 1 to 64. */
  readonly concurrency?: number;
  /** Maximum number of requests in any window of a given length, such as `120/60s`, or `none`. */
  readonly rateLimit?: string;
  /** Time limits for parts of a request, such as `30s`. */
  readonly timeouts?: Readonly<Partial<Record<'connect' | 'headers' | 'body' | 'request', string>>>;
  /** PEM file of certificate authorities to trust in addition to those of the platform. */
  readonly caFile?: string;
  /** Token sinks of new credentials. They replace those of the Stack. */
  readonly tokens?: TokenSettings;
  /** Token sinks that the program implements. They replace `tokens` and those of the Stack. */
  readonly sinks?: TokenSinks;
  /** Files and folders of policies, in addition to policies among the manifests and those that the Stack names. */
  readonly policies?: readonly string[];
  /**
   * Whether to run the command of `spec.render`, which prints the manifests of the stack. Default: false; a Stack with
   * `spec.render` is then an error.
   */
  readonly render?: boolean;
  /**
   * The manifests are not trusted yet. A setting of theirs that decides where the API key is sent is an error unless
   * the options or the environment set the same value, and nothing is applied. Default: EDGEWISE_UNTRUSTED.
   */
  readonly untrusted?: boolean;
  /**
   * Variables that manifests may read: names, and prefixes of names that end in `*`. Default: EDGEWISE_ENV, else none.
   */
  readonly offered?: readonly string[];
  /**
   * The folder that must contain every file that manifests name. Default: EDGEWISE_ROOT, else the repository of the
   * manifests.
   */
  readonly root?: string;
  /**
   * The variable that contains the API key. Its name must start with `EDGEWISE_API_KEY_`. Default: EDGEWISE_KEY_ENV,
   * else the variable that the Stack names.
   */
  readonly keyEnv?: string;
  /** The folder that relative paths start from. Default: the working folder of the process. */
  readonly cwd?: string;
  /**
   * Variables for settings that are not given, and for `${env:NAME}` in manifests if `offered` allows it. Default:
   * those of the process.
   */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The clock for plans, expiry and the rate limit. Default: the system's clock. */
  readonly now?: () => Date;
}

/**
 * Opens a stack like the command line does: reads and checks its manifests, and resolves the settings of its service.
 * Sends nothing. Rejects with `InvalidManifests`, which lists every mistake, and with `StackError` for invalid
 * settings.
 */
export async function openStack(options: StackOptions = {}): Promise<Stack> {
  const { manifests = [], paths = manifests.length > 0 ? [] : ['.'], policies: apart = [] } = options;
  const host = await createHost(options);
  const read = { lint: 'for-plan', manifests, policies: apart } as const;
  const { state, diagnostics, policies } = await readValidManifests(paths, host, read);
  const settings = resolveManifestSettings(parseGivenSettings(options), host, state.stack.api);
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
    // Loaded only if a plan is rehearsed, because it loads the whole server.
    rehearse: async (...tried: Parameters<Rehearse>) => (await import('./rehearse/rehearse.ts')).rehearsePlan(...tried),
    openNeighbours: async (...asked: Parameters<OpenNeighbours>) =>
      (await import('./repository/find-stacks.ts')).openNeighbours(...asked),
    ...(cwd !== undefined && { cwd }),
    ...(env !== undefined && { env }),
    ...(now !== undefined && { now }),
  };
  const flags = { env: offered, ...(untrusted !== undefined && { untrusted }), ...(root !== undefined && { root }) };
  const { secrets, env: known } = collectSecrets(given);
  if (apiKey !== undefined) secrets.add('the API key', apiKey);
  const host = { ...given, env: known, secrets, ...readTrust(flags, given) };
  if (render) refuseUntrustedRender(host);
  // Loaded only if rendering is allowed.
  return render ? { ...host, render: (await import('./stack/render.ts')).createRender(host) } : host;
}

function parseGivenSettings({ timeouts = {}, ...options }: StackOptions): SettingOverrides {
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
    },
    caFile,
    keyEnv,
  };
}
