import { KEY_VARIABLE } from '../../model/api-key.ts';
import { hasErrors, type Locate } from '../../model/diagnostic.ts';
import type { Plan } from '../../model/plan.ts';
import type { StackSettings } from '../../model/stack.ts';
import type { DesiredState } from '../../model/state.ts';
import type { Policy } from '../../policy/policy.ts';
import { isEmbedded } from '../../stack/embedded-url.ts';
import { loadPolicies } from '../../stack/load-policies.ts';
import { readValidManifests } from '../../stack/read-manifests.ts';
import { type ConnectionFlags, type RunSettings, resolveSettings } from '../../stack/settings.ts';
import { InvalidManifests } from '../../stack/stack-error.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT } from '../exit-code.ts';
import { toPlanLocate } from './plan-file.ts';

/** What `--stack` names: manifests whose Stack says what a plan file must not, where tokens go, and where the API key may be sent. */
export interface NamedStack {
  readonly settings: StackSettings | undefined;
  /** The ids that those manifests have names for. */
  readonly externals: ReadonlyMap<string, string>;
  /** Of the manifests that were named, or of the plan file. */
  readonly locate: Locate;
  /** What those manifests say; absent: none were named, or a command would print them, which a plan that is made already has no need of. */
  readonly state: DesiredState | undefined;
  /** Those among the manifests, those that their Stack names, and those that were named besides. */
  readonly policies: readonly Policy[];
}

/** The Stack that goes with a saved plan, of the manifests that were named. */
export async function readStack(
  file: string,
  { stack: paths = [], policies: apart = [] }: SavedRun['flags'],
  context: Context,
): Promise<NamedStack> {
  if (paths.length === 0) {
    const { policies, diagnostics } = await loadPolicies({ documents: [], sources: [], paths: apart }, context);
    if (hasErrors(diagnostics)) throw new InvalidManifests(diagnostics);
    return { settings: undefined, externals: new Map(), locate: toPlanLocate(file), state: undefined, policies };
  }
  const read = await readValidManifests(paths, context, { policies: apart, isRendered: false });
  const { state, policies, locate, isPartial } = read;
  return { settings: state.stack, externals: state.externals, locate, state: isPartial ? undefined : state, policies };
}

/** What is known besides a plan file of how to reach the service. */
export interface SavedRun {
  readonly flags: ConnectionFlags & { readonly stack?: readonly string[]; readonly policies?: readonly string[] };
  readonly stack: StackSettings | undefined;
  readonly context: Context;
}

/**
 * How to reach the service that a plan was made for. A file that was edited could name another one, which would then get the key:
 * somebody else has to name it too, but for the embedded server.
 */
export function resolvePlanSettings(file: string, plan: Plan, { flags, stack, context }: SavedRun): RunSettings {
  if (stack !== undefined && stack.name !== plan.stack) {
    const message = `${file} was made for the stack ${plan.stack}, and ${(flags.stack ?? []).join(', ')} is the stack ${stack.name}.`;
    throw new CommandError(message, { exitCode: EXIT.stale, remedy: 'Name the manifests that it was made of.' });
  }
  const own = isEmbedded(plan.baseUrl) ? plan.baseUrl : undefined;
  const { baseUrl = own, timeouts, caFile, keyEnv } = stack?.api ?? {};
  const settings = resolveSettings(flags, context.env, { ...plan.settings, baseUrl, timeouts, caFile, keyEnv });
  refuseOtherKey(file, plan, stack);
  if (settings.baseUrl === plan.baseUrl) return settings;
  const message = `${file} was made for ${plan.baseUrl}, not for ${settings.baseUrl}.`;
  throw new CommandError(message, { exitCode: EXIT.stale, remedy: 'Make a new plan.' });
}

/** A plan of another account would create everything anew there. Which key that is, a file that was edited must not choose. */
function refuseOtherKey(file: string, { settings, baseUrl }: Plan, stack: StackSettings | undefined): void {
  const { keyEnv } = settings;
  if (isEmbedded(baseUrl) || keyEnv === stack?.api.keyEnv) return;
  const made = `${file} was made with the key in ${keyEnv ?? KEY_VARIABLE}`;
  if (stack !== undefined) {
    const message = `${made}, and the Stack names ${stack.api.keyEnv ?? KEY_VARIABLE}.`;
    throw new CommandError(message, { exitCode: EXIT.stale, remedy: 'Make a new plan.' });
  }
  throw new CommandError(`${made}, which a plan file alone cannot choose.`, {
    exitCode: EXIT.invalid,
    remedy: 'Name the manifests of its stack with --stack.',
  });
}

/** Refuses a plan that calls another id by a name than the manifests do: whoever approved it has read the name. */
export function refuseOtherNames(file: string, plan: Plan, { externals }: Pick<NamedStack, 'externals'>): void {
  for (const [address, id] of Object.entries(plan.externals)) {
    const named = externals.get(address);
    if (named === undefined || named === id) continue;
    const message = `${file} calls ${id} ${address}, and in the manifests ${address} is ${named}.`;
    throw new CommandError(message, { exitCode: EXIT.stale, remedy: 'Make a new plan.' });
  }
}
