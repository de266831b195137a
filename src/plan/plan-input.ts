import { parseIgnoredPart } from '../kinds/ignored-parts.ts';
import { isModule } from '../kinds/kind.ts';
import { getKind } from '../kinds/tables/registry.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { MissingManifests, Plan, PlanSettings } from '../model/plan.ts';
import type { FindTakingOverStack, OtherStacks } from '../model/stack-tree.ts';
import type { DesiredResource, DesiredState, LiveState } from '../model/state.ts';
import type { SinkOptions } from './new-tokens.ts';
import type { RenewalContext } from './renewal.ts';
import type { RetirementOptions } from './retirement.ts';

/** Why a run keeps what a stack would prune. */
export interface KeptPrunes {
  /** A clause on the unknown stack, such as `live/web cannot be read, and might take it over`. */
  readonly why: string;
  /** What deletes the resources now. */
  readonly remedy: string;
}

/** The adopted resources that may be deleted because their manifests are gone: all of them if the user is asked. */
export type AllowedAdopted = readonly string[] | 'asked';

/** The complete input of `createPlan`. Nothing else affects the plan. */
export interface PlanInput extends RenewalContext, RetirementOptions, SinkOptions {
  readonly desired: DesiredState;
  readonly live: LiveState;
  readonly baseUrl: string;
  readonly settings: PlanSettings;
  readonly version: string;
  /** Names of the environment variables by which a token command may choose where it stores a token. Default: none. */
  readonly tokenVariables?: readonly string[] | undefined;
  /** Addresses to which the plan is limited. Empty: the whole stack. */
  readonly targets: readonly string[];
  /** Addresses that the plan leaves out, together with everything that depends on them (`--exclude`). */
  readonly exclusions?: readonly string[] | undefined;
  /** The other stacks of the repository. Default: none is known. */
  readonly others?: OtherStacks | undefined;
  /** The commit of the manifests. Absent if unknown. */
  readonly commit?: string | undefined;
  /** Addresses in `rotate` whose rotation was approved and is done. They are not replaced again. */
  readonly rotated?: readonly string[] | undefined;
  /** References whose ids are known only after the apply of another stack, by the address of the `External`. */
  readonly awaited?: Plan['crossStackReferences'];
  /**
   * Finds another stack of the repository that takes over an address for which this stack has no manifest. The plan then
   * keeps the live resource.
   */
  readonly findTaker?: FindTakingOverStack | undefined;
  /**
   * Addresses of adopted resources, on which edgewise has changed nothing, that are deleted if they have no manifest.
   * `asked`: all, because the user is asked. Default: they are kept.
   */
  readonly allowAdopted?: AllowedAdopted | undefined;
  /** Keeps resources that have no manifest, because another stack of the run is unknown. Absent: they are deleted. */
  readonly keptPrunes?: KeptPrunes | undefined;
  /** Manifests that are not there, although git has them. Absent: none is known to be missing. */
  readonly missing?: MissingManifests | undefined;
  /** Whether the stack with this name is part of the run. Default: no other stack is. */
  readonly isInRun?: ((stack: string) => boolean) | undefined;
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
