import { AS_WRITTEN, canonical } from '../kinds/canonical.ts';
import { diff } from '../kinds/diff.ts';
import { mapReferencesInIgnoredPath, parseIgnoredPart, takeIgnoredParts } from '../kinds/ignored-parts.ts';
import {
  type Action,
  type Change,
  type Difference,
  type DueDate,
  isAdoptOrTakeOverAction,
  type LeftValue,
  sendsNothing,
} from '../model/change.ts';
import { assertDefined } from '../model/errors.ts';
import { isJsonObject } from '../model/json.ts';
import { isAsAdopted, isCopiedMark, isRefusalRecord } from '../model/mark.ts';
import type { Plan } from '../model/plan.ts';
import { alignMembers } from '../model/secret-value.ts';
import { sort } from '../model/sort.ts';
import type { LiveResource } from '../model/state.ts';
import {
  computeDesiredSpecForms,
  type DesiredSpecForms,
  type KnownIds,
  listUnresolvedAddresses,
} from './desired-form.ts';
import { type ComparedResource, listFieldDifferences, listOtherSpellings } from './differences.ts';
import type { ExistingPair, ResourcePair } from './match.ts';
import { describeRecord, describeRefusedCreation, listUnrecordableNotes } from './refused-creations.ts';
import { decideRenewal, type RenewalContext } from './renewal.ts';
import { decideRetirement, describeKeptOld, findKeepMs, type RetirementContext } from './retirement.ts';
import { listUnknownSecretNames } from './unknown-secrets.ts';
import { findManifestValidForMs } from './validity.ts';

type RemainingValues = Pick<Change, 'leftToOthers' | 'otherSpellings'>;

export interface ChangeDecision {
  readonly pair: ResourcePair;
  readonly action: Action;
  /** Why the plan has this action. `undefined` if the differences show the reason. */
  readonly reason: string | undefined;
  readonly differences: readonly Difference[];
  /** Notes for the user who approves the plan. */
  readonly notes: readonly string[];
  readonly due?: DueDate | undefined;
  /** What differs and no write changes, by its cause. Absent: nothing is compared, or everything is written. */
  readonly remaining?: RemainingValues;
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
  const originals = pairs.filter(({ by }) => by !== 'duplicate' && by !== 'retirement');
  const byAddress = new Map(originals.map((pair) => [pair.address, pair]));
  const decided = new Map<ResourcePair, ChangeDecision>();
  const ids = new Map<string, string>();
  const findSuccessor = ({ by, address }: ResourcePair) => (by === 'retirement' ? byAddress.get(address) : undefined);
  const listNeeds = (pair: ResourcePair): readonly ResourcePair[] => {
    const referenced = pair.desired === undefined ? [] : listUnresolvedAddresses(pair.kind, pair.desired.spec);
    const needed = [findSuccessor(pair), ...referenced.map((address) => byAddress.get(address))];
    return needed.filter((one) => one !== undefined);
  };
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

function keepsId({ action }: ChangeDecision): boolean {
  return action === 'update' || isAdoptOrTakeOverAction(action) || sendsNothing(action);
}

function decideAction(matched: ResourcePair, ids: KnownIds, context: DecisionContext): ChangeDecision {
  const pair = alignLiveSecrets(resolveIgnoredPaths(matched, ids));
  const { kind, desired, live } = pair;
  if (desired === undefined) return decideWithoutManifest(pair, context.mode);
  const form = computeDesiredSpecForms(kind, desired, live, ids);
  if (live !== undefined) return decideExisting({ ...pair, desired, live }, form, { ...context, ids });
  const notes = listUnrecordableNotes(pair);
  return { pair, action: 'create', reason: undefined, differences: [], notes, form };
}

function decideWithoutManifest(pair: ResourcePair, mode: Plan['mode']): ChangeDecision {
  const decision = { pair, differences: [], form: undefined };
  if (mode === 'release') return { ...decision, action: 'release', reason: 'only its mark is removed', notes: [] };
  const notes = pair.by === 'duplicate' ? listDescriptionNote(pair.live) : [];
  return { ...decision, action: 'delete', reason: describeDelete(pair, mode), notes };
}

function decideExisting(
  pair: ExistingPair,
  form: DesiredSpecForms,
  context: DecisionContext & { readonly ids: KnownIds },
): ChangeDecision {
  const compared = toComparedResource(pair, form, context.stack);
  const differences = listFieldDifferences(compared);
  const renewal = decideRenewal(pair, form.written, context);
  const wanted = chooseAction(pair, differences, renewal.reason !== undefined);
  const refusal = wanted === 'replace' ? describeRefusedCreation(pair, form, context.rotate) : undefined;
  const action = refusal === undefined ? wanted : 'withhold';
  const reasons = [describeMove(pair, action), renewal.reason].filter((reason) => reason !== undefined);
  const reason = refusal ?? (reasons.length === 0 ? undefined : reasons.join('; '));
  const notes = [
    ...listUnknownSecretNotes(form, (name) => action === 'replace' || differences.some(({ field }) => field === name)),
    ...describeServiceChoices(pair, form),
  ];
  const decision = { pair, action, reason, differences, form };
  if (action === 'replace') {
    const keepOldForMs = findKeepMs(pair, context);
    const oldNotes = keepOldForMs === undefined ? [] : [describeKeptOld(pair, keepOldForMs)];
    const replaceNotes = [...oldNotes, ...listUnrecordableNotes(pair), ...notes];
    return { ...decision, notes: replaceNotes, keepOldForMs };
  }
  const due = action === 'no-op' ? renewal.due : undefined;
  return {
    ...decision,
    notes: due === undefined ? [...renewal.notes, ...notes] : notes,
    due,
    remaining: findRemaining(pair, compared, context.ids),
  };
}

function findRemaining(pair: ExistingPair, compared: ComparedResource, ids: KnownIds): RemainingValues {
  const leftToOthers = listLeftToOthers(pair, ids);
  const otherSpellings = listOtherSpellings(compared);
  return { ...(leftToOthers.length > 0 && { leftToOthers }), ...(otherSpellings.length > 0 && { otherSpellings }) };
}

/** What differs between a manifest and a live resource, as far as the ids of what it refers to are known. */
export function listPairDifferences(matched: ResourcePair, ids: KnownIds, stack: string): readonly Difference[] {
  const pair = alignLiveSecrets(resolveIgnoredPaths(matched, ids));
  const { kind, desired, live } = pair;
  if (desired === undefined || live === undefined) return [];
  const form = computeDesiredSpecForms(kind, desired, live, ids);
  return listFieldDifferences(toComparedResource({ ...pair, desired, live }, form, stack));
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

/** Puts the desired secrets in the place of the live values that equal them, so that they are no differences. */
function alignLiveSecrets(pair: ResourcePair): ResourcePair {
  const { kind, desired, live } = pair;
  if (desired === undefined || live === undefined) return pair;
  const spec = alignMembers(live.spec, canonical(kind, desired.spec, AS_WRITTEN));
  return spec === live.spec ? pair : { ...pair, live: { ...live, spec } };
}

function toComparedResource(
  { address, kind, desired, live }: ExistingPair,
  { normal }: DesiredSpecForms,
  stack: string,
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

/** Lists the values that the manifest sets and leaves to others, and that differ at the service. */
function listLeftToOthers({ kind, desired, live }: ExistingPair, ids: KnownIds): readonly LeftValue[] {
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
function describeServiceChoices(
  { kind, live: { spec } }: ExistingPair,
  { normal }: DesiredSpecForms,
): readonly string[] {
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
