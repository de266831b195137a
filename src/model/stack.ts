/** The settings of a run, from the `Stack` document. Every optional value has its default filled in. */
export interface StackSettings {
  /** The stack's name, part of every mark. */
  readonly name: string;
  readonly api: ApiSettings;
  readonly guard: GuardSettings;
  /** Where tokens of new credentials go; absent: no credential can be created. */
  readonly tokens: TokenSettings | undefined;
}

/** How to talk to the service. */
export interface ApiSettings {
  /** `https://…`, or `embedded:` with an optional file path for the bundled server. Absent: must come from elsewhere. */
  readonly baseUrl: string | undefined;
  readonly versionHeader: string;
  /** Resources asked for in one list request, 1 to 100. */
  readonly pageSize: number;
  /** Requests under way at once. */
  readonly concurrency: number;
}

/** When the number of deletes of one kind needs `--allow-deletes`: over `maxDeletes` and over `maxDeleteShare` of what is owned. */
export interface GuardSettings {
  readonly maxDeletes: number;
  /** 0 to 1. */
  readonly maxDeleteShare: number;
}

/** A folder of files, one for each credential, mode 0600. */
export interface TokenSettings {
  readonly directory: string;
}
