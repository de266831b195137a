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

/** Which manifests, which service, and what a program has of its own. Everything may be left out. */
export interface StackOptions extends Pick<ClientOptions, 'onRetry' | 'onWait' | 'onRequest'> {
  /** Files and folders, as on the command line. Default: the working folder, unless there are `manifests`. */
  readonly paths?: readonly string[];
  /** Manifests that a program has: `{ file, text }` or `{ file, bytes }`. */
  readonly manifests?: readonly ManifestSource[];
  /** URL of the service; `embedded:` and `embedded:FILE` are the bundled server. Default: EDGEWISE_BASE_URL, else `spec.api.base_url` of the Stack. */
  readonly baseUrl?: string;
  /** Default: EDGEWISE_API_KEY, else the file that EDGEWISE_API_KEY_FILE names. */
  readonly apiKey?: string;
  /** What carries requests. Default: connections of its own, with the proxies and authorities that the environment names. */
  readonly transport?: Transport;
  /** Name of the header that carries the interface version. */
  readonly versionHeader?: string;
  /** Resources in one list request, 1 to 100. */
  readonly pageSize?: number;
  /** Concurrent requests, 1 to 64. */
  readonly concurrency?: number;
  /** Most requests in any window of this length, such as `120/60s`, or `none`. */
  readonly rateLimit?: string;
  /** How long parts of a request may take, such as `30s`. */
  readonly timeouts?: Readonly<Partial<Record<'connect' | 'headers' | 'body' | 'request', string>>>;
  /** PEM file of certificate authorities to trust in addition to those of the platform. */
  readonly caFile?: string;
  /** Token sinks of new credentials, instead of those of the Stack. */
  readonly tokens?: TokenSettings;
  /** Sinks of a program's own, instead of both. */
  readonly sinks?: TokenSinks;
  /** Files and folders of policies, in addition to those among the manifests and those that the Stack names. */
  readonly policies?: readonly string[];
  /** Runs the command of `spec.render`, which prints the manifests of the stack. Default: false, which makes a Stack that has one an error. */
  readonly render?: boolean;
  /**
   * The manifests are not trusted yet: a setting of theirs that decides where the key is sent is an error unless the options or the environment say the same,
   * and nothing is applied. Default: EDGEWISE_UNTRUSTED.
   */
  readonly untrusted?: boolean;
  /** The variables that manifests may read: names, and prefixes of names that end in `*`. Default: EDGEWISE_ENV, else none. */
  readonly offered?: readonly string[];
  /** The folder below which everything must lie that manifests name. Default: EDGEWISE_ROOT, else the repository of the manifests. */
  readonly root?: string;
  /** The variable that holds the API key: one that starts with `EDGEWISE_API_KEY_`. Default: EDGEWISE_KEY_ENV, else as the Stack says. */
  readonly keyEnv?: string;
  /** What relative paths are relative to. Default: that of the process. */
  readonly cwd?: string;
  /** Fills in `${env:NAME}`, as far as `offered`, and has the settings that are not given. Default: that of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The time: of plans, of what expires, of the rate limit. Default: the system's. */
  readonly now?: () => Date;
}

/**
 * Opens a stack: reads and checks its manifests, and finds out how its service is reached, as the command line does. Sends nothing. Rejects with
 * `InvalidManifests`, which has every mistake, and with `StackError` for settings that cannot be.
 */
export async function openStack(options: StackOptions = {}): Promise<Stack> {
  const { manifests = [], paths = manifests.length > 0 ? [] : ['.'], policies: apart = [] } = options;
  const host = await toHost(options);
  const read = { lint: 'for-plan', manifests, policies: apart } as const;
  const { state, diagnostics, policies } = await readValidManifests(paths, host, read);
  const settings = resolveManifestSettings(toGivenSettings(options), host, state.stack.api);
  const { transport, apiKey, tokens = state.stack.tokens, sinks, onRetry, onWait, onRequest } = options;
  const notices = {
    ...(onRetry !== undefined && { onRetry }),
    ...(onWait !== undefined && { onWait }),
    ...(onRequest !== undefined && { onRequest }),
  };
  const account = createAccount({ settings, given: { transport, apiKey }, notices }, host);
  return createStack({ state, diagnostics, policies, tokens, sinks, version: readVersion() }, account, host);
}

async function toHost({ cwd, env, now, apiKey, render = false, ...trust }: StackOptions): Promise<Host> {
  const own = createProcessHost();
  const { untrusted, offered = [], root } = trust;
  const given = {
    ...own,
    // Loaded only when there is something to try: it brings a whole server.
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
  // Loaded only when it may be used.
  return render ? { ...host, render: (await import('./stack/render.ts')).createRender(host) } : host;
}

function toGivenSettings({ timeouts = {}, ...options }: StackOptions): SettingOverrides {
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
