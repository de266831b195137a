import { AS_WRITTEN, canonical } from '../kinds/canonical.ts';
import { diff } from '../kinds/diff.ts';
import { renderTimeSpan } from '../kinds/duration.ts';
import { findFixedEnd } from '../kinds/fixed-end.ts';
import { mapReferencesInIgnoredPath, parseIgnoredPart, takeIgnoredParts } from '../kinds/ignored-parts.ts';
import { isRotatable, type Kind } from '../kinds/kind.ts';
import type { Address } from '../model/address.ts';
import {
  type Action,
  type Difference,
  type DueDate,
  isAdoptOrTakeOverAction,
  isCreation,
  type LeftValue,
  type OtherSpelling,
  sendsNothing,
} from '../model/change.ts';
import { assertDefined } from '../model/errors.ts';
import { isJsonObject } from '../model/json.ts';
import { isAsAdopted, isCopiedMark, isRefusalRecord, isRetiring } from '../model/mark.ts';
import type { Place } from '../model/place.ts';
import type { Plan } from '../model/plan.ts';
import { alignMembers } from '../model/secret-value.ts';
import { sort } from '../model/sort.ts';
import { findSinkSettingsForCredential, type SinkSettings, type TokenSettings } from '../model/stack.ts';
import type { DesiredResource, LiveResource, Spec } from '../model/state.ts';
import { type PlannedTokenSink, toPlannedTokenSink } from '../model/token-sink.ts';
import {
  computeDesiredSpecForms,
  type DesiredSpecForms,
  type KnownIds,
  listUnresolvedAddresses,
} from './desired-form.ts';
import { type ComparedResource, listFieldDifferences, listOtherSpellings } from './differences.ts';
import type { ResourcePair } from './match.ts';
import { describeRecord, describeRefusal, listUnrecordableNotes } from './refused-creations.ts';
import { decideRetirement, describeKeptOld, findKeepMs, type RetirementContext } from './retirement.ts';
import { listUnknownSecretNames } from './unknown-secrets.ts';
import { findManifestValidForMs, listValidityDifference, readFieldTime, readSettingMs } from './validity.ts';

export interface ChangeDecision {
  readonly pair: ResourcePair;
  readonly action: Action;
  /** Why the plan has this action. `undefined` if the differences show the reason. */
  readonly reason: string | undefined;
  readonly differences: readonly Difference[];
  /** Notes for the user who approves the plan. */
  readonly notes: readonly string[];
  readonly due?: DueDate | undefined;
  /** Live values that differ from the manifest, and that `lifecycle.ignore` leaves to others. */
  readonly leftToOthers: readonly LeftValue[];
  /** Texts that the service spells differently, which is not a difference. Absent if there are none. */
  readonly otherSpellings?: readonly OtherSpelling[];
  /** Only for a replace: how long the old resource stays, in milliseconds. Absent: it is deleted at once. */
  readonly keepOldForMs?: number | undefined;
  /** Only for an old resource that another one has replaced: from when on it is deleted, RFC 3339. */
  readonly retiresAt?: string | undefined;
  /** `undefined` for a delete, a release and an old resource. */
  readonly form: DesiredSpecForms | undefined;
}

interface DecisionContext extends RenewalContext, RetirementContext {}

/**
 * Decides the action of every pair. Decides on referenced resources first: if one gets a new id, the resources that
 * refer to it change too.
 */
export function decideActions(pairs: readonly ResourcePair[], context: DecisionContext): readonly ChangeDecision[] {
  const kept = pairs.filter(({ by }) => by !== 'duplicate' && by !== 'retirement');
  const byAddress = new Map(kept.map((pair) => [pair.address, pair]));
  const decided = new Map<ResourcePair, ChangeDecision>();
  const ids = new Map<string, string>();
  const findSuccessor = ({ by, address }: ResourcePair) => (by === 'retirement' ? byAddress.get(address) : undefined);
  const listNeeds = (pair: ResourcePair) =>
    [findSuccessor(pair), ...listReferencedAddresses(pair).map((address) => byAddress.get(address))].filter(
      (needed) => needed !== undefined,
    );
  for (const pair of sort(pairs, listNeeds).ordered) {
    const successor = findSuccessor(pair);
    const replacedBy = successor && decided.get(successor);
    const decision =
      replacedBy === undefined ? decideAction(pair, ids, context) : decideRetirement(pair, replacedBy, context);
    decided.set(pair, decision);
    if (keepsId(decision) && successor === undefined && pair.live !== undefined) ids.set(pair.address, pair.live.id);
  }
  return pairs.map((pair) => assertDefined(decided.get(pair), `decision on ${pair.address}`));
}

