import type { DiagnosticCode } from '../model/diagnostic.ts';
import { LINT_EXPLANATIONS } from './codes/linting.ts';
import { DOCUMENT_EXPLANATIONS, POLICY_EXPLANATIONS, READING_EXPLANATIONS } from './codes/manifests.ts';
import { PLANNING_EXPLANATIONS } from './codes/planning.ts';
import { DOCUMENT_CONFLICT_EXPLANATIONS, LIVE_STATE_EXPLANATIONS } from './codes/running.ts';
import type { Explanation } from './explanation.ts';

/** Maps each code to its explanation. The explanations are in `codes/`. A missing explanation is a compile error. */
export const EXPLANATIONS: Readonly<Record<DiagnosticCode, Explanation>> = {
  ...READING_EXPLANATIONS,
  ...DOCUMENT_EXPLANATIONS,
  ...DOCUMENT_CONFLICT_EXPLANATIONS,
  ...PLANNING_EXPLANATIONS,
  ...LIVE_STATE_EXPLANATIONS,
  ...LINT_EXPLANATIONS,
  ...POLICY_EXPLANATIONS,
};
