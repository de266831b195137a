import { isRotatable } from '../kinds/kind.ts';
import { toTitles } from '../kinds/tables/registry.ts';
import { suggestAddress } from '../manifest/suggest.ts';
import type { Address } from '../model/address.ts';
import type { Action, Difference } from '../model/change.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { assertDefined } from '../model/errors.ts';
import type { Plan } from '../model/plan.ts';
import type { DesiredResource, LiveResource } from '../model/state.ts';
import { assumeApplied } from './assume-applied.ts';
import { type DesiredForm, type KnownIds, listAwaited, toDesiredForm, withLive } from './desired-form.ts';
import { type Compared, type FieldDifference, listDifferences, listSpecDifferences } from './differences.ts';
import type { Pair } from './match.ts';
import { findRenewal, listExpiredManifests, type RenewalContext } from './renew.ts';
import { toValidForMs } from './validity.ts';

/** A pair with what was decided about it. */
export interface Decision {
  readonly pair: Pair;
  readonly action: Action;
  /** The reason, when the differences do not show it. */
  readonly reason: string | undefined;
  readonly differences: readonly Difference[];
  /** Notes for those who approve. */
  readonly notes: readonly string[];
  /** Fields that only drifted, and are left so. */
  readonly kept: readonly string[];
  /** Absent for deletes. */
  readonly form: DesiredForm | undefined;
}

/** What decides besides what is desired and what is live. */
export interface DecisionContext extends RenewalContext {
  readonly mode: Plan['mode'];
  readonly stack: string;
  /** Leaves alone fields that have only drifted. */
  readonly keepDrift: boolean;
}

/** Decides the action of every pair, referenced resources first, since a new id changes who refers to it. */
export function decideActions(pairs: readonly Pair[], context: DecisionContext): readonly Decision[] {
  const byAddress = new Map(pairs.filter(({ by }) => by !== 'duplicate').map((pair) => [pair.address, pair]));
  const decided = new Map<Pair, Decision>();
  const ids = new Map<string, string>();
  const visit = (pair: Pair): void => {
    if (decided.has(pair)) return;
    for (const address of listReferenced(pair)) {
      const referenced = byAddress.get(address);
      if (referenced !== undefined) visit(referenced);
    }
    const decision = decideAction(pair, ids, context);
    decided.set(pair, decision);
    if (keepsItsId(decision) && pair.live !== undefined) ids.set(pair.address, pair.live.id);
  };
  pairs.forEach(visit);
  return pairs.map((pair) => assertDefined(decided.get(pair), `decision on ${pair.address}`));
}

/** Errors about what a manifest asks for and cannot be done. */
export function listRefusals(decisions: readonly Decision[]): readonly Diagnostic[] {
  return decisions.flatMap(({ pair, action, differences }) => {
    const forcing = differences.filter(({ forcesReplace }) => forcesReplace).map(({ path }) => path);
    if (pair.by !== 'adopt' || action !== 'replace' || pair.desired === undefined) return [];
    return [toAdoptionRefusal(pair.desired, pair.live?.id ?? '', forcing)];
  });
}

/** Warnings on certificates that stay expired whatever is done, and errors on what cannot be rotated. */
export function listRenewalDiagnostics(
  decisions: readonly Decision[],
  { now, rotate }: RenewalContext,
): readonly Diagnostic[] {
  const rotatable = new Set<string>(decisions.filter(({ pair }) => canRotate(pair)).map(({ pair }) => pair.address));
  return [
    ...rotate.filter((address) => !rotatable.has(address)).map((address) => toRotationRefusal(address, rotatable)),
    ...decisions.flatMap(({ pair, form }) => (form === undefined ? [] : listExpiredManifests(pair, form.written, now))),
  ];
}

/** What is taken over is not ours yet. */
function canRotate({ kind, desired, by }: Pair): boolean {
  return desired !== undefined && by === 'mark' && isRotatable(kind);
}