/**
 * Whether `--rotate` can replace the resource. It cannot if the plan adopts or takes over the resource, because the
 * stack does not own it yet.
 */
export function canRotate({ kind, desired, by }: ResourcePair): boolean {
  return desired !== undefined && by === 'mark' && isRotatable(kind);
}

function decideAction(matched: ResourcePair, ids: KnownIds, context: DecisionContext): ChangeDecision {
  const pair = alignLiveSecrets(resolveIgnoredPaths(matched, ids));
  const { desired, live } = pair;
  const plain = { pair, differences: [], notes: [], leftToOthers: [] };
  if (desired === undefined && context.mode === 'release')
    return { ...plain, action: 'release', reason: 'only its mark is removed', form: undefined };
  if (desired === undefined) {
    const notes = pair.by === 'duplicate' ? listDescriptionNote(live) : [];
    return { ...plain, action: 'delete', reason: describeDelete(pair, context.mode), notes, form: undefined };
  }
  const form = computeDesiredSpecForms(pair.kind, desired, live, ids);
  if (live === undefined)
    return { ...plain, action: 'create', reason: undefined, notes: listUnrecordableNotes(pair), form };
  const compared = toComparedResource({ ...pair, desired, live }, form, context);
  const differences = listFieldDifferences(compared);
  const renewal = decideRenewal(pair, form.written, context);
  const wanted = chooseAction(pair, differences, renewal.reason !== undefined);
  const refusal = wanted === 'replace' ? describeRefusal(pair, form, context.rotate) : undefined;
  const action = refusal === undefined ? wanted : 'withhold';
  const isReplaced = action === 'replace';
  const due = action === 'no-op' ? renewal.due : undefined;
  const notes = [
    ...(isReplaced ? listUnrecordableNotes(pair) : []),
    ...(isReplaced || due !== undefined ? [] : renewal.notes),
    ...listUnknownSecretNotes(form, (name) => action === 'replace' || differences.some(({ field }) => field === name)),
    ...describeServiceChoices(pair.kind, live, form),
  ];
  const reasons = [describeMove(pair, action), renewal.reason].filter((reason) => reason !== undefined);
  const reason = refusal ?? (reasons.length === 0 ? undefined : reasons.join('; '));
  const leftToOthers = isReplaced ? [] : listLeftToOthers(pair.kind, desired, live, ids);
  const keepOldForMs = isReplaced ? findKeepMs(pair, context) : undefined;
  const oldNotes = keepOldForMs === undefined ? [] : [describeKeptOld(pair, keepOldForMs)];
  return {
    pair,
    action,
    reason,
    differences,
    notes: [...oldNotes, ...notes],
    due,
    leftToOthers,
    otherSpellings: isReplaced ? [] : listOtherSpellings(compared),
    keepOldForMs,
    form,
  };
}

/** What differs between a manifest and a live resource, as far as the ids of what it refers to are known. */
export function listPairDifferences(
  matched: ResourcePair,
  ids: KnownIds,
  context: Pick<DecisionContext, 'stack'>,
): readonly Difference[] {
  const pair = alignLiveSecrets(resolveIgnoredPaths(matched, ids));
  const { kind, desired, live } = pair;
  if (desired === undefined || live === undefined) return [];
  const form = computeDesiredSpecForms(kind, desired, live, ids);
  return listFieldDifferences(toComparedResource({ ...pair, desired, live }, form, context));
}

