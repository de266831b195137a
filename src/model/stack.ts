import type { LintCode, Severity } from './diagnostic.ts';
import type { JsonObject } from './json.ts';
import type { LocateInDocument } from './place.ts';

/** At most `requests` requests in any time window of `windowMs` milliseconds. */
export interface RateLimit {
  readonly requests: number;
  readonly windowMs: number;
}

export const RATE_LIMIT_DESCRIPTION = 'REQUESTS/SECONDSs, such as `120/60s`';

export const RATE_LIMIT_PATTERN = '^([1-9][0-9]{0,6})/([1-9][0-9]{0,5})s$';

const RATE_LIMIT = new RegExp(RATE_LIMIT_PATTERN);

/**
 * Parses a rate limit such as `120/60s`. `undefined` if the text is not a rate limit.
 * @example
 * const limit = parseRateLimit('120/60s'); // { requests: 120, windowMs: 60000 }
 */
export function parseRateLimit(text: string): RateLimit | undefined {
  const [, requests, seconds] = RATE_LIMIT.exec(text) ?? [];
  if (requests === undefined || seconds === undefined) return undefined;
  return { requests: Number(requests), windowMs: Number(seconds) * 1000 };
}

/** Formats a rate limit: `120/60s`. */
export function formatRateLimit({ requests, windowMs }: RateLimit): string {
  return `${requests}/${windowMs / 1000}s`;
}

/**
 * Returns the minimum time for `count` requests, in milliseconds. The requests in the first window need no time.
 * @example
 * const waitMs = computeMinimumRequestTimeMs(plan.requests.apply, { requests: 120, windowMs: 60_000 });
 */
export function computeMinimumRequestTimeMs(count: number, { requests, windowMs }: RateLimit): number {
  return Math.max(0, Math.floor((count - 1) / requests)) * windowMs;
}

/**
 * How long a state that the service has shown counts as recent: a write that relies on an older state is sent only after
 * another read. Long enough for a run that deletes a few resources right after it has listed them; short enough that
 * hardly anything changes in between.
 */
export const RECENT_STATE_MS = 5_000;

/** A `Stack` or `Defaults` document, as it sets settings. */
export interface SettingsLayer {
  readonly by: 'Stack' | 'Defaults';
  readonly spec: JsonObject;
  /** Returns the position of a path, which starts at `spec`. Parses the document again. */
  readonly locate: LocateInDocument;
  /** Turns a path relative to the folder of the document into a path relative to the working folder. */
  readonly toPath: (path: string) => string;
}

/** The settings of a `Stack` document, with defaults filled in for all values that have one. */
export interface StackSettings {
  /** The name of the stack. It is part of every mark. */
  readonly name: string;
  /** `metadata.renamed_from`: former names, without the present one. Absent if there are none. */
  readonly formerNames?: readonly string[] | undefined;
  /** The documents with settings: the `Stack`, then its `Defaults`, nearest first. Empty without a `Stack`. */
  readonly layers: readonly SettingsLayer[];
  /** The kinds that the stack uses. Other kinds are not read. Absent: all kinds. */
  readonly kinds?: readonly string[] | undefined;
  /** Addresses of resources that another stack takes over. This stack never deletes them. Absent if there are none. */
  readonly handedOver?: readonly string[] | undefined;
  readonly guard: GuardSettings;
  readonly tokens: TokenSettings;
  readonly lint: LintSettings;
  /** The name of the label or annotation whose value is a resource's team. */
  readonly teamLabel?: string | undefined;
  /** Labels and annotations of the `Stack` document. */
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Paths of policies in addition to those among the manifests: files and folders, relative to the working folder. */
  readonly policies: readonly string[];
  /** Patterns of further files that affect the manifests, relative to the working folder. Absent if there are none. */
  readonly inputs?: readonly string[] | undefined;
}

export interface LintSettings {
  /** The severity of each rule that the Stack configures. */
  readonly severities: Readonly<Partial<Record<LintCode, RuleSeverity>>>;
  /** Maximum validity of a certificate, in milliseconds. Lint warns about a longer validity. */
  readonly maxValidityMs: number;
  /** CEL variables that lint accepts in addition to those of the kinds, such as `conn.server_ip` or `conn.tls.*`. */
  readonly celVariables: readonly string[];
}

/** Severity of a rule's findings. `off`: the rule is not checked. */
export type RuleSeverity = Severity | 'off';

/**
 * A plan needs consent (`--allow-deletes`) if its deletes of one kind exceed both limits: they are more than
 * `maxDeletes`, and more than `maxDeleteShare` of the owned resources of that kind.
 */
export interface GuardSettings {
  readonly maxDeletes: number;
  /** 0 to 1. */
  readonly maxDeleteShare: number;
}

/**
 * The limits on deletes if the Stack sets none. A few deletes are usual, and so are many in a large stack. A folder of
 * manifests that is missing exceeds both.
 */
export const DEFAULT_GUARD: GuardSettings = { maxDeletes: 5, maxDeleteShare: 0.3 };

/** The sinks of new tokens. A credential without a sink cannot be created. */
export interface TokenSettings {
  readonly default: SinkSettings | undefined;
  /** By the name of the credential. Takes precedence over `default`. */
  readonly credentials: Readonly<Record<string, SinkSettings>>;
}

export function findSinkSettingsForCredential(
  { credentials, default: common }: TokenSettings,
  name: string,
): SinkSettings | undefined {
  return Object.hasOwn(credentials, name) ? (credentials[name] ?? common) : common;
}

export type SinkSettings = DirectorySinkSettings | TokenCommand;

/** The default timeout of a token command: long enough to write to a secret store over the network. */
export const TOKEN_COMMAND_TIMEOUT_MS = 30_000;

export const DEFAULT_TOKEN_FILE = '{name}.token';

/** A folder with one file per credential, mode 0600. */
interface DirectorySinkSettings {
  readonly directory: string;
  /** The pattern of file names, with `{name}`, `{id}` and `{stack}`. Default: DEFAULT_TOKEN_FILE. */
  readonly file?: string | undefined;
  /** Real paths of folders, one of which must contain `directory`. Absent unless a manifest sets `directory`. */
  readonly within?: readonly string[] | undefined;
}

/** A command that receives a token on its standard input. */
export interface TokenCommand {
  /** Program and arguments, run without a shell. Edgewise replaces `{name}`, `{address}`, `{id}` and `{stack}`. */
  readonly command: readonly string[];
  /** A command that succeeds if tokens can be delivered now. Absent: edgewise tests only whether the program exists. */
  readonly test?: readonly string[] | undefined;
  readonly timeoutMs: number;
  /** The working folder of both commands, relative to that of the run. Default: that of the run. */
  readonly folder?: string | undefined;
}

export function fillStackNameInPath(directory: string, stack: string): string {
  return directory.replaceAll('{stack}', stack);
}

/**
 * The settings of a Stack that delivers no tokens.
 *
 * @example
 * const hasSinks = desired.stack.tokens !== NO_TOKEN_SETTINGS;
 */
export const NO_TOKEN_SETTINGS: TokenSettings = { default: undefined, credentials: {} };
