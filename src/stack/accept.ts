import { type AcceptResult, acceptDrift } from '../accept/accept-drift.ts';
import { formatDriftName, parseDriftName, resolveNamesInField } from '../accept/parse-name.ts';
import { createReferenceNames } from '../accept/reference-names.ts';
import { type NamedDrift, type SelectedDrift, type SkippedDrift, selectDrift } from '../accept/select-drift.ts';
import { isIdOf, toResourcePath } from '../kinds/paths.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { suggestAddress } from '../manifest/suggest.ts';
import { ApiError } from '../model/errors.ts';
import type { DesiredState } from '../model/state.ts';
import { StackError } from '../model/user-errors.ts';
import { computeDrift } from '../plan/compute-drift.ts';
import type { Surroundings } from '../plan/plan-input.ts';
import type { AccountReader } from './account.ts';
import { createRepeatablePlan, type PlanRequest } from './plan-live.ts';
import type { ValidateEdited } from './read-manifests.ts';

/** Options of `Stack.accept`. */
export interface AcceptOptions extends Omit<Surroundings, 'keptPrunes' | 'mayDeleteAdopted'> {
  /**
   * What to accept: `Kind/name:field` for a field, `Kind/name` for the fields of a resource that have only drifted and
   * have no danger, `Kind/name@id` for the document of a resource that no longer exists. Default: nothing.
   */
  readonly names?: readonly string[];
  /** Whether to accept every field that has only drifted and has no danger. Default: false. */
  readonly all?: boolean;
  readonly signal?: AbortSignal;
}

/** Computes the edits that write what is live into the manifests. Sends GETs only. */
export async function acceptLive(
  reader: AccountReader,
  request: PlanRequest,
  { names = [], all = false, validateEdited }: AcceptOptions & { readonly validateEdited: ValidateEdited },
): Promise<AcceptResult> {
  const parsed = names.map(parseName);
  const { plan, input, planEdited } = await createRepeatablePlan(reader, request);
  const drift = computeDrift(plan, input);
  const { desired } = input;
  const referenceNames = createReferenceNames(drift, desired);
  const named = parsed.map((one) => resolveNamesInField(one, referenceNames));
  const found = selectDrift(drift, { isAll: all, named });
  refuseUnknown(found.unknown, desired);
  const selected = await checkVanished(found, { reader, desired, signal: request.options.signal });
  return acceptDrift({
    drift,
    selected,
    desired,
    names: referenceNames,
    validate: validateEdited,
    compare: (state) => planEdited(state).changes,
  });
}

function parseName(text: string): NamedDrift {
  const named = parseDriftName(text);
  if (named !== undefined) return named;
  const remedy = 'Write Kind/name, or Kind/name:field for one field.';
  throw new StackError(`${text} is not the address of a resource.`, { reason: 'invalid', remedy });
}

function refuseUnknown(unknown: readonly NamedDrift[], { resources }: DesiredState): void {
  const [first] = unknown;
  if (first === undefined) return;
  const { address, field } = first;
  if (field !== undefined && resources.has(address))
    throw new StackError(`${address} has no field ${field}.`, {
      reason: 'invalid',
      remedy: `edgewise explain ${getKind(address.split('/')[0] ?? '').name} lists its fields.`,
    });
  const nearest = suggestAddress(address, [...resources.keys()]);
  throw new StackError(`The manifests have no ${address}.`, {
    reason: 'invalid',
    remedy: nearest === undefined ? 'edgewise drift lists what differs.' : `Did you mean ${nearest}?`,
  });
}

interface VanishedContext {
  readonly reader: AccountReader;
  readonly desired: DesiredState;
  readonly signal: AbortSignal | undefined;
}

/** Refuses to take out the document of a resource unless its own GET answers 404: a list may be late. */
async function checkVanished(selected: SelectedDrift, context: VanishedContext): Promise<SelectedDrift> {
  const refused: SkippedDrift[] = [];
  const vanished: SelectedDrift['vanished'][number][] = [];
  for (const one of selected.vanished) {
    const refusal = await findRefusal(one, context);
    if (refusal === undefined) vanished.push(one);
    else refused.push({ change: one.change, dangers: [], ...refusal });
  }
  return { ...selected, vanished, refused: [...selected.refused, ...refused] };
}

async function findRefusal(
  { change, ...named }: SelectedDrift['vanished'][number],
  { reader, desired, signal }: VanishedContext,
): Promise<Pick<SkippedDrift, 'reason' | 'remedy'> | undefined> {
  const kind = getKind(change.kind);
  const id = named.id ?? desired.resources.get(change.address)?.lifecycle.adopt;
  if (id === undefined)
    return {
      reason: 'is not in the list of the service, and its id is not known, so it cannot be read by itself',
      remedy: `Name its id, from an earlier report: ${formatDriftName({ ...named, id: `${kind.idPrefix}_…` })}`,
    };
  if (!isIdOf({ prefixes: [kind.idPrefix] }, id))
    return { reason: `has no id such as ${id}`, remedy: `Its id begins with ${kind.idPrefix}_.` };
  try {
    await reader.get(toResourcePath(kind, { id }), signal);
  } catch (error) {
    if (error instanceof ApiError && error.response.status === 404) return undefined;
    throw error;
  }
  return { reason: `exists: the service has ${id}`, remedy: 'Wait a minute, and look at drift again.' };
}
