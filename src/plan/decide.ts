import { parseDurationMs, renderTimeSpan } from '../kinds/duration.ts';
import { isRotatable } from '../kinds/kind.ts';
import { formatKindTitles } from '../kinds/tables/registry.ts';
import { suggestAddress } from '../manifest/suggest.ts';
import type { Address } from '../model/address.ts';
import type { Action, Difference } from '../model/change.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { assertDefined } from '../model/errors.ts';
import type { Mark } from '../model/mark.ts';
import type { Plan } from '../model/plan.ts';
import { findSink, type SinkSettings, type TokenSettings } from '../model/stack.ts';
import type { DesiredResource, LiveResource, Spec } from '../model/state.ts';
import { describeSink, type TokenPlace } from '../model/token-place.ts';
import { computeDesiredForm, type DesiredForm, type KnownIds, listAwaited, withLive } from './desired-form.ts';
import { type ComparedResource, type FieldDifference, listDifferences, listSpecDifferences } from './differences.ts';
import type { Pair } from './match.ts';
import { findValidForMs, listLengthDifference, readTime } from './validity.ts';

/** A pair with the decision about it. */
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

/** The input of a decision, in addition to the desired and the live state. */
interface DecisionContext extends RenewalContext {
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
    // Without a field that forces it, only a credential whose token was never delivered is replaced: nothing uses it.
    if (pair.by !== 'adopt' || action !== 'replace' || forcing.length === 0 || pair.desired === undefined) return [];
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

/** A resource that is adopted or taken over cannot be rotated: it is not ours yet. */
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
  const asked = computeDesiredForm(pair.kind, desired, live, ids);
  if (live === undefined) return { ...plain, action: 'create', reason: undefined, form: asked };
  const compared = toCompared({ ...pair, desired, live }, asked, context);
  const kept = context.keepDrift ? listDrifted(listSpecDifferences(compared)) : [];
  const form = kept.length === 0 ? asked : withLive(pair.kind, asked, live, kept);
  const differences = listDifferences({ ...compared, normal: form.normal, kept });
  const renewal = findRenewal(pair, form.written, context);
  const action = toAction(pair, differences, renewal.reason !== undefined);
  const notes = [...(action === 'replace' ? [] : renewal.notes), ...describeKept(kept)];
  const reasons = [toMoveReason(pair, context.stack), renewal.reason].filter((reason) => reason !== undefined);
  const reason = reasons.length === 0 ? undefined : reasons.join('; ');
  return { pair, action, reason, differences, notes, kept, form };
}

/** What its differences follow from. */
function toCompared(
  { address, kind, desired, live }: Pair & { readonly desired: DesiredResource; readonly live: LiveResource },
  { normal }: DesiredForm,
  { stack }: DecisionContext,
): ComparedResource {
  return {
    kind,
    address,
    stack,
    live,
    normal,
    ignored: desired.lifecycle.ignore,
    kept: [],
    validForMs: findValidForMs(kind, desired),
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
  if (by === 'duplicate') return 'a duplicate: another resource has the same mark';
  return mode === 'destroy' ? undefined : 'no longer in the manifests';
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
        ? `Name a ${formatKindTitles(isRotatable)} that the manifests describe, as Kind/name.`
        : `Did you mean \`${nearest}\`?`,
  };
}

/** The input of renewals, in addition to the manifests. */
interface RenewalContext {
  readonly now: Date;
  /** Addresses that are to be replaced though nothing differs. */
  readonly rotate: readonly string[];
}

/** Whether an existing resource is due for renewal. */
interface Renewal {
  /** Why it is to be replaced though no field differs. */
  readonly reason: string | undefined;
  /** When its time will come. */
  readonly notes: readonly string[];
}

const NOTHING: Renewal = { reason: undefined, notes: [] };

/** A live resource that a manifest describes, seen at a time. */
interface Subject extends Pair {
  readonly desired: DesiredResource;
  readonly live: LiveResource;
}

