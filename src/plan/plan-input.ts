import { parseIgnoredPart } from '../kinds/ignored-parts.ts';
import { isModule } from '../kinds/kind.ts';
import { getKind } from '../kinds/tables/registry.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { MissingManifests, Plan, PlanSettings } from '../model/plan.ts';
import type { FindTakingOverStack, OtherStacks } from '../model/stack-tree.ts';
import type { DesiredResource, DesiredState, LiveState } from '../model/state.ts';
import type { PlanningRequest } from '../settings/request.ts';
import type { FindPlannedOutcome } from './cross-stack-references.ts';
import type { SinkOptions } from './new-tokens.ts';
import type { PlanTimes } from './retirement.ts';

/** Why a run keeps what a stack would prune. */
export interface KeptPrunes {
  /** A clause on the stack that is not applied, such as `live/web cannot be read, and might take it over`. */
  readonly why: string;
  /** What deletes the resources now. */
  readonly remedy: string;
}

/** What a run knows about other stacks, and about who applies the plan. */
export interface Surroundings {
  /** Finds a resource of another stack in that stack's plan of the same run. Default: only the live resource counts. */
  readonly findPlanned?: FindPlannedOutcome | undefined;
  /**
   * Finds another stack of the repository that takes over an address for which this stack has no manifest. The plan then
   * keeps the live resource. Default: that of the stack, for the other stacks of its repository.
   */
  readonly findTaker?: FindTakingOverStack | undefined;
  /** The other stacks of the repository. Default: those around the stack. */
  readonly others?: OtherStacks | undefined;
  /** Why resources without a manifest are kept. Default: they are deleted. */
  readonly keptPrunes?: KeptPrunes | undefined;
  /**
   * Whether the same run also applies the given stack. That stack may then drop its reference to a resource before this
   * stack deletes the resource. Default: false for every stack.
   */
  readonly isInRun?: ((stack: string) => boolean) | undefined;
  /** Says what to do about a stack that is referred to and that a run over many stacks does not have. */
  readonly adviseOnOtherStack?: ((stack: string) => string | undefined) | undefined;
  /**
   * Whether what was adopted and never changed is deleted like the rest if its manifest is gone, because a user answers for
   * it. Default: false, and only what `allowAdopted` names is.
   */
  readonly mayDeleteAdopted?: boolean | undefined;
}

/** The complete input of `createPlan`. Nothing else affects the plan. */
export interface PlanInput extends PlanningRequest, Surroundings, PlanTimes, SinkOptions {
  readonly mode: Plan['mode'];
  readonly desired: DesiredState;
  readonly live: LiveState;
  readonly baseUrl: string;
  readonly settings: PlanSettings;
  readonly version: string;
  /** Names of the environment variables by which a token command may choose where it stores a token. Default: none. */
  readonly tokenVariables?: readonly string[] | undefined;
  /** The commit of the manifests. Absent if unknown. */
  readonly commit?: string | undefined;
  /** Addresses in `rotate` whose rotation was approved and is done. They are not replaced again. */
  readonly rotated?: readonly string[] | undefined;
  /** References whose ids are known only after the apply of another stack, by the address of the `External`. */
  readonly awaited?: Plan['crossStackReferences'];
  /**
   * Ids of the resources that the approved plan deletes. An old resource that is due and not among them is left for the
   * next plan. Absent: there is no approved plan.
   */
  readonly approvedDeletes?: ReadonlySet<string> | undefined;
  /** Manifests that are not there, although git has them. Absent: none is known to be missing. */
  readonly missing?: MissingManifests | undefined;
  /** Diagnostics of the manifests, which become part of the plan. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * The desired state of `destroy`: without resources, and without the modules that manifests attach. Modules that no
 * manifest sets are left alone.
 * @example
 * const plan = createPlan({ ...input, desired: createDestroyState(desired), mode: 'destroy' });
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
  const whole = resource.lifecycle.ignore.filter((path) => parseIgnoredPart(path).member === undefined);
  const ignore = [...new Set([...whole, ...unset])];
  return { ...resource, spec: Object.fromEntries(spec), lifecycle: { ...resource.lifecycle, ignore } };
}

/**
 * The desired state of a release: no resources. A release needs no manifests, because it names resources by address.
 * @example
 * const nothing = omitAllDesiredResources(desired);
 */
export function omitAllDesiredResources(desired: DesiredState): DesiredState {
  return { ...desired, resources: new Map() };
}
