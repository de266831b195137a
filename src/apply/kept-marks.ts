import { getKind } from '../kinds/tables/registry.ts';
import { type JsonObject, toJsonText } from '../model/json.ts';
import { renderFittingMetadata, splitMetadata } from '../model/mark.ts';
import type { CreateWrite } from '../model/write.ts';
import type { ShownCreation } from './judge-creation.ts';
import type { ApplyRequests } from './requests.ts';

/**
 * Writes the mark of a new resource once more, before its token is delivered: a service may keep the mark of a creation,
 * and drop it at the next write. Returns whether it is kept, as far as is known: true if a request failed.
 */
export async function keepsMark(
  { write, request: { body = {} }, live: { id } }: ShownCreation,
  requests: Pick<ApplyRequests, 'record'>,
): Promise<boolean> {
  const { user, mark } = splitMetadata(toJsonText(body['metadata']));
  const { type } = getKind(write.kind).fields['metadata'] ?? {};
  if (mark === undefined || type?.type !== 'metadata') return true;
  const metadata = renderFittingMetadata(user, { ...mark, id }, type.maxBytes);
  if (metadata === undefined) return true;
  return (await requests.record(write, id, { body: { ...pickAlwaysSent(write, body), metadata } })) !== 'lost';
}

/** The sent fields that some services clear if a PATCH omits them. */
function pickAlwaysSent({ kind }: CreateWrite, body: JsonObject): JsonObject {
  const { fields } = getKind(kind);
  return Object.fromEntries(Object.entries(body).filter(([name]) => fields[name]?.alwaysSent === true));
}