/** Whether a live resource is due for renewal. An adopted one is renewed only once the stack owns it, unless it is handed over without its token; one of another
 * length is replaced anyway. */
export function findRenewal(pair: Pair, written: Spec, context: RenewalContext): Renewal {
  const { desired, live } = pair;
  if (desired === undefined || live === undefined || pair.by === 'attachment') return NOTHING;
  const subject = { ...pair, desired, live };
  const loss = pair.by === 'mark' || isHandedOver(subject) ? findLoss(subject) : undefined;
  const due = loss ?? (pair.by === 'mark' ? findRequest(subject, context) : undefined);
  if (due !== undefined) return { ...NOTHING, reason: due };
  const validForMs = findValidForMs(pair.kind, desired);
  if (listLengthDifference({ kind: pair.kind, live, validForMs }).length > 0) return NOTHING;
  const timed = findEnd(subject, written, context.now) ?? findAge(subject, context.now) ?? NOTHING;
  return pair.by === 'mark' || timed.reason === undefined ? timed : toLater(timed.reason);
}

/** A warning for each certificate that would be, or stays, expired because its manifest says when it ends. */
export function listExpiredManifests(pair: Pair, written: Spec, now: Date): readonly Diagnostic[] {
  const { kind, desired, address } = pair;
  const end = readTime(written, kind.validity?.until);
  if (kind.validity === undefined || desired === undefined || end === undefined) return [];
  const leftMs = end - now.getTime();
  const isSoon = leftMs > 0 && leftMs <= toWarningMs(pair, desired, { ...pair.live?.spec, ...written });
  if (leftMs > 0 && !isSoon) return [];
  const when = isSoon ? `ends in ${renderTimeSpan(leftMs)}` : `ended ${renderTimeSpan(-leftMs)} ago`;
  return [
    {
      code: 'certificate-expiring',
      severity: 'warning',
      message: `${address}: its spec.${kind.validity.until} ${when}; a new one would end at the same time`,
      remedy: `Change spec.${kind.validity.until}, or use lifecycle.valid_for instead of times.`,
      address,
      place: desired.locate(['spec', kind.validity.until]),
    },
  ];
}

/** The last tenth of a validity counts as near its end: nine days of ninety, so that a weekly apply warns before it. */
export const EXPIRY_WARNING_SHARE = 0.1;

/** How long before its stated end there is a warning: the renewal period if one is set, else the default share. */
function toWarningMs({ kind }: Pair, desired: DesiredResource, spec: Spec): number {
  if (desired.lifecycle.settings['renew_before'] !== undefined) return toSettingMs(desired, 'renew_before');
  const after = readTime(spec, kind.validity?.after);
  const until = readTime(spec, kind.validity?.until);
  return after === undefined || until === undefined ? 0 : (until - after) * EXPIRY_WARNING_SHARE;
}

/** It bears the mark of another stack, which does not describe it any more: nobody else would deliver its token. */
function isHandedOver({ by, live }: Subject): boolean {
  return by === 'adopt' && live.mark !== undefined;
}

/** A token that was not delivered, or may be the wrong one. */
function findLoss({ kind, live, hasUndelivered }: Subject): string | undefined {
  if (kind.oneTimeFields.length === 0) return undefined;
  if (live.mark?.delivered !== true)
    return 'nothing shows that its token was delivered, and the token cannot be read again';
  return hasUndelivered
    ? 'a replacement of it was interrupted, and it is unknown which of the two tokens was delivered'
    : undefined;
}

function findRequest({ address }: Subject, { rotate }: RenewalContext): string | undefined {
  return rotate.includes(address) ? 'requested with --rotate' : undefined;
}

