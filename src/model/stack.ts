import type { LintCode, Severity, SourcePlace } from './diagnostic.ts';

/** At most so many requests in any window of that length. */
export interface RateLimit {
  readonly requests: number;
  readonly windowMs: number;
}

/** What a rate limit looks like. */
export const RATE_LIMIT_EXPECTED = 'REQUESTS/SECONDSs, such as `120/60s`';

/** A regular expression that rate limits match, and nothing else does. */
export const RATE_LIMIT_PATTERN = '^([1-9][0-9]{0,6})/([1-9][0-9]{0,5})s$';

const RATE_LIMIT = new RegExp(RATE_LIMIT_PATTERN);

/** A rate limit such as `120/60s`; `undefined` when it is none. */
export function parseRateLimit(text: string): RateLimit | undefined {
  const [, requests, seconds] = RATE_LIMIT.exec(text) ?? [];
  if (requests === undefined || seconds === undefined) return undefined;
  return { requests: Number(requests), windowMs: Number(seconds) * 1000 };
}

/** The text of a rate limit: `120/60s`. */
export function formatRateLimit({ requests, windowMs }: RateLimit): string {
  return `${requests}/${windowMs / 1000}s`;
}

/** The least time in milliseconds that so many requests take: those of the first window go at once. */
export function computeMinimumMs(count: number, { requests, windowMs }: RateLimit): number {
  return Math.max(0, Math.floor((count - 1) / requests)) * windowMs;
}

/** The settings of a run, from the `Stack` document. Every optional value has its default filled in. */
export interface StackSettings {
  /** The stack's name, part of every mark. */
  readonly name: string;
  readonly api: ApiSettings;
  /** The kinds that it uses; others are not read. Absent: every kind. */
  readonly kinds?: readonly string[];
  /** Addresses that another stack takes over: never deleted. Absent: none. */
  readonly handedOver?: readonly string[];
  readonly guard: GuardSettings;
  /** The token sinks of new credentials. */
  readonly tokens: TokenSettings;
  /** The place of a value in the document; parses it again. Absent: it says nothing about tokens. */
  readonly locate?: (path: readonly (string | number)[]) => SourcePlace;
  readonly lint: LintSettings;
  /** The label or annotation that says whose a resource is. */
  readonly ownerLabel?: string;
  /** Labels and annotations of its document. */
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Files and folders of policies outside of the manifests; relative to the working folder. */
  readonly policies: readonly string[];
  /** Patterns of further files that the manifests are made of; relative to the working folder. Absent: none. */
  readonly inputs?: readonly string[];
}

/** What lint looks for, and how grave it is. */
export interface LintSettings {
  /** Of the rules that the Stack says something about. */
  readonly severities: Readonly<Partial<Record<LintCode, RuleSeverity>>>;
  /** How long a certificate may be valid. */
  readonly maxValidityMs: number;
  /** CEL variables in addition to those that the kinds know: `conn.server_ip`, `conn.tls.*`. */
  readonly celVariables: readonly string[];
}

/** How grave the findings of a rule are; `off`: it is not checked. */
export type RuleSeverity = Severity | 'off';

/** How to talk to the service. */
export interface ApiSettings {
  /** `https://…`, or `embedded:` with an optional file path for the bundled server. Absent: must come from elsewhere. */
  readonly baseUrl: string | undefined;
  /** The variable that holds the API key. Absent: `EDGEWISE_API_KEY`. */
  readonly keyEnv?: string;
  readonly versionHeader: string;
  /** Resources asked for in one list request, 1 to 100. */
  readonly pageSize: number;
  /** Requests under way at once. */
  readonly concurrency: number;
  /** How many requests the service allows in how much time; absent: must come from elsewhere. */
  readonly rateLimit: RateLimit | 'none' | undefined;
  readonly timeouts: Timeouts;
  /** Path of a file with certificates of further authorities, relative to the working folder. */
  readonly caFile: string | undefined;
  /** The settings of the document that decide where the key is sent and how fast requests are sent; absent: none. */
  readonly given?: readonly GivenSetting[];
}

/** A field of `spec.api` that only a Stack that is trusted decides. */
export interface GivenSetting {
  readonly name: 'base_url' | 'ca_file' | 'version_header' | 'key_env' | 'rate_limit';
  /** Parses the document again. */
  readonly locate: () => SourcePlace;
}

/** How long parts of a request may take, each in milliseconds. */
export interface Timeouts {
  readonly connectMs: number;
  /** Until the head of the response is there. */
  readonly headersMs: number;
  /** Between two parts of the body. */
  readonly bodyMs: number;
  /** One attempt as a whole. */
  readonly requestMs: number;
}

/** Limits on deletes of one kind without `--allow-deletes`: more than `maxDeletes`, and more than `maxDeleteShare` of the owned resources. */
export interface GuardSettings {
  readonly maxDeletes: number;
  /** 0 to 1. */
  readonly maxDeleteShare: number;
}

/** What holds where no Stack says otherwise. */
export const DEFAULT_GUARD: GuardSettings = { maxDeletes: 5, maxDeleteShare: 0.3 };

/** Where tokens go. A credential that neither names cannot be created. */
export interface TokenSettings {
  readonly default: SinkSettings | undefined;
  /** By credential name: instead of the default. */
  readonly credentials: Readonly<Record<string, SinkSettings>>;
}

/** The place for the token of a credential. */
export function findSink({ credentials, default: common }: TokenSettings, name: string): SinkSettings | undefined {
  return Object.hasOwn(credentials, name) ? (credentials[name] ?? common) : common;
}

/** A place for tokens. */
export type SinkSettings = DirectorySinkSettings | CommandSinkSettings;

/** A folder of files, one for each credential, mode 0600. */
interface DirectorySinkSettings {
  readonly directory: string;
  /** If manifests name it: real paths of the folders below which it must lie. Absent: the user who started the run named it. */
  readonly within?: readonly string[];
}

/** A command that reads the token on its standard input. */
export interface CommandSinkSettings {
  /** Program and arguments, never a shell's line. `{name}`, `{address}`, `{id}` and `{stack}` are filled in. */
  readonly command: readonly string[];
  /** A command that succeeds when tokens could be delivered now; absent: the program only has to exist. */
  readonly test?: readonly string[];
  readonly timeoutMs: number;
}

/** A folder for tokens, with the stack's name in the place of `{stack}`. */
export function fillStackName(directory: string, stack: string): string {
  return directory.replaceAll('{stack}', stack);
}

/** No place at all. */
export const NO_SINKS: TokenSettings = { default: undefined, credentials: {} };
