import { isModule } from '../kinds/kind.ts';
import { getKind } from '../kinds/tables/registry.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Plan, PlanSettings } from '../model/plan.ts';
import type { TokenSettings } from '../model/stack.ts';
import type { FindTaker } from '../model/stack-tree.ts';
import type { DesiredResource, DesiredState, LiveState } from '../model/state.ts';
import type { Decision } from './decide.ts';

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
  /** Addresses to replace although nothing differs. */
  readonly rotate: readonly string[];
  /** Leaves alone fields that have only drifted. */
  readonly keepDrift?: boolean;
  /** Deletes nothing but what a replace makes anew; what would be deleted is listed. */
  readonly noDelete?: boolean;
  /** Texts of the files that manifests have something written to, by path (`listFilePaths`); one that is absent does not exist. */
  readonly files: ReadonlyMap<string, string>;
  /** Resources of other stacks whose ids are known after apply, by the address of the External. */
  readonly awaited?: Plan['awaitedReferences'];
  /** Finds another stack that takes over what no manifest describes. */
  readonly findTaker?: FindTaker | undefined;
  /** Finds one that does, where the plan is made without it: what it takes over is deleted all the same, with a warning. */
  readonly findNeighbour?: FindTaker | undefined;
  /** Whether the same run applies another stack. */
  readonly isInRun?: ((stack: string) => boolean) | undefined;
  /** Findings on the manifests, to be carried along. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * What the manifests ask for when everything of theirs is to go: no resource, and no module that a document attaches.
 * Modules that a document does not state are left alone.
 */
export function createDestroyState(desired: DesiredState): DesiredState {
  const attached = [...desired.resources].filter(([, { kind }]) => getKind(kind).role === 'attached');
  return { ...desired, resources: new Map(attached.map(([address, resource]) => [address, withoutModules(resource)])) };
}

function withoutModules(resource: DesiredResource): DesiredResource {
  const modules = getKind(resource.kind)
    .specFields.filter(([, field]) => isModule(field))
    .map(([name]) => name);
  const unstated = modules.filter((name) => resource.spec[name] === undefined);
  const spec = Object.entries(resource.spec).filter(([name]) => !modules.includes(name));
  const ignore = [...new Set([...resource.lifecycle.ignore, ...unstated])];
  return { ...resource, spec: Object.fromEntries(spec), lifecycle: { ...resource.lifecycle, ignore } };
}

/** The desired state of a release: the stack without manifests, because the released resources are named by address. */
export function createReleaseState(desired: DesiredState): DesiredState {
  return { ...desired, resources: new Map() };
}

/** What becomes of a resource that is released while its manifest stays. */
export function describeRelease({ pair }: Decision, desired: DesiredState): readonly string[] {
  const { address, live } = pair;
  if (!desired.resources.has(address)) return [];
  return [
    `its manifest stays, so the next apply creates a new one: remove the manifest, or add lifecycle: { adopt: ${live?.id} }`,
  ];
}