/** An end that the manifest sets does not cause a replace: the new resource would end at the same time. */
function findEnd({ kind, desired, live }: Subject, written: Spec, now: Date): Renewal | undefined {
  const until = readTime(live.spec, kind.validity?.until);
  if (until === undefined || kind.validity === undefined) return undefined;
  const leftMs = until - now.getTime();
  const left = renderTimeSpan(leftMs);
  if (readTime(written, kind.validity.until) !== undefined)
    return leftMs > 0 ? toNote(`expires in ${left}`) : toNote(`expired ${renderTimeSpan(-leftMs)} ago`);
  if (leftMs <= 0) return toReason(`it expired ${renderTimeSpan(-leftMs)} ago`);
  const renewBefore = desired.lifecycle.settings['renew_before'];
  const waitMs = leftMs - toSettingMs(desired, 'renew_before');
  if (renewBefore === undefined) return toNote(`expires in ${left}, and is renewed then`);
  if (waitMs > 0) return toNote(`renews in ${renderTimeSpan(waitMs)}`);
  return toReason(`it expires in ${left}, and is renewed ${String(renewBefore)} before that`);
}

function findAge({ desired, live }: Subject, now: Date): Renewal | undefined {
  const limitMs = toSettingMs(desired, 'rotate_after');
  if (limitMs === 0) return undefined;
  const created = Date.parse(live.createdAt);
  if (Number.isNaN(created)) return undefined;
  const ageMs = now.getTime() - created;
  if (ageMs < limitMs) return toNote(`rotates in ${renderTimeSpan(limitMs - ageMs)}`);
  return toReason(
    `it is ${renderTimeSpan(ageMs)} old, and is rotated after ${String(desired.lifecycle.settings['rotate_after'])}`,
  );
}

function toReason(reason: string): Renewal {
  return { ...NOTHING, reason };
}

function toNote(note: string): Renewal {
  return { ...NOTHING, notes: [note] };
}

function toLater(reason: string): Renewal {
  return toNote(`${reason}: the next apply replaces it`);
}

/** 0 when the manifest does not say it. */
function toSettingMs({ lifecycle }: DesiredResource, name: string): number {
  const text = lifecycle.settings[name];
  return typeof text === 'string' ? (parseDurationMs(text) ?? 0) : 0;
}

/** The sink of the token of a credential that is created. */
export function findTokenPlace(decision: Decision, settings: TokenSettings): TokenPlace | undefined {
  const sink = givesToken(decision) ? findOwnSink(decision, settings) : undefined;
  return sink && describeSink(sink);
}

/** Notes on what happens to the token of a credential that is there already. */
export function describeTokens(decision: Decision): readonly string[] {
  if (decision.pair.kind.oneTimeFields.length === 0) return [];
  const { formerName, live } = decision.pair;
  if (decision.action === 'adopt') return [describeAdoptedToken(live?.mark)];
  return decision.action === 'update' && formerName !== undefined ? [TOKEN_STAYS] : [];
}

/** A mark says that a token is in use, not who delivered it: the credential may have been adopted. */
function describeAdoptedToken(mark: Mark | undefined): string {
  return mark === undefined
    ? 'its token is unknown: the service showed it only once, when it was created'
    : TOKEN_STAYS;
}

const TOKEN_STAYS = 'its token stays where it is: no file is moved';

/** A warning for each credential that would be created with no place for its token. Apply refuses such a plan. */
export function listTokensWithoutSink(decisions: readonly Decision[], settings: TokenSettings): readonly Diagnostic[] {
  const lost = decisions.filter((decision) => givesToken(decision) && findOwnSink(decision, settings) === undefined);
  return lost.map(({ pair: { address, desired } }) => ({
    code: 'token-sink-missing',
    severity: 'warning',
    message: `${address} would be created, but no token sink is set for it, and the service shows the token only once`,
    remedy:
      'Set spec.tokens in the Stack, or apply with --token-directory or --token-command. Otherwise apply refuses this plan.',
    address,
    ...(desired !== undefined && { place: desired.locate() }),
  }));
}

function givesToken({ pair, action }: Decision): boolean {
  return (action === 'create' || action === 'replace') && pair.kind.oneTimeFields.length > 0;
}

function findOwnSink({ pair }: Decision, settings: TokenSettings): SinkSettings | undefined {
  return findSink(settings, pair.desired?.name ?? '');
}