/** Replaces the addresses in `lifecycle.ignore` whose ids are known. */
function resolveIgnoredPaths(pair: ResourcePair, ids: KnownIds): ResourcePair {
  const { kind, desired } = pair;
  if (desired === undefined) return pair;
  const { lifecycle } = desired;
  const ignore = lifecycle.ignore.map((path) =>
    mapReferencesInIgnoredPath(kind, path, ({ value }) => ids.get(value) ?? value),
  );
  return { ...pair, desired: { ...desired, lifecycle: { ...lifecycle, ignore } } };
}

/** Lists the values that the manifest sets and leaves to others, and that differ at the service. */
function listLeftToOthers(
  kind: Kind,
  desired: DesiredResource,
  live: LiveResource,
  ids: KnownIds,
): readonly LeftValue[] {
  const { ignore } = desired.lifecycle;
  if (ignore.length === 0) return [];
  const { written, normal } = computeDesiredSpecForms(kind, desired, undefined, ids);
  return ignore.flatMap((ignored) => {
    const { field, member } = parseIgnoredPart(ignored);
    const writtenValue = written[field];
    const isWritten =
      member === undefined
        ? writtenValue !== undefined
        : isJsonObject(writtenValue) && Object.hasOwn(writtenValue, member);
    if (!isWritten || live.spec[field] === undefined) return [];
    const taken = takeIgnoredParts([ignored], normal, live.spec);
    return diff(kind, taken, normal).map(({ path, from, to }) => ({ ignored, path, from, to }));
  });
}

/** Puts the desired secrets in the place of the live values that equal them, so that they are no differences. */
function alignLiveSecrets(pair: ResourcePair): ResourcePair {
  const { kind, desired, live } = pair;
  if (desired === undefined || live === undefined) return pair;
  const spec = alignMembers(live.spec, canonical(kind, desired.spec, AS_WRITTEN));
  return spec === live.spec ? pair : { ...pair, live: { ...live, spec } };
}

function toComparedResource(
  { address, kind, desired, live }: ResourcePair & { readonly desired: DesiredResource; readonly live: LiveResource },
  { normal }: DesiredSpecForms,
  { stack }: Pick<DecisionContext, 'stack'>,
): ComparedResource {
  return {
    kind,
    address,
    stack,
    live,
    normal,
    ignored: desired.lifecycle.ignore,
    validForMs: findManifestValidForMs(kind, desired),
    protect: desired.lifecycle.protect,
  };
}

/** Names the secrets without a value in fields that are not sent. A plan warns of those that an apply needs. */
function listUnknownSecretNotes({ written }: DesiredSpecForms, isSent: (field: string) => boolean): readonly string[] {
  return Object.entries(written).flatMap(([field, value]) =>
    isSent(field)
      ? []
      : listUnknownSecretNames(value).map(
          (name) => `the value of ${name} in ${field} is not compared: it is not set, or not offered as a secret`,
        ),
  );
}

/** Names the live values that the service chose, or that a manifest set before and nothing remembers. */
function describeServiceChoices(kind: Kind, { spec }: LiveResource, { normal }: DesiredSpecForms): readonly string[] {
  const chosen = kind.specFields.flatMap(([name, { type }]) => {
    const [live, wanted] = [spec[name], normal[name]];
    if (type.type !== 'object' || !isJsonObject(live) || !isJsonObject(wanted)) return [];
    return Object.entries(type.fields)
      .filter(([part, { serviceDefault }]) => serviceDefault && wanted[part] === undefined && live[part] !== undefined)
      .map(([part]) => `${name}.${part} (${JSON.stringify(live[part])})`);
  });
  return chosen.length === 0 ? [] : [`left to the service, and live: ${chosen.join(', ')}`];
}

function chooseAction(pair: ResourcePair, differences: readonly Difference[], isDue: boolean): Action {
  if (isDue || differences.some(({ forcesReplace }) => forcesReplace)) return 'replace';
  if (pair.by === 'adopt') return pair.live?.mark === undefined ? 'adopt' : 'take-over';
  return differences.length > 0 ? 'update' : 'no-op';
}

