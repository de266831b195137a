import type { DiagnosticCode } from '../model/diagnostic.ts';
import { LINTING } from './codes/linting.ts';
import { FIELDS, POLICIES, READING } from './codes/manifests.ts';
import { PLANNING } from './codes/planning.ts';
import { RELATIONS, RUNNING } from './codes/running.ts';
import type { Explanation } from './explanation.ts';

/** The explanation of every code. A code without one does not compile: add it to one of the files in `codes/`. */
export const EXPLANATIONS: Readonly<Record<DiagnosticCode, Explanation>> = {
  ...READING,
  ...FIELDS,
  ...RELATIONS,
  ...PLANNING,
  ...RUNNING,
  ...LINTING,
  ...POLICIES,
};
