import type { Address } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Plan, PlanSettings } from '../model/plan.ts';
import type { TokenSettings } from '../model/stack.ts';
import type { DesiredState, LiveState } from '../model/state.ts';

/** What a plan is computed from. */
export interface PlanInput {
  readonly desired: DesiredState;
  readonly live: LiveState;
  readonly baseUrl: string;
  readonly settings: PlanSettings;
  readonly version: string;
  readonly mode: Plan['mode'];
  /** Where tokens would go: shown, and nothing else. */
  readonly tokens: TokenSettings;
  /** Addresses to narrow the plan to; empty: everything. */
  readonly targets: readonly string[];
  /** Other stacks whose resources may be taken over. */
  readonly takeOver?: readonly string[];
  /** The time at which the plan is made: what has expired, or is too old, is replaced. */
  readonly now: Date;
  /** The commit of the manifests, where it is known. */
  readonly commit?: string;
  /** Addresses of what is replaced though nothing differs. */
  readonly rotate: readonly string[];
  /** Leaves alone fields that have only drifted. */
  readonly keepDrift?: boolean;
  /** Deletes nothing but what a replace makes anew; what would be deleted is listed. */
  readonly noDelete?: boolean;
  /** Texts of the files that manifests have something written to, by path (`listFilePaths`); one that is absent does not exist. */
  readonly files: ReadonlyMap<string, string>;
  /** Resources of other stacks whose ids are known after apply, by the address of the External. */
  readonly awaited?: Plan['awaited'];
  /** Says of an address that no manifest describes that another stack takes it over. */
  readonly isHandedOver?: ((address: Address) => boolean) | undefined;
  /** Says of another stack that the same run applies it behind this one. */
  readonly comesLater?: ((stack: string) => boolean) | undefined;
  /** Findings on the manifests, to be carried along. */
  readonly diagnostics: readonly Diagnostic[];
}
