import { normalizeField } from '../kinds/canonical.ts';
import { hasToken, isModule, isRotatable, type Kind } from '../kinds/kind.ts';
import { createLongestMarkReferences } from '../kinds/paths.ts';
import { resolveSpecReferences } from '../kinds/references.ts';
import type { CreatedIds } from '../kinds/request-body.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { getAddressName, LONGEST_NAME } from '../model/address.ts';
import { type Change, isCreation } from '../model/change.ts';
import { assertDefined } from '../model/errors.ts';
import { computeUtf8ByteLength, isJsonObject } from '../model/json.ts';
import {
  FIELD_DIGEST_LENGTH,
  findRefusedCreation,
  isAsAdopted,
  isCopiedMark,
  isOwnIdInMark,
  isRefusalRecord,
  type Mark,
  type MarkDraft,
  type RetirementDraft,
  renderMetadata,
  toFieldDigest,
} from '../model/mark.ts';
import { hasMarkOf, isOwnedBy } from '../model/ownership.ts';
import { computeMarkDigests, listChangedFields } from './differences.ts';

/**
 * What a write records in the mark of its resource: a draft when the plan is made, and the mark itself once the ids that
 * earlier writes return are known.
 */

/** The mark that a change sets, before the token of a new credential is delivered. */
export function createMarkDraft(change: Change, stack: string): MarkDraft {
  const { address, desired = {}, ignored = [], protect = false } = change;
  const kind = getKind(change.kind);
  const user = desired['metadata'];
  const draft: MarkDraft = {
    stack,
    name: getAddressName(address),
    protect,
    delivered: isDelivered(kind, change),
    user: typeof user === 'string' || isJsonObject(user) ? user : '',
    ...computeMarkDigests(kind, desired, ignored),
    ...pickRefusal(change),
    ...pickRetirement(change),
    ...pickSwitches(change),
    ...pickFormerName(change, stack),
    ...pickAdopted(kind, change),
  };
  return { ...draft, ...pickTeam(kind, draft, change.team) };
}

/** The retirement that the mark of a live resource keeps until the old resource is deleted. */
function pickRetirement({ action, retires }: Change): Pick<MarkDraft, 'retires'> {
  if (retires === undefined || isCreation({ action })) return {};
  return { retires: { id: retires.id, until: retires.at } };
}

/** The name that the mark has now, if the change sets another one. Otherwise the one that it remembers. */
function pickFormerName({ address, live }: Change, stack: string): Pick<MarkDraft, 'former'> {
  const { id = '', mark } = live ?? {};
  if (mark === undefined || isCopiedMark({ id, mark }) || isRefusalRecord({ id, mark })) return {};
  if (!isOwnedBy({ mark }, stack)) return { former: { name: mark.name, stack: mark.stack } };
  if (!hasMarkOf({ mark }, { stack, name: getAddressName(address) })) return { former: { name: mark.name } };
  return isOwnIdInMark({ id, mark }) && mark.former !== undefined ? { former: mark.former } : {};
}

/** Whether the change adopts a resource, or leaves one that was adopted as it is. */
function pickAdopted(kind: Kind, change: Change): Pick<MarkDraft, 'adopted'> {
  const { action, live } = change;
  if (action === 'adopt') return { adopted: true };
  const isLeft = action !== 'replace' && live !== undefined && listChangedFields(kind, change).length === 0;
  return isLeft && isAsAdopted({ id: live.id, mark: live.mark }) ? { adopted: true } : {};
}

/** What the mark records of the switches that the last read contained. A creation has read none. */
function pickSwitches({ action, live }: Change): Pick<MarkDraft, 'switches'> {
  return isCreation({ action }) ? {} : { switches: live?.switches };
}

/** What the mark of a live resource keeps of a refused creation. */
function pickRefusal({ action, live }: Change): Pick<MarkDraft, 'refused'> {
  return isCreation({ action }) || live === undefined
    ? {}
    : { refused: findRefusedCreation({ id: live.id, mark: live.mark }) };
}

/** The maximum length of a team in a mark, even if the metadata has space for more. Usual names are shorter. */
const MAX_TEAM_BYTES = 64;

/**
 * Returns the team if it is short and fits into the metadata together with the user's own metadata. Otherwise omits
 * it: it is only information for readers, so the user's metadata has priority.
 */
function pickTeam(kind: Kind, draft: MarkDraft, team: string | undefined): Pick<MarkDraft, 'team'> {
  const type = kind.fields['metadata']?.type;
  if (team === undefined || computeUtf8ByteLength(team) > MAX_TEAM_BYTES || type?.type !== 'metadata') return {};
  const digest = 'x'.repeat(FIELD_DIGEST_LENGTH);
  const fields = { ...draft.fields, ...Object.fromEntries(Object.keys(draft.pending).map((name) => [name, digest])) };
  const { retires: _, ...rest } = draft;
  const longest = renderMetadata(draft.user, {
    ...rest,
    ...createLongestMarkReferences(kind),
    delivered: true,
    team,
    fields,
  });
  return computeUtf8ByteLength(longest) <= type.maxBytes ? { team } : {};
}

/** Whether the new mark records a delivered token. True if an unmarked credential is adopted: its token is in use. */
function isDelivered(kind: Kind, { action, live }: Change): boolean {
  if (isCreation({ action })) return false;
  return action === 'adopt' ? kind.oneTimeFields.length > 0 : live?.mark?.delivered === true;
}

/**
 * Returns the mark with the digests of all fields. `created` must contain every id that the draft waits for. `now`: the
 * time at which the mark is written.
 */
export function completeMarkDraft(
  kind: Kind,
  draft: MarkDraft,
  { created, now }: { readonly created: CreatedIds; readonly now: Date },
): Mark {
  const { stack, name, protect, delivered, replaces, retires, retiring, team, refused, switches, former, adopted } =
    draft;
  const fields = { ...draft.fields };
  for (const [field, value] of Object.entries(resolveSpecReferences(kind, draft.pending, created)))
    fields[field] = toFieldDigest(normalizeField(assertDefined(kind.fields[field], field), value));
  return {
    stack,
    name,
    protect,
    delivered,
    replaces,
    retires: retires === undefined ? undefined : { id: retires.id, at: computeRetirementTime(retires, now) },
    ...(retiring === true && { retiring }),
    team,
    fields,
    refused,
    switches,
    former,
    ...(adopted === true && { adopted }),
  };
}

/** The earlier of the two times of a retirement, in whole seconds. */
function computeRetirementTime({ afterMs = Number.POSITIVE_INFINITY, until }: RetirementDraft, now: Date): string {
  const end = until === undefined ? Number.POSITIVE_INFINITY : Date.parse(until);
  const at = Math.ceil(Math.min(now.getTime() + afterMs, end) / 1000) * 1000;
  return new Date(at).toISOString().replace('.000Z', 'Z');
}

/** A mark that is as long as later writes can make that of a new resource, if its manifest stays the same. */
export function createLongestMark(kind: Kind, mark: Mark): Mark {
  const modules = kind.specFields.flatMap(([name, field]) => (isModule(field) ? [name] : []));
  const asked = 'x'.repeat(FIELD_DIGEST_LENGTH);
  const refused = { asked, fields: kind.specFields.map(([name]) => name), record: true } as const;
  const { id = '', ...references } = createLongestMarkReferences(kind);
  return {
    ...mark,
    ...references,
    name: LONGEST_NAME,
    id,
    ...(hasToken(kind) && { delivered: true, replaces: id }),
    ...(isRotatable(kind) && { retiring: true, refused }),
    ...(modules.length > 0 && { switches: modules }),
  };
}
