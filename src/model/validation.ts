import type { Diagnostic } from './diagnostic.ts';
import type { SkippedCounts } from './plan.ts';

/** The numbers of manifest files and of resources, and the diagnostics. */
export interface Validation {
  readonly files: number;
  readonly resources: number;
  /** The addresses of the resources. Absent if they are unknown. */
  readonly addresses?: readonly string[];
  /** The name of the stack. Absent if it cannot be read. */
  readonly stack?: string | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** What is among the manifests and belongs to other tools. Absent if there is nothing. */
  readonly skipped?: SkippedCounts | undefined;
}
