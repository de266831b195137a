import { isRotatable } from '../kinds/kind.ts';
import type { Action, Difference } from '../model/change.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { assertDefined } from '../model/errors.ts';
import type { Plan } from '../model/plan.ts';
import type { DesiredResource, LiveResource } from '../model/state.ts';
import { toOrigin } from './attribute.ts';
import { type DesiredForm, type KnownIds, listAwaited, toDesiredForm } from './desired-form.ts';
import { diffSpecs } from './diff.ts';
import type { Pair } from './match.ts';
import { findRenewal, listExpiredManifests, type RenewalContext } from './renew.ts';

/** A pair with what was decided about it. */
export interface Decision {
  readonly pair: Pair;
  readonly action: Action;
  /** Why, when the differences don't say it. */
  readonly reason: string | undefined;
  readonly differences: readonly Difference[];
  /** What else who approves should know. */
  readonly notes: readonly string[];
  /** Absent for deletes. */
  readonly form: DesiredForm | undefined;
}

/** What decides besides what is desired and what is live. */
export interface DecisionContext extends RenewalContext {
  readonly mode: Plan['mode'];
}

/** Decides the action of every pair, referenced resources first, since a new id changes who refers to it. */
export function decideActions(pairs: readonly Pair[], context: DecisionContext): readonly Decision[] {
  const byAddress = new Map(pairs.map((pair) => [pair.address, pair]));
  const decided = new Map<string, Decision>();
  const ids = new Map<string, string>();
  const visit = (pair: Pair): void => {
    if (decided.has(pair.address)) return;
    for (const address of listReferenced(pair)) {
      const referenced = byAddress.get(address);
      if (referenced !== undefined) visit(referenced);
    }
    const decision = decideAction(pair, ids, context);
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

/** Warnings on certificates that stay expired whatever is done, and errors on what can't be rotated. */
export function listRenewalDiagnostics(
  decisions: readonly Decision[],
  { now, rotate }: RenewalContext,
): readonly Diagnostic[] {
  const rotatable = new Set(decisions.filter(({ pair }) => canRotate(pair)).map(({ pair }) => pair.address));
  return [
    ...rotate.filter((address) => !rotatable.has(address)).map(toRotationRefusal),
    ...decisions.flatMap(({ pair, form }) => (form === undefined ? [] : listExpiredManifests(pair, form.written, now))),
  ];
}

/** What is taken over is not ours yet. */
function canRotate({ kind, desired, by }: Pair): boolean {
  return desired !== undefined && by === 'mark' && isRotatable(kind);
}

function decideAction(pair: Pair, ids: KnownIds, context: DecisionContext): Decision {
  const { desired, live } = pair;
  const plain = { pair, differences: [], notes: [] };
  if (desired === undefined)
    return { ...plain, action: 'delete', reason: toDeleteReason(pair, context.mode), form: undefined };
  const form = toDesiredForm(pair.kind, desired, live, ids);
  if (live === undefined) return { ...plain, action: 'create', reason: undefined, form };
  const renewal = findRenewal(pair, form.written, context);
  const differences = [
    ...listDifferences(pair, live, form),
    ...renewal.differences,
    ...listProtectDifference(pair, desired, live),
  ];
  const action = toAction(pair, differences, renewal.reason !== undefined);
  const notes = action === 'replace' ? [] : renewal.notes;
  return { pair, action, reason: renewal.reason, differences, notes, form };
}

function toAction(pair: Pair, differences: readonly Difference[], isDue: boolean): Action {
  if (isDue || differences.some(({ forcesReplace }) => forcesReplace)) return 'replace';
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

function toRotationRefusal(address: string): Diagnostic {
  return {
    code: 'rotate-refused',
    severity: 'error',
    message: `${address} can not be rotated: it is not in this plan, or of a kind that has nothing to rotate`,
    remedy: 'Name a credential or an SSH user certificate that the manifests describe: Credential/name.',
  };
}
