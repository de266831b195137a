import type { Diagnostic } from '../model/diagnostic.ts';

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
