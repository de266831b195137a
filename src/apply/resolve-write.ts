import { resolveReferences } from '../kinds/references.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { type CreatedIds, toWriteRequest, type WriteRequest } from '../kinds/write-request.ts';
import { assertNever } from '../model/errors.ts';
import { isJsonObject, type JsonObject } from '../model/json.ts';
import { type MarkDraft, renderMetadata } from '../model/mark.ts';
import type { CreateWrite, SetModuleWrite, Write } from '../model/write.ts';
import { resolveMark } from '../plan/mark-draft.ts';

/** A write with every id in it known: what is sent. */
export interface ResolvedWrite extends WriteRequest {
  readonly body: JsonObject | undefined;
}

/**
 * Replaces addresses in the plan by the ids that earlier writes returned, and durations by times. Every id that the write
 * depends on must be known.
 */
export function resolveWrite(write: Write, ids: CreatedIds, now: Date): ResolvedWrite {
  return { ...toWriteRequest(write, ids), body: resolveBody(write, ids, now) };
}

function resolveBody(write: Write, ids: CreatedIds, now: Date): JsonObject | undefined {
  const kind = getKind(write.kind);
  const toMetadata = (mark: MarkDraft) => ({ metadata: renderMetadata(mark.user, resolveMark(kind, mark, ids)) });
  switch (write.act) {
    case 'create':
      return { ...resolveReferences(kind, write.body, ids), ...toTimes(write, now), ...toMetadata(write.mark) };
    case 'update':
    case 'adopt':
      return { ...resolveReferences(kind, write.body, ids), ...(write.mark !== undefined && toMetadata(write.mark)) };
    case 'deliver':
    case 'deliver-again':
      return toMetadata(write.mark);
    case 'set-module':
      return resolveModule(write, ids);
    case 'release':
    case 'give-up':
      return write.body;
    case 'remove-module':
    case 'delete':
      return undefined;
    default:
      return assertNever(write);
  }
}

/** The time of validity of what is made now, in whole seconds, as services keep it. */
function toTimes({ kind, validForMs }: CreateWrite, now: Date): JsonObject {
  const { validity } = getKind(kind);
  if (validForMs === undefined || validity === undefined) return {};
  const startMs = Math.floor(now.getTime() / 1000) * 1000;
  const toText = (ms: number) => new Date(ms).toISOString().replace('.000Z', 'Z');
  return { [validity.after]: toText(startMs), [validity.until]: toText(startMs + validForMs) };
}

function resolveModule({ kind, module, body }: SetModuleWrite, ids: CreatedIds): JsonObject {
  const resolved = resolveReferences(getKind(kind), { [module]: body }, ids)[module];
  return isJsonObject(resolved) ? resolved : body;
}
