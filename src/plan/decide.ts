import { listOneTimeFields } from '../kinds/kind.ts';
import type { Action, Difference } from '../model/change.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { assertDefined } from '../model/errors.ts';
import type { Plan } from '../model/plan.ts';
import type { DesiredResource, LiveResource } from '../model/state.ts';
import { toOrigin } from './attribute.ts';
import { type DesiredForm, type KnownIds, listAwaited, toDesiredForm } from './desired-form.ts';
import { diffSpecs } from './diff.ts';
import type { Pair } from './match.ts';

/** A pair with what was decided about it. */
export interface Decision {
  readonly pair: Pair;
  readonly action: Action;
  /** Why, when the differences don't say it. */
  readonly reason: string | undefined;
  readonly differences: readonly Difference[];
  /** Absent for deletes. */
  readonly form: DesiredForm | undefined;
}

/** Decides the action of every pair, referenced resources first, since a new id changes who refers to it. */
export function decideActions(pairs: readonly Pair[], mode: Plan['mode']): readonly Decision[] {
  const byAddress = new Map(pairs.map((pair) => [pair.address, pair]));
  const decided = new Map<string, Decision>();
  const ids = new Map<string, string>();
  const visit = (pair: Pair): void => {
    if (decided.has(pair.address)) return;
    for (const address of listReferenced(pair)) {
      const referenced = byAddress.get(address);
      if (referenced !== undefined) visit(referenced);
    }
    const decision = decideAction(pair, ids, mode);
    decided.set(pair.address, decision);
    if (keepsItsId(decision) && pair.live !== undefined) ids.set(pair.address, pair.live.id);
  };
  pairs.forEach(visit);
  return pairs.map(({ address }) => assertDefined(decided.get(address), `decision on ${address}`));
}

/** What can't be done in the way that a manifest asks for. */
export function listRefusals(decisions: readonly Decision[]): readonly Diagnostic[] {
  return decisions.flatMap(({ pair, action, differences }) => {
    const forcing = differences.filter(({ forcesReplace }) => forcesReplace).map(({ path }) => path);
    if (pair.by !== 'adopt' || action !== 'replace' || pair.desired === undefined) return [];
    return [toAdoptionRefusal(pair.desired, forcing)];
  });
}

function decideAction(pair: Pair, ids: KnownIds, mode: Plan['mode']): Decision {
  const { desired, live } = pair;
  if (desired === undefined)
    return { pair, action: 'delete', reason: toDeleteReason(pair, mode), differences: [], form: undefined };
  const form = toDesiredForm(pair.kind, desired, live, ids);
  if (live === undefined) return { pair, action: 'create', reason: undefined, differences: [], form };
  const differences = [...listDifferences(pair, live, form), ...listProtectDifference(pair, desired, live)];
  const isLost = isTokenLost(pair, live);
  const reason = isLost ? 'nothing says that its token was delivered, and it can not be read again' : undefined;
  return { pair, action: toAction(pair, differences, isLost), reason, differences, form };
}

function toAction(pair: Pair, differences: readonly Difference[], isLost: boolean): Action {
  if (isLost || differences.some(({ forcesReplace }) => forcesReplace)) return 'replace';
  if (pair.by === 'adopt') return 'adopt';
  return differences.length > 0 ? 'update' : 'no-op';
}

function listDifferences(pair: Pair, live: LiveResource, form: DesiredForm): readonly Difference[] {
  return diffSpecs(pair.kind, live.spec, form.normal).map(({ field, ...difference }) => {
    const origin = toOrigin(pair.kind, field, { desired: form.normal, live: live.spec, mark: live.mark });
    return { ...difference, origin };
  });
}

function listProtectDifference(pair: Pair, desired: DesiredResource, live: LiveResource): readonly Difference[] {
  const from = live.mark?.protect ?? false;
  const to = desired.lifecycle.protect;
  if (pair.by === 'attachment' || from === to) return [];
  return [{ path: 'lifecycle.protect', from, to, origin: 'manifest', forcesReplace: false }];
}

/** A credential of ours whose token may never have reached its sink: the token can't be read again, so the credential is worthless. */
function isTokenLost(pair: Pair, live: LiveResource): boolean {
  return pair.by === 'mark' && listOneTimeFields(pair.kind).length > 0 && live.mark?.delivered !== true;
}

function toDeleteReason({ by }: Pair, mode: Plan['mode']): string | undefined {
  if (by === 'duplicate') return 'a duplicate: another resource bears the same mark';
  return mode === 'destroy' ? undefined : 'not in the manifests any more';
}

function keepsItsId({ action }: Decision): boolean {
  return action === 'update' || action === 'adopt' || action === 'no-op';
}

function listReferenced(pair: Pair): readonly string[] {
  return pair.desired === undefined ? [] : listAwaited(pair.kind, pair.desired.spec);
}

function toAdoptionRefusal(desired: DesiredResource, forcing: readonly string[]): Diagnostic {
  return {
    code: 'adopt-replaces',
    severity: 'error',
    message: `${desired.address}: adopting ${desired.lifecycle.adopt} would replace it, because ${forcing.join(' and ')} can not be changed`,
    remedy: 'Write the live values into the manifest and adopt it first.',
    address: desired.address,
    place: desired.locate(['lifecycle', 'adopt']),
  };
}
