import type { Diagnostic } from '../model/diagnostic.ts';

/** Why an operation has no result: the command line has an exit code for each. */
export type StackErrorReason = 'failed' | 'invalid' | 'authentication' | 'refused' | 'stale' | 'interrupted';

/** An error that the caller can fix: settings, a key, a safety rule, a stale plan. Bugs, the service and the network have errors of their own. */
export class StackError extends Error {
  override readonly name: string = 'StackError';
  readonly reason: StackErrorReason;
  /** What to do about it. */
  readonly remedy: string | undefined;

  constructor(
    message: string,
    options: ErrorOptions & { readonly reason: StackErrorReason; readonly remedy?: string },
  ) {
    super(message, options);
    this.reason = options.reason;
    this.remedy = options.remedy;
  }
}

/** Manifests are invalid: all that is wrong with them, and no request was sent. */
export class InvalidManifests extends Error {
  override readonly name = 'InvalidManifests';
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[]) {
    super('The manifests are invalid.');
    this.diagnostics = diagnostics;
  }
}
