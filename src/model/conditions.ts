import type { Diagnostic } from './diagnostic.ts';

/**
 * What a plan says and programs act on. A plan file has it as diagnostics, in words for people: this table is the one
 * place that reads it from them.
 */
const CONDITIONS = {
  /** A write claims a unique value that another stack of the run frees first. */
  awaiting: { code: 'claimed-elsewhere', severity: 'warning' },
  /** A change is left out of the plan. */
  'left-out': { code: 'left-out', severity: 'warning' },
  /** What has no manifest any more is kept. */
  kept: { code: 'kept-prune', severity: 'warning' },
  /** What has no manifest any more is kept for another stack. */
  'handed-over': { code: 'kept-for-hand-over', severity: 'warning' },
  /** Beside a new resource, there may be one that lost its mark. */
  doubtful: { code: 'mark-lost', severity: 'warning' },
  /** The stack is not applied, because one that it depends on is not. */
  blocked: { code: 'dependency-blocked', severity: 'warning' },
  /** The clocks of this machine and of the service differ. */
  skewed: { code: 'clock-skew', severity: 'warning' },
  /** A target is unknown, so it is not compared. */
  uncompared: { code: 'unknown-target', severity: 'error' },
} as const satisfies Readonly<Record<string, Pick<Diagnostic, 'code' | 'severity'>>>;

export type Condition = keyof typeof CONDITIONS;

interface Checked {
  readonly diagnostics: readonly Diagnostic[];
}

export function isAboutCondition({ code, severity }: Diagnostic, condition: Condition): boolean {
  const said = CONDITIONS[condition];
  return code === said.code && severity === said.severity;
}

export function countInCondition({ diagnostics }: Checked, condition: Condition): number {
  return diagnostics.filter((one) => isAboutCondition(one, condition)).length;
}

const LEFT_OUT: readonly Condition[] = ['left-out', 'kept', 'handed-over'];

/** Whether a diagnostic says that its plan does not make a change that the manifests ask for. */
export function isAboutLeftOut(diagnostic: Diagnostic): boolean {
  return LEFT_OUT.some((condition) => isAboutCondition(diagnostic, condition));
}

export function listLeftOutAddresses({ diagnostics }: Checked): ReadonlySet<string> {
  return new Set(diagnostics.filter(isAboutLeftOut).flatMap(({ address }) => address ?? []));
}

/** The addresses of the changes to which a condition applies. */
export function listAddressesInCondition({ diagnostics }: Checked, condition: Condition): ReadonlySet<string> {
  const found = diagnostics.filter((one) => isAboutCondition(one, condition));
  return new Set(found.flatMap(({ address }) => address ?? []));
}
