import { type Kind, listOneTimeFields } from '../kinds/kind.ts';
import { normalizeField } from '../kinds/normalize.ts';
import { resolveReferences } from '../kinds/references.ts';
import { getKind } from '../kinds/tables/registry.ts';
import type { CreatedIds } from '../kinds/write-request.ts';
import { toName } from '../model/address.ts';
import type { Change } from '../model/change.ts';
import { assertDefined } from '../model/errors.ts';
import { isJsonObject, isSameJson } from '../model/json.ts';
import { type Mark, type MarkDraft, toFieldDigest } from '../model/mark.ts';
import { toDigests } from './attribute.ts';

/** The mark that a change leaves, before a token of it is delivered. */
export function toMarkDraft(change: Change, stack: string): MarkDraft {
  const { address, desired = {}, live, ignored = [], kept = [], protect = false, was } = change;
  const kind = getKind(change.kind);
  const user = desired['metadata'];
  return {
    stack,
    name: toName(address),
    protect,
    ...(was !== undefined && { was }),
    delivered: isDelivered(kind, change),
    user: typeof user === 'string' || isJsonObject(user) ? user : '',
    ...toDigests(kind, desired, { ignored, kept: new Map(kept.map((field) => [field, live?.mark?.fields[field]])) }),
  };
}

/** The token of an adopted credential counts as delivered: it is in use. */
function isDelivered(kind: Kind, { action, live }: Change): boolean {
  if (action === 'create' || action === 'replace') return false;
  const isAdopted = action === 'adopt' && live?.mark === undefined;
  return isAdopted ? listOneTimeFields(kind).length > 0 : live?.mark?.delivered === true;
}

/** Whether a live resource bears a mark that is already up to date. */
export function isSameMark(draft: MarkDraft, live: Mark | undefined): boolean {
  return (
    live !== undefined &&
    Object.keys(draft.pending).length === 0 &&
    draft.stack === live.stack &&
    draft.name === live.name &&
    draft.protect === live.protect &&
    isSameJson(draft.fields, live.fields)
  );
}

/** The mark, once every id that it waits for is known. */
export function resolveMark(kind: Kind, draft: MarkDraft, created: CreatedIds): Mark {
  const { stack, name, protect, delivered, was } = draft;
  const fields = { ...draft.fields };
  for (const [field, value] of Object.entries(resolveReferences(kind, draft.pending, created)))
    fields[field] = toFieldDigest(normalizeField(assertDefined(kind.fields[field], field), value));
  return { stack, name, protect, delivered, ...(was !== undefined && { was }), fields };
}
