import type { Diagnostic } from '../model/diagnostic.ts';
import { toPrintable } from '../model/printable.ts';
import { StackError } from '../model/user-errors.ts';

/** The exit codes of all commands. The output format never changes the exit code. */
export const EXIT = {
  success: 0,
  failed: 1,
  changes: 2,
  invalid: 3,
  authentication: 4,
  refused: 5,
  stale: 6,
  bug: 70,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Meanings of the exit codes, for help texts. */
export const EXIT_MEANINGS: Readonly<Record<ExitCode, string>> = {
  [EXIT.success]: 'success',
  [EXIT.failed]: 'failed (API, network, or a policy test), or only partly done',
  [EXIT.changes]: 'there are changes (drift, diff, accept --dry-run, and plan --detailed-exitcode)',
  [EXIT.invalid]: 'invalid manifests or usage',
  [EXIT.authentication]: 'authentication or permission failed',
  [EXIT.refused]: 'refused by a safety rule',
  [EXIT.stale]: 'the plan differs from what was approved or shown',
  [EXIT.bug]: 'a bug in edgewise',
  [EXIT.interrupted]: 'interrupted, or declined',
};

/** Returns `success` if there are no errors, `refused` if only policies reported errors, else `invalid`. */
export function exitCodeOfValidation(diagnostics: readonly Diagnostic[]): ExitCode {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) return EXIT.success;
  return errors.every(({ code }) => code === 'policy-violated') ? EXIT.refused : EXIT.invalid;
}

/** An output file cannot be written: to the files in `refusedOutputs`, as the user named them, goes no report on this. */
export class OutputError extends StackError {
  readonly refusedOutputs: readonly string[];

  constructor(
    message: string,
    options: ConstructorParameters<typeof StackError>[1] & { readonly refusedOutputs: readonly string[] },
  ) {
    super(message, options);
    this.refusedOutputs = options.refusedOutputs;
  }
}

/**
 * A file that came with an approved plan would be used. Ends the whole run, also if only one stack uses the file: no
 * `StackError`, so that nothing takes it for the failure of one stack or file.
 */
export class ArtifactFileError extends Error {
  override readonly name = 'ArtifactFileError';
  readonly remedy: string;

  constructor(message: string, remedy: string) {
    super(toPrintable(message));
    this.remedy = remedy;
  }
}
