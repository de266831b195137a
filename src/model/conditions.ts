import type { Diagnostic, DiagnosticCode } from './diagnostic.ts';

/**
 * What a plan warns of and programs act on. A plan file has it as diagnostics, in words for people: this table is the one
 * place that reads it from them.
 */
const CONDITIONS = {
  /** A write claims a unique value that another stack of the run frees first. */
  awaiting: 'claimed-elsewhere',
  /** A change is left out of the plan. */
  'left-out': 'left-out',
  /** What has no manifest any more is kept. */
  kept: 'kept-prune',
  /** Beside a new resource, there may be one that lost its mark. */
  doubtful: 'mark-lost',
  /** The stack is not applied, because one that it depends on is not. */
  blocked: 'dependency-blocked',
} as const satisfies Readonly<Record<string, DiagnosticCode>>;

export type Condition = keyof typeof CONDITIONS;

interface Warned {
  readonly diagnostics: readonly Diagnostic[];
}

export function isAboutCondition({ code, severity }: Diagnostic, condition: Condition): boolean {
  return severity === 'warning' && code === CONDITIONS[condition];
}

export function countInCondition({ diagnostics }: Warned, condition: Condition): number {
  return diagnostics.filter((one) => isAboutCondition(one, condition)).length;
}

/** The addresses of the changes to which a condition applies. */
export function listAddressesInCondition({ diagnostics }: Warned, condition: Condition): ReadonlySet<string> {
  const found = diagnostics.filter((one) => isAboutCondition(one, condition));
  return new Set(found.flatMap(({ address }) => address ?? []));
}
