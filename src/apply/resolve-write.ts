import { resolveSpecReferences } from '../kinds/references.ts';
import { type CreatedIds, createWriteRequestLine, type WriteRequestLine } from '../kinds/request-body.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { assertJsonObject, type JsonObject } from '../model/json.ts';
import { type MarkDraft, renderFittingMetadata, renderMetadata } from '../model/mark.ts';
import { getSentFields, type Write } from '../model/write.ts';
import { completeMarkDraft, createLongestMark } from '../plan/mark-draft.ts';

const METADATA = 'metadata';

/** The HTTP request of a write, with resource ids in place of addresses. */
export interface ResolvedWrite extends WriteRequestLine {
  readonly body: JsonObject | undefined;
}

/**
 * Creates the request of a write. Replaces addresses by ids that earlier writes returned, and turns the length of a
 * validity into a start and an end. `ids` must contain every address to which the write refers.
 */
export function resolveWriteRequest(write: Write, context: WriteRequestContext): ResolvedWrite {
  const line = createWriteRequestLine(write, context.ids);
  if (write.method === 'DELETE') return { ...line, body: undefined };
  const { module, mark } = write;
  const fields = resolveSpecReferences(getKind(write.kind), getSentFields(write), context.ids);
  if (module !== undefined) return { ...line, body: assertJsonObject(fields[module]) };
  const metadata = mark && createMetadata(write, mark, context);
  return { ...line, body: { ...fields, ...createValidity(write, context.now), ...metadata } };
}

/** Facts that are known only when a write is sent. */
export interface WriteRequestContext {
  readonly ids: CreatedIds;
  readonly now: Date;
  /** The pipeline to record in the mark. `undefined`: the mark records no pipeline. */
  readonly by: string | undefined;
}

/** The metadata of a body, with the mark and the user's own metadata. */
function createMetadata(write: Write, draft: MarkDraft, { ids, now, by }: WriteRequestContext): JsonObject {
  const kind = getKind(write.kind);
  // The creation cannot know the id.
  const id = write.method === 'POST' ? undefined : (write.ids?.id ?? ids.get(write.address));
  const completed = completeMarkDraft(kind, draft, { created: ids, now });
  const mark = id === undefined ? completed : { ...completed, id };
  const known = by === undefined ? mark : { ...mark, by };
  const type = kind.fields[METADATA]?.type;
  const most = type?.type === 'metadata' ? type.maxBytes : Number.POSITIVE_INFINITY;
  // Metadata that is too long all the same is sent, so that the service says so.
  const longest = write.method === 'POST' ? createLongestMark(kind, mark) : undefined;
  return { [METADATA]: renderFittingMetadata(draft.user, known, most, longest) ?? renderMetadata(draft.user, mark) };
}

/**
 * The start and the end of a validity that begins now, in whole seconds, because services store no fractions. Empty if
 * the write has no `validForMs`.
 */
function createValidity({ kind, validForMs, omitsStart }: Write, now: Date): JsonObject {
  const { validity } = getKind(kind);
  if (validForMs === undefined || validity === undefined) return {};
  const startMs = Math.floor(now.getTime() / 1000) * 1000;
  const formatTime = (ms: number) => new Date(ms).toISOString().replace('.000Z', 'Z');
  return {
    ...(omitsStart !== true && { [validity.after]: formatTime(startMs) }),
    [validity.until]: formatTime(startMs + validForMs),
  };
}
