import type { Diagnostic } from './diagnostic.ts';
import { toPrintable } from './printable.ts';

/** Why an operation has no result. The command line has an exit code for each reason. */
export type StackErrorReason = 'failed' | 'invalid' | 'authentication' | 'refused' | 'stale' | 'interrupted';

/**
 * An error that the caller can fix: settings, a key, a safety rule, a stale plan. Bugs, errors of the service and
 * network errors have their own classes.
 *
 * @example
 * const remedy = error instanceof StackError ? error.remedy : undefined;
 */
export class StackError extends Error {
  override readonly name: string = 'StackError';
  readonly reason: StackErrorReason;
  /** How to fix the error. `undefined` if not known. */
  readonly remedy: string | undefined;
  /** The output file, as the user named it, that the error is about: nothing is written there. `undefined` for other errors. */
  readonly output: string | undefined;

  /** A list becomes one message, with each member on its own line. */
  constructor(
    message: string | readonly string[],
    options: ErrorOptions & {
      readonly reason: StackErrorReason;
      readonly remedy?: string | undefined;
      readonly output?: string | undefined;
    },
  ) {
    // Escape control characters, so that a name from a manifest or the service cannot start a new line.
    super((typeof message === 'string' ? [message] : message).map(toPrintable).join('\n'), options);
    this.reason = options.reason;
    this.remedy = options.remedy;
    this.output = options.output;
  }
}

/**
 * The manifests are invalid. The message has the first error, and the number of others; `diagnostics` lists every mistake.
 * No request was sent.
 *
 * @example
 * const mistakes = error instanceof InvalidManifests ? error.diagnostics : [];
 */
export class InvalidManifests extends Error {
  override readonly name = 'InvalidManifests';
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[]) {
    super(describeErrors(diagnostics));
    this.diagnostics = diagnostics;
  }
}

function describeErrors(diagnostics: readonly Diagnostic[]): string {
  const [first, ...others] = diagnostics.filter(({ severity }) => severity === 'error');
  if (first === undefined) return 'The manifests are invalid.';
  const { message, place } = first;
  const at = place === undefined ? '' : `${place.file}:${place.line}:${place.column}: `;
  const more = others.length === 0 ? '' : `, and ${others.length} more ${others.length === 1 ? 'error' : 'errors'}`;
  return toPrintable(`The manifests are invalid: ${at}${message}${more}`);
}