/** The former name or stack of a renamed or taken over resource. `undefined` for other resources. */
function describeMove({ kind, desired, formerName, live, by }: ResourcePair, action: Action): string | undefined {
  const back = desired?.lifecycle.isRenamedBack === true ? 'back ' : '';
  if (formerName !== undefined) return `renamed ${back}from ${kind.name}/${formerName}`;
  const mark = by === 'adopt' ? live?.mark : undefined;
  if (mark === undefined) return undefined;
  const from = `${back}from the stack ${mark.stack}, where it is ${kind.name}/${mark.name}`;
  return action === 'take-over' ? from : `taken over ${from}`;
}

function describeDelete({ by, live, duplicateOf }: ResourcePair, mode: Plan['mode']): string | undefined {
  if (live !== undefined && isRefusalRecord(live)) return describeRecord(live);
  if (by === 'duplicate')
    return live !== undefined && isCopiedMark(live)
      ? `a copy: its mark names ${live.mark?.id}`
      : `a duplicate: ${duplicateOf} has the same mark and is kept`;
  if (mode === 'destroy') return undefined;
  const isMade = live !== undefined && isAsAdopted(live);
  return `no longer in the manifests${isMade ? ', and as it was adopted' : ''}`;
}

/** What a duplicate says about itself: it may have been made for a purpose of its own. */
function listDescriptionNote(live: LiveResource | undefined): readonly string[] {
  const text = live?.spec['description'];
  return typeof text === 'string' && text !== '' ? [`its description is ${JSON.stringify(text)}`] : [];
}

function keepsId({ action }: ChangeDecision): boolean {
  return action === 'update' || isAdoptOrTakeOverAction(action) || sendsNothing(action);
}

function listReferencedAddresses(pair: ResourcePair): readonly Address[] {
  return pair.desired === undefined ? [] : listUnresolvedAddresses(pair.kind, pair.desired.spec);
}

export interface RenewalContext extends Pick<RetirementContext, 'now' | 'localNow' | 'clock'> {
  /** Addresses of resources to replace although nothing differs (`--rotate`). */
  readonly rotate: readonly string[];
}

/** Whether and when an existing resource is due for renewal. */
type Renewal = Pick<ChangeDecision, 'reason' | 'notes' | 'due'>;

const NOT_DUE: Renewal = { reason: undefined, notes: [] };

interface Subject extends ResourcePair {
  readonly desired: DesiredResource;
  readonly live: LiveResource;
}

/**
 * Decides whether a live resource is due for renewal. An adopted resource is renewed only after the stack owns it.
 * Exception: a resource that another stack handed over without its token is renewed at once. If the length of the
 * validity differs, the resource is not due, because that difference replaces it anyway.
 */
export function decideRenewal(pair: ResourcePair, written: Spec, context: RenewalContext): Renewal {
  const { desired, live } = pair;
  if (desired === undefined || live === undefined || pair.by === 'attachment') return NOT_DUE;
  const subject = { ...pair, desired, live };
  if (pair.by === 'mark' && isRefusalRecord(live)) return toReason(describeRecord(live));
  if (pair.by === 'mark' && isRetiring(live))
    return toReason('it is an old one, and the one that replaced it no longer exists');
  const lostToken = pair.by === 'mark' || isTakenOver(subject) ? describeLostToken(subject) : undefined;
  const due = lostToken ?? (pair.by === 'mark' ? findRotationRequest(subject, context) : undefined);
  if (due !== undefined) return { ...NOT_DUE, reason: due };
  const validForMs = findManifestValidForMs(pair.kind, desired);
  if (listValidityDifference({ kind: pair.kind, live, validForMs }).length > 0) return NOT_DUE;
  const timed = findTimedRenewal(subject, written, context);
  return pair.by === 'mark' || timed.reason === undefined ? timed : toLaterNote(timed.reason);
}

/**
 * Decides whether a resource is due because of its end or its age. If it is unknown which of two clocks is right, it is
 * due only by both: a wrong time from a proxy must not replace anything.
 */
function findTimedRenewal(subject: Subject, written: Spec, { now, localNow = now, clock }: RenewalContext): Renewal {
  const [due, dueLocally] = [now, localNow].map((at) => findExpiry(subject, written, at) ?? findAge(subject, at));
  if (due?.reason === undefined || clock?.isDoubtful !== true || dueLocally?.reason !== undefined)
    return due ?? NOT_DUE;
  return toNote(`${due.reason}; not by the clock of this machine, so it is not replaced`);
}

