import type { DiagnosticCode } from '../model/diagnostic.ts';
import { LINT_EXPLANATIONS } from './codes/linting.ts';
import { FIELD_EXPLANATIONS, POLICY_EXPLANATIONS, READING_EXPLANATIONS } from './codes/manifests.ts';
import { PLANNING_EXPLANATIONS } from './codes/planning.ts';
import { RELATION_EXPLANATIONS, RUN_EXPLANATIONS } from './codes/running.ts';
import type { Explanation } from './explanation.ts';

/** Maps each code to its explanation. The explanations are in `codes/`. A missing explanation is a compile error. */
export const EXPLANATIONS: Readonly<Record<DiagnosticCode, Explanation>> = {
  ...READING_EXPLANATIONS,
  ...FIELD_EXPLANATIONS,
  ...RELATION_EXPLANATIONS,
  ...PLANNING_EXPLANATIONS,
  ...RUN_EXPLANATIONS,
  ...LINT_EXPLANATIONS,
  ...POLICY_EXPLANATIONS,
};
