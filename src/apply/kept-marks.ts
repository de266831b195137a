import type { Kind } from '../kinds/kind.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { isExternalError } from '../model/errors.ts';
import { type JsonObject, toJsonText } from '../model/json.ts';
import { renderFittingMetadata, splitMetadata } from '../model/mark.ts';
import { hasMarkOf } from '../model/ownership.ts';
import type { CreateWrite } from '../model/write.ts';
import type { SentCreation } from './judge-creation.ts';
import type { ApplyRequests } from './requests.ts';

/**
 * A service may keep the mark of a new resource and drop it at the next write. Then the resource is found by nothing, and
 * another one would be created once its manifest changes. So if a resource of a kind was read without metadata, the mark of
 * the first one that a run creates is written once more, before its token is delivered, and before another is created.
 */
export class KeptMarks {
  /** Prefixes of the ids of the kinds in which a mark may have been lost. */
  readonly #doubtful: Set<string>;
  /** The creation under way, by the name of a kind that is in doubt. */
  readonly #first = new Map<string, Promise<unknown>>();

  constructor(prefixesWithoutMetadata: Iterable<string> = []) {
    this.#doubtful = new Set(prefixesWithoutMetadata);
  }

  isDoubtful({ idPrefix }: Kind): boolean {
    return this.#doubtful.has(idPrefix);
  }

  /** Records that the service keeps the marks of a kind. */
  noteKept({ idPrefix }: Kind): void {
    this.#doubtful.delete(idPrefix);
  }

  /** Creates a resource, one after the other while the kind is in doubt. */
  async createInTurn<T>(kind: Kind, create: () => Promise<T>): Promise<T> {
    while (this.isDoubtful(kind) && this.#first.has(kind.name)) await this.#first.get(kind.name);
    if (!this.isDoubtful(kind)) return create();
    const created = create();
    this.#first.set(
      kind.name,
      created.catch(() => undefined),
    );
    try {
      return await created;
    } finally {
      this.#first.delete(kind.name);
    }
  }
}

/**
 * Writes the mark of a new resource once more. Returns whether the service keeps it. `undefined`: that is unknown, because a
 * request failed.
 */
export async function keepsMark(
  { write, request: { body = {} } }: SentCreation,
  id: string,
  requests: Pick<ApplyRequests, 'record'>,
): Promise<boolean | undefined> {
  const { user, mark } = splitMetadata(toJsonText(body['metadata']));
  const { type } = getKind(write.kind).fields['metadata'] ?? {};
  if (mark === undefined || type?.type !== 'metadata') return undefined;
  const metadata = renderFittingMetadata(user, { ...mark, id }, type.maxBytes);
  if (metadata === undefined) return undefined;
  const again = { ...pickAlwaysSent(write, body), metadata };
  try {
    return hasMarkOf(await requests.record(write, id, { body: again }), write.mark);
  } catch (error) {
    if (isExternalError(error)) return undefined;
    throw error;
  }
}

/** The sent fields that some services clear if a PATCH omits them. */
function pickAlwaysSent({ kind }: CreateWrite, body: JsonObject): JsonObject {
  const { fields } = getKind(kind);
  return Object.fromEntries(Object.entries(body).filter(([name]) => fields[name]?.alwaysSent === true));
}
