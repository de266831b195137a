/** The credential that a token belongs to. */
export interface Recipient {
  readonly address: string;
  /** The name of the credential, without its kind. */
  readonly name: string;
  readonly id: string;
  readonly stack: string;
  /** No credential of this address was known before: what stands in its place is of another one. */
  readonly isFirst: boolean;
}

/**
 * Where the tokens of new credentials go. A token exists only in the response to the creation, so a sink is tried out before
 * the first write, and there is a second one for the case that it fails after all.
 */
export interface TokenSink {
  /** Rejects when a token cannot be delivered now. Resolves with warnings about the place. Leaves nothing behind but an empty folder. */
  readonly test: () => Promise<readonly string[]>;
  /** Delivers a token; resolves with where it is, in words. */
  readonly deliver: (recipient: Recipient, token: string) => Promise<string>;
}

/** What sinks need of the world. */
export interface SinkContext {
  readonly cwd: string;
  /** The environment of commands, from which the API key is taken out. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where a token is put when its sink fails. */
  readonly temporaryFolder: string;
}
