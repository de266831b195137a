import type { DiagnosticCode } from '../model/diagnostic.ts';
import { LINTING } from './codes/linting.ts';
import { FIELDS, POLICIES, READING } from './codes/manifests.ts';
import { PLANNING } from './codes/planning.ts';
import { RELATIONS, RUNNING } from './codes/running.ts';
import type { Explanation } from './explanation.ts';

/** The explanation of every code. Add new ones to a file in `codes/`; a code without one does not compile. */
export const EXPLANATIONS: Readonly<Record<DiagnosticCode, Explanation>> = {
  ...READING,
  ...FIELDS,
  ...RELATIONS,
  ...PLANNING,
  ...RUNNING,
  ...LINTING,
  ...POLICIES,
};