interface EndOfManifest extends Pick<ResourcePair, 'address'> {
  readonly place: Place;
  readonly field: string;
  /** Negative: the end is past. */
  readonly leftMs: number;
}

/** Finds an end that a manifest sets and that is past or near: a new certificate would end at the same time. */
export function findEndOfManifest(pair: ResourcePair, written: Spec, now: Date): readonly EndOfManifest[] {
  const { kind, desired, address } = pair;
  const fixed = findFixedEnd(kind, written);
  if (desired === undefined || fixed === undefined) return [];
  const { end, field } = fixed;
  const leftMs = end - now.getTime();
  if (leftMs > Math.max(0, computeWarningMs(pair, desired, { ...pair.live?.spec, ...written }))) return [];
  return [{ address, place: desired.locate(['spec', field]), field, leftMs }];
}

/** The share of a validity that counts as near its end: nine days of ninety, so that a weekly apply warns in time. */
export const VALIDITY_WARNING_SHARE = 0.1;

/**
 * The time before the end of a validity at which warnings begin: `renew_before` if it is set, else VALIDITY_WARNING_SHARE
 * of the validity. 0 if the validity is unknown.
 */
function computeWarningMs({ kind }: ResourcePair, desired: DesiredResource, spec: Spec): number {
  if (desired.lifecycle.settings['renew_before'] !== undefined) return readSettingMs(desired, 'renew_before');
  const after = readFieldTime(spec, kind.validity?.after);
  const until = readFieldTime(spec, kind.validity?.until);
  return after === undefined || until === undefined ? 0 : (until - after) * VALIDITY_WARNING_SHARE;
}

/** Whether the resource is taken over from another stack. From then on, only this stack can deliver a token for it. */
function isTakenOver({ by, live }: Subject): boolean {
  return by === 'adopt' && live.mark !== undefined;
}

/**
 * The reason to replace a credential: its token was not delivered, or a wrong token may have been delivered.
 * `undefined` if neither is the case.
 */
function describeLostToken({ kind, live, isTokenInDoubt }: Subject): string | undefined {
  if (kind.oneTimeFields.length === 0) return undefined;
  if (isCopiedMark(live))
    return `its mark is that of ${live.mark?.id}, whose token was delivered, and that credential no longer exists`;
  if (live.mark?.delivered !== true)
    return 'nothing shows that its token was delivered, and the token cannot be read again';
  return isTokenInDoubt === true
    ? 'another credential has its mark, and it is unknown which of the two tokens was delivered last'
    : undefined;
}

function findRotationRequest({ address }: Subject, { rotate }: RenewalContext): string | undefined {
  return rotate.includes(address) ? 'requested with --rotate' : undefined;
}

/**
 * Decides whether a certificate is due because of its end. If the manifest sets the end, the certificate is never due,
 * because a new one would end at the same time. `undefined` if the live resource has no end.
 */
function findExpiry({ kind, desired, live }: Subject, written: Spec, now: Date): Renewal | undefined {
  const until = readFieldTime(live.spec, kind.validity?.until);
  if (until === undefined || kind.validity === undefined) return undefined;
  const leftMs = until - now.getTime();
  const left = renderTimeSpan(leftMs);
  if (readFieldTime(written, kind.validity.until) !== undefined)
    return leftMs > 0
      ? toDue(`expires in ${left}`, { event: 'expires', at: until })
      : toNote(`expired ${renderTimeSpan(-leftMs)} ago`);
  if (leftMs <= 0) return toReason(`it expired ${renderTimeSpan(-leftMs)} ago`);
  const renewBefore = desired.lifecycle.settings['renew_before'];
  const waitMs = leftMs - readSettingMs(desired, 'renew_before');
  if (renewBefore === undefined)
    return toDue(`expires in ${left}, and is renewed then`, { event: 'expires', at: until });
  if (waitMs > 0) return toDue(`renews in ${renderTimeSpan(waitMs)}`, { event: 'renews', at: now.getTime() + waitMs });
  return toReason(`it expires in ${left}, and is renewed ${String(renewBefore)} before that`);
}

