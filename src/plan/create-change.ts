import { listUnknownRestrictions } from '../access/dangers.ts';
import { isOpenOnPurpose } from '../access/restrictions.ts';
import { parseIgnoredPart } from '../kinds/ignored-parts.ts';
import { type Change, isCreation, type LiveBeforeChange } from '../model/change.ts';
import { isJsonObject, type Json } from '../model/json.ts';
import type { Mark } from '../model/mark.ts';
import type { DesiredResource, LiveResource } from '../model/state.ts';
import type { PlannedTokenSink } from '../model/token-sink.ts';
import type { ChangeDecision } from './decide.ts';
import { listChangedFields } from './differences.ts';
import type { ResourcePair } from './match.ts';
import { findManifestValidForMs } from './validity.ts';
import { pickNonNormalWrittenValues } from './writes.ts';

/** Facts of a change that its decision does not contain. */
interface ChangeFacts {
  /** For the user who approves the change. */
  readonly notes?: readonly string[];
  readonly token?: PlannedTokenSink | undefined;
  /** Name of the label or annotation whose value is the team. */
  readonly teamLabel?: string | undefined;
}

/**
 * Creates the change for a decision. The change contains everything from which its writes are computed, so that neither
 * the manifest nor other live resources are needed later.
 */
export function createChange(decision: ChangeDecision, { notes = [], token, teamLabel }: ChangeFacts = {}): Change {
  const { pair, action, differences, reason, due } = decision;
  const { address, duplicateOf, kind, desired, live, retires } = pair;
  const isTouched = action !== 'no-op';
  const team = isTouched && teamLabel !== undefined ? findTeam(pair, teamLabel) : undefined;
  return {
    address,
    duplicateOf,
    ...(pair.isOriginal === true && { isOriginal: true }),
    retiresAt: decision.retiresAt,
    kind: kind.name,
    action,
    reason,
    differences,
    isOpenToEveryone: isOpenOnceCreated(decision) ? true : undefined,
    token,
    ...(notes.length > 0 && { notes }),
    due,
    ...decision.remaining,
    live: live && createStart(live, isTouched || kind.role === 'attached'),
    ...(isTouched ? pickDesired(decision) : pickUnknownRestrictions(decision)),
    ...(action === 'replace' && { keepOldForMs: decision.keepOldForMs }),
    retires,
    ...(isProtectedAfter(pair) && { protect: true }),
    team,
    ...(desired !== undefined && pickManifestFacts(desired, isTouched)),
  };
}

/** The dangers of an unchanged resource: no write sets what the service does not show of it. */
function pickUnknownRestrictions({ pair, form }: ChangeDecision): Pick<Change, 'dangers'> {
  const { kind, live } = pair;
  if (live === undefined || form === undefined) return {};
  const sides = { live: live.spec, desired: form.normal, ignored: listIgnored(pair) };
  const dangers = listUnknownRestrictions(kind, sides);
  return dangers.length === 0 ? {} : { dangers };
}

function isOpenOnceCreated({ action, pair: { kind }, form }: ChangeDecision): boolean {
  return isCreation({ action }) && form !== undefined && isOpenOnPurpose(kind, form);
}

/** Whether the mark will say that the resource is protected. An old one keeps its protection. */
function isProtectedAfter({ by, desired, live }: ResourcePair): boolean {
  return by === 'retirement' ? live?.mark?.protect === true : desired?.lifecycle.protect === true;
}

/**
 * Finds the team of a resource in the labels and annotations of its manifest. If it has no manifest, finds the team
 * in the live mark, else in the live metadata.
 */
function findTeam({ desired, live }: ResourcePair, label: string): string | undefined {
  if (desired !== undefined) return pickText(desired.labels, label) ?? pickText(desired.annotations, label);
  return live?.mark?.team ?? pickText(live?.spec['metadata'], label);
}

function pickText(texts: Json | undefined, name: string): string | undefined {
  const text = isJsonObject(texts) && Object.hasOwn(texts, name) ? texts[name] : undefined;
  return typeof text === 'string' ? text : undefined;
}

/** Labels and annotations of an unchanged resource are for rules about all that the stack has. */
function pickManifestFacts(
  { labels, annotations, locate }: DesiredResource,
  isTouched: boolean,
): Pick<Change, 'labels' | 'annotations' | 'place'> {
  return {
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
    ...(isTouched && { place: locate() }),
  };
}

/** The parts of a change that come from the desired spec. Empty for a delete and a release. */
function pickDesired(decision: ChangeDecision): Pick<Change, 'desired' | 'sent' | 'ignored' | 'validForMs'> {
  const { pair, form } = decision;
  if (form === undefined) return {};
  const sent = pickNonNormalWrittenValues(pair.kind, form, listSentFields(decision));
  const ignored = listIgnored(pair);
  const validForMs = findManifestValidForMs(pair.kind, pair.desired);
  return {
    desired: form.normal,
    ...(Object.keys(sent).length > 0 && { sent }),
    ...(ignored.length > 0 && { ignored }),
    validForMs,
  };
}

/** The ignored paths, in the order of the table. Without the modules of others: no write touches them. */
function listIgnored({ kind, desired }: ChangeDecision['pair']): readonly string[] {
  const paths = (desired?.lifecycle.ignore ?? []).map((path) => ({ path, ...parseIgnoredPart(path) }));
  const touched = kind.role === 'owned' ? paths : paths.filter(({ member }) => member !== undefined);
  return kind.specFields.flatMap(([name]) => touched.filter(({ field }) => field === name).map(({ path }) => path));
}

function listSentFields(decision: ChangeDecision): ReadonlySet<string> {
  const { kind } = decision.pair;
  const fields = kind.specFields;
  if (isCreation(decision)) return new Set(fields.map(([name]) => name));
  const always = fields.filter(([, field]) => field.alwaysSent).map(([name]) => name);
  return new Set([...always, ...listChangedFields(kind, decision)]);
}

function createStart(live: LiveResource, isTouched: boolean): LiveBeforeChange {
  const { id, spec, mark, switches } = live;
  return {
    id,
    ...(isTouched && switches !== undefined && { switches }),
    ...(isTouched && { spec }),
    mark: mark && omitPipeline(mark),
  };
}

function omitPipeline({ by: _, ...mark }: Mark): Omit<Mark, 'by'> {
  return mark;
}