function decideAction(pair: Pair, ids: KnownIds, context: DecisionContext): Decision {
  const { desired, live } = pair;
  const plain = { pair, differences: [], notes: [], kept: [] };
  if (desired === undefined && context.mode === 'release')
    return { ...plain, action: 'release', reason: 'only its mark is removed', form: undefined };
  if (desired === undefined)
    return { ...plain, action: 'delete', reason: toDeleteReason(pair, context.mode), form: undefined };
  const asked = toDesiredForm(pair.kind, desired, live, ids);
  if (live === undefined) return { ...plain, action: 'create', reason: undefined, form: asked };
  const compared = toCompared({ ...pair, desired, live }, asked, context);
  const kept = context.keepDrift ? listDrifted(listSpecDifferences(compared)) : [];
  const form = kept.length === 0 ? asked : withLive(pair.kind, asked, live, kept);
  const differences = listDifferences({ ...compared, normal: form.normal, kept });
  const renewal = findRenewal(pair, form.written, context);
  const action = toAction(pair, differences, renewal.reason !== undefined);
  const notes = [
    ...(action === 'replace' ? [] : renewal.notes),
    ...describeKept(kept),
    ...describeUnproven(assumeApplied(compared, live, asked.normal).unproven),
  ];
  return { pair, action, reason: renewal.reason ?? toMoveReason(pair, context.stack), differences, notes, kept, form };
}

/** What its differences follow from. */
function toCompared(
  { address, kind, desired, live }: Pair & { readonly desired: DesiredResource; readonly live: LiveResource },
  { normal }: DesiredForm,
  { stack }: DecisionContext,
): Compared {
  return {
    kind,
    address,
    stack,
    live,
    normal,
    ignored: desired.lifecycle.ignore,
    kept: [],
    validForMs: toValidForMs(kind, desired),
    protect: desired.lifecycle.protect,
  };
}

/** Top-level fields that differ only because they drifted. */
function listDrifted(found: readonly FieldDifference[]): readonly string[] {
  return [...new Set(found.filter(({ origin }) => origin === 'drift').map(({ field }) => field))];
}

function describeKept(kept: readonly string[]): readonly string[] {
  return kept.length === 0 ? [] : [`drift that is not reverted: ${kept.join(', ')}`];
}

function describeUnproven(unproven: readonly string[]): readonly string[] {
  if (unproven.length === 0) return [];
  return [`not shown by the service, assumed to match the manifest: ${unproven.join(', ')}`];
}

function toAction(pair: Pair, differences: readonly Difference[], isDue: boolean): Action {
  if (isDue || differences.some(({ forcesReplace }) => forcesReplace)) return 'replace';
  if (pair.by === 'adopt') return 'adopt';
  return differences.length > 0 ? 'update' : 'no-op';
}

/** The former name or stack of a resource that is renamed or taken over. */
function toMoveReason({ kind, formerName, live, by }: Pair, stack: string): string | undefined {
  if (formerName !== undefined) return `renamed from ${kind.name}/${formerName}`;
  const mark = by === 'adopt' ? live?.mark : undefined;
  if (mark === undefined || mark.stack === stack) return undefined;
  return `taken over from the stack ${mark.stack}, where it is ${kind.name}/${mark.name}`;
}

function toDeleteReason({ by }: Pair, mode: Plan['mode']): string | undefined {
  if (by === 'duplicate') return 'a duplicate: another resource carries the same mark';
  return mode === 'destroy' ? undefined : 'not in the manifests any more';
}

function keepsItsId({ action }: Decision): boolean {
  return action === 'update' || action === 'adopt' || action === 'no-op';
}

function listReferenced(pair: Pair): readonly Address[] {
  return pair.desired === undefined ? [] : listAwaited(pair.kind, pair.desired.spec);
}

function toAdoptionRefusal(desired: DesiredResource, id: string, forcing: readonly string[]): Diagnostic {
  return {
    code: 'adopt-replaces',
    severity: 'error',
    message: `${desired.address}: adopting ${id} would replace it, because ${forcing.join(' and ')} cannot be changed`,
    remedy: 'Write the live values into the manifest and adopt it first.',
    address: desired.address,
    place: desired.locate(desired.lifecycle.adopt === undefined ? ['spec'] : ['lifecycle', 'adopt']),
  };
}

function toRotationRefusal(address: string, rotatable: ReadonlySet<string>): Diagnostic {
  const nearest = suggestAddress(address, [...rotatable]);
  return {
    code: 'rotate-refused',
    severity: 'error',
    message: `${address} cannot be rotated: it is not in this plan, or its kind cannot be rotated`,
    remedy:
      nearest === undefined
        ? `Name a ${toTitles(isRotatable)} that the manifests describe, as Kind/name.`
        : `Did you mean \`${nearest}\`?`,
  };
}
