import type { Severity } from './diagnostic.ts';
import type { LintCode } from './diagnostic-codes.ts';
import type { RateLimit } from './rate-limit.ts';

/** The settings of a run, from the `Stack` document. Every optional value has its default filled in. */
export interface StackSettings {
  /** The stack's name, part of every mark. */
  readonly name: string;
  readonly api: ApiSettings;
  /** The kinds that it uses; others are not read. Absent: every kind. */
  readonly kinds?: readonly string[];
  /** Addresses that another stack takes over: never deleted. Absent: none. */
  readonly released?: readonly string[];
  readonly guard: GuardSettings;
  /** Where tokens of new credentials go. */
  readonly tokens: TokenSettings;
  readonly lint: LintSettings;
  /** The label or annotation that says whose a resource is. */
  readonly ownerLabel?: string;
  /** Labels and annotations of its document. */
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Files and folders of policies, besides those among the manifests; relative to the working folder. */
  readonly policies: readonly string[];
}

/** What lint looks for, and how grave it is. */
export interface LintSettings {
  /** Of the rules that the Stack says something about. */
  readonly severities: Readonly<Partial<Record<LintCode, RuleSeverity>>>;
  /** How long a certificate may be valid. */
  readonly maxValidityMs: number;
  /** CEL variables that exist besides those that the kinds know: `conn.server_ip`, `conn.tls.*`. */
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

/** When the number of deletes of one kind needs `--allow-deletes`: over `maxDeletes` and over `maxDeleteShare` of what is owned. */
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

/** A place for tokens. */
export type SinkSettings = DirectorySinkSettings | CommandSinkSettings;

/** A folder of files, one for each credential, mode 0600. */
export interface DirectorySinkSettings {
  readonly directory: string;
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
export function toTokenFolder(directory: string, stack: string): string {
  return directory.replaceAll('{stack}', stack);
}

/** No place at all. */
export const NO_SINKS: TokenSettings = { default: undefined, credentials: {} };
