import { isModule } from '../kinds/kind.ts';
import { getKind } from '../kinds/tables/registry.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Plan, PlanSettings } from '../model/plan.ts';
import type { TokenSettings } from '../model/stack.ts';
import type { FindTaker } from '../model/stack-tree.ts';
import type { DesiredResource, DesiredState, LiveState } from '../model/state.ts';
import type { Decision } from './decide.ts';

/** The complete input of a plan: nothing else changes it. */
export interface PlanInput {
  readonly desired: DesiredState;
  readonly live: LiveState;
  readonly baseUrl: string;
  readonly settings: PlanSettings;
  readonly version: string;
  readonly mode: Plan['mode'];
  /** The token sinks. Planning only shows them. */
  readonly tokens: TokenSettings;
  /** Addresses to narrow the plan to; empty: everything. */
  readonly targets: readonly string[];
  /** Other stacks whose resources may be taken over. */
  readonly takeOver?: readonly string[];
  /** The time of planning. It decides what has expired or is due for renewal. */
  readonly now: Date;
  /** The commit of the manifests. Absent if unknown. */
  readonly commit?: string;
  /** Addresses to replace although nothing differs. */
  readonly rotate: readonly string[];
  /** Leaves alone fields that have only drifted. */
  readonly keepDrift?: boolean;
  /** Deletes nothing except in a replace. The suppressed deletes are listed in the plan. */
  readonly noDelete?: boolean;
  /** Contents of the files of `listFilePaths`, by path. Absent: the file does not exist. */
  readonly files: ReadonlyMap<string, string>;
  /** Resources of other stacks whose ids are known only after the apply, by the address of the `External`. */
  readonly awaited?: Plan['awaitedReferences'];
  /** Finds another stack of the run that takes over an address without a manifest: its resource is kept. */
  readonly findTaker?: FindTaker | undefined;
  /**
   * Finds another stack of the repository, outside the run, that takes over an address. Its resource is deleted all the
   * same, with a warning.
   */
  readonly findNeighbour?: FindTaker | undefined;
  /** Whether a stack is part of the run. */
  readonly isInRun?: ((stack: string) => boolean) | undefined;
  /** Diagnostics of the manifests, which the plan repeats. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * The desired state of `destroy`: without resources, and without the modules that manifests attach. Modules that no
 * manifest sets are left alone.
 */
export function createDestroyState(desired: DesiredState): DesiredState {
  const attached = [...desired.resources].filter(([, { kind }]) => getKind(kind).role === 'attached');
  return { ...desired, resources: new Map(attached.map(([address, resource]) => [address, withoutModules(resource)])) };
}

function withoutModules(resource: DesiredResource): DesiredResource {
  const modules = getKind(resource.kind)
    .specFields.filter(([, field]) => isModule(field))
    .map(([name]) => name);
  const unset = modules.filter((name) => resource.spec[name] === undefined);
  const spec = Object.entries(resource.spec).filter(([name]) => !modules.includes(name));
  const ignore = [...new Set([...resource.lifecycle.ignore, ...unset])];
  return { ...resource, spec: Object.fromEntries(spec), lifecycle: { ...resource.lifecycle, ignore } };
}

/** The desired state of a release: the stack without manifests, because the released resources are named by address. */
export function createReleaseState(desired: DesiredState): DesiredState {
  return { ...desired, resources: new Map() };
}

/** Notes on the release of a resource whose manifest stays. */
export function describeRelease({ pair }: Decision, desired: DesiredState): readonly string[] {
  const { address, live } = pair;
  if (!desired.resources.has(address)) return [];
  return [
    `its manifest stays, so the next apply creates a new one: remove the manifest, or add lifecycle: { adopt: ${live?.id} }`,
  ];
}
