import type { DiagnosticCode } from '../model/diagnostic-codes.ts';
import { FIELDS } from './codes/fields.ts';
import { LINTING } from './codes/linting.ts';
import { PLANNING } from './codes/planning.ts';
import { POLICIES } from './codes/policies.ts';
import { READING } from './codes/reading.ts';
import { RELATIONS } from './codes/relations.ts';
import { RUNNING } from './codes/running.ts';
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