function findAge({ desired, live }: Subject, now: Date): Renewal | undefined {
  const limitMs = readSettingMs(desired, 'rotate_after');
  if (limitMs === 0) return undefined;
  const created = Date.parse(live.createdAt);
  if (Number.isNaN(created)) return undefined;
  const ageMs = now.getTime() - created;
  if (ageMs < limitMs)
    return toDue(`rotates in ${renderTimeSpan(limitMs - ageMs)}`, { event: 'rotates', at: created + limitMs });
  return toReason(
    `it is ${renderTimeSpan(ageMs)} old, and is rotated after ${String(desired.lifecycle.settings['rotate_after'])}`,
  );
}

function toReason(reason: string): Renewal {
  return { ...NOT_DUE, reason };
}

function toNote(note: string): Renewal {
  return { ...NOT_DUE, notes: [note] };
}

/** `at`: in milliseconds since 1970. */
function toDue(note: string, { event, at }: Pick<DueDate, 'event'> & { readonly at: number }): Renewal {
  return { ...toNote(note), due: { at: new Date(at).toISOString(), event } };
}

function toLaterNote(reason: string): Renewal {
  return toNote(`${reason}: the next apply replaces it`);
}

/** The sink for the token that a change creates. `undefined` if it creates none, or if no sink is configured. */
export function findSinkOfNewToken(decision: ChangeDecision, settings: TokenSettings): PlannedTokenSink | undefined {
  const sink = createsToken(decision) ? findOwnSink(decision, settings) : undefined;
  return sink && toPlannedTokenSink(sink);
}

/** Notes on the token of a credential that is adopted, taken over or renamed. */
export function listExistingTokenNotes(decision: ChangeDecision): readonly string[] {
  if (decision.pair.kind.oneTimeFields.length === 0) return [];
  const { formerName } = decision.pair;
  if (decision.action === 'adopt') return [TOKEN_UNKNOWN];
  if (decision.action === 'take-over') return [TOKEN_STAYS];
  return decision.action === 'update' && formerName !== undefined ? [TOKEN_STAYS] : [];
}

/**
 * How an adoption changes the form of metadata that a user wrote. Others may find the resource by its exact metadata,
 * such as an operator or an agent.
 */
export function listMetadataNotes({ action, pair: { live } }: ChangeDecision): readonly string[] {
  const metadata = action === 'adopt' ? (live?.spec['metadata'] ?? '') : '';
  if (metadata === '') return [];
  return [
    typeof metadata === 'string'
      ? 'the text in its metadata is kept as edgewise.text of a JSON object: what finds it by its exact metadata has to know'
      : 'its metadata gets one more key, edgewise: what finds it by its exact metadata has to know',
  ];
}

const TOKEN_UNKNOWN = 'its token is unknown: the service showed it only once, when it was created';

/** Does not say where the token is: its former stack may have adopted the credential instead of creating it. */
const TOKEN_STAYS = 'its token stays where it is: apply does not touch its file';

/** The token sinks of a plan. */
export interface SinkOptions {
  /** The configured token sinks. A plan only names them. */
  readonly tokens: TokenSettings;
  /** Whether the caller of the library delivers the token of a credential with this name. Default: of none. */
  readonly hasOwnSink?: ((name: string) => boolean) | undefined;
}

/** Whether a credential would be created without a token sink, so that its token would be lost. */
export function lacksSink(decision: ChangeDecision, { tokens, hasOwnSink = () => false }: SinkOptions): boolean {
  const name = decision.pair.desired?.name ?? '';
  return createsToken(decision) && findOwnSink(decision, tokens) === undefined && !hasOwnSink(name);
}

function createsToken({ pair, action }: ChangeDecision): boolean {
  return isCreation({ action }) && pair.kind.oneTimeFields.length > 0;
}

function findOwnSink({ pair }: ChangeDecision, settings: TokenSettings): SinkSettings | undefined {
  return findSinkSettingsForCredential(settings, pair.desired?.name ?? '');
}
