import type { TokenSinks } from '../apply/token-sinks.ts';
import type { ClientOptions } from '../client/client.ts';
import type { ManifestSource } from '../manifest/load.ts';
import type { TokenSettings } from '../model/stack.ts';
import type { Transport } from '../model/transport.ts';
import { createAccount } from './account.ts';
import { readValidManifests } from './read-manifests.ts';
import { type ConnectionFlags, resolveSettings, toStoredSettings } from './settings.ts';
import { createStack, type Stack } from './stack.ts';
import type { Surroundings } from './surroundings.ts';
import { useThisProcess } from './this-process.ts';
import { readVersion } from './version.ts';

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
  /** PEM file of certificate authorities to trust besides those of the platform. */
  readonly caFile?: string;
  /** Where tokens of new credentials go, instead of what the Stack says. */
  readonly tokens?: TokenSettings;
  /** Sinks of a program's own, instead of both. */
  readonly sinks?: TokenSinks;
  /** Files and folders of policies, besides those among the manifests and those that the Stack names. */
  readonly policies?: readonly string[];
  /** Runs the command of `spec.render`, which prints the manifests of the stack. Default: false, which makes a Stack that has one an error. */
  readonly render?: boolean;
  /** What relative paths are relative to. Default: that of the process. */
  readonly cwd?: string;
  /** Fills in `${env:NAME}`, and has the settings that are not given. Default: that of the process. */
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
  const surroundings = await toSurroundings(options);
  const read = { lint: 'for-plan', manifests, policies: apart } as const;
  const { state, diagnostics, policies } = await readValidManifests(paths, surroundings, read);
  const settings = resolveSettings(toFlags(options), surroundings.env, toStoredSettings(state.stack.api));
  const { transport, apiKey, tokens = state.stack.tokens, sinks, onRetry, onWait, onRequest } = options;
  const notices = {
    ...(onRetry !== undefined && { onRetry }),
    ...(onWait !== undefined && { onWait }),
    ...(onRequest !== undefined && { onRequest }),
  };
  const account = createAccount({ settings, given: { transport, apiKey }, notices }, surroundings);
  return createStack({ state, diagnostics, policies, tokens, sinks, version: readVersion() }, account, surroundings);
}

async function toSurroundings({ cwd, env, now, render = false }: StackOptions): Promise<Surroundings> {
  const own = useThisProcess();
  const surroundings = {
    ...own,
    ...(cwd !== undefined && { cwd }),
    ...(env !== undefined && { env }),
    ...(now !== undefined && { now }),
  };
  // Loaded only when it may be used.
  return render ? { ...surroundings, render: (await import('./render.ts')).createRender(surroundings) } : surroundings;
}

/** Checked as flags are: a number that a program computed may be wrong too. */
function toFlags({
  baseUrl,
  versionHeader,
  pageSize,
  concurrency,
  rateLimit,
  timeouts = {},
  caFile,
}: StackOptions): ConnectionFlags {
  const { connect, headers, body, request } = timeouts;
  return withoutUndefined({
    baseUrl,
    versionHeader,
    pageSize: pageSize?.toString(),
    concurrency: concurrency?.toString(),
    rateLimit,
    connectTimeout: connect,
    headersTimeout: headers,
    bodyTimeout: body,
    requestTimeout: request,
    caFile,
  });
}

function withoutUndefined(texts: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(texts).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
