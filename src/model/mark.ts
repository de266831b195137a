import { isResourceName } from './address.ts';
import { isJsonObject, isSameJson, type Json, type JsonObject, toCanonicalJson, toDigest } from './json.ts';

/**
 * The mark that makes a live resource ours: one key inside its `metadata`, beside the user's own.
 * `{"team":"data","edgewise":{"stack":"production","name":"postgres","fields":{"hostports":"k3f9aQ"}}}`
 */
export interface Mark {
  readonly stack: string;
  readonly name: string;
  /** Never deleted or replaced; remembered here, so that it outlives the manifest. */
  readonly protect: boolean;
  /** Credentials only: the token reached its sink. */
  readonly delivered: boolean;
  /** Its former name, if another resource has taken that name since: shows that the rename is complete. */
  readonly was?: string;
  /** The owner at its last write; absent: none was set, or it was too long. Outlives the manifest. */
  readonly owner?: string;
  /** The pipeline of its last write, for people: a commit, the page of a run. Never compared. */
  readonly by?: string;
  /** Digest of each field as last applied. Absent: its default was applied. `UNMANAGED_DIGEST`: the field was not ours. */
  readonly fields: Readonly<Record<string, string>>;
}

/** What of a mark is compared and planned with: all but who wrote it. */
export function toComparedMark({ by: _, ...mark }: Mark): Mark {
  return mark;
}

/** Whether two marks say the same, whoever wrote them; two that are missing do. */
export function isSameMark(left: Mark | undefined, right: Mark | undefined): boolean {
  const toJson = (mark: Mark | undefined): JsonObject | null =>
    mark === undefined ? null : { ...toComparedMark(mark) };
  return isSameJson(toJson(left), toJson(right));
}

/** The mark that a write leaves, with parts that are only known when the write is made. */
export interface MarkDraft {
  readonly stack: string;
  readonly name: string;
  readonly protect: boolean;
  readonly delivered: boolean;
  /** See `Mark`. */
  readonly was?: string;
  readonly owner?: string;
  /** The user's part of the metadata. */
  readonly user: string | JsonObject;
  readonly fields: Readonly<Record<string, string>>;
  /** Fields whose digest waits for an id: their normal form, with addresses in it. */
  readonly pending: JsonObject;
}

/** Replaces the digest of a field that had another owner when the mark was written. */
export const UNMANAGED_DIGEST = '';

/** Characters of a field digest in the mark: 36 bits, against accident and not against malice. */
export const FIELD_DIGEST_LENGTH = 6;

/** The key in a resource's metadata that holds the mark. */
export const MARK_KEY = 'edgewise';

/** The short digest of one field that the mark holds. */
export function toFieldDigest(value: Json): string {
  return toDigest(value, FIELD_DIGEST_LENGTH);
}

/** A resource's metadata, taken apart. */
export interface Metadata {
  /** The user's part: an object when it is JSON, else text; `''` when there is none. */
  readonly user: string | JsonObject;
  readonly mark: Mark | undefined;
  /** Why the key of ours that is there is not a mark; the resource then counts as not ours. */
  readonly error: string | undefined;
}

/**
 * Splits a metadata text into the user's part and the mark. Never fails: text that is not a mark belongs to the user. Finds a mark however its JSON is
 * formatted.
 */
export function parseMetadata(text: string): Metadata {
  const { [MARK_KEY]: inner, ...user } = parseObject(text) ?? {};
  if (inner === undefined) return { user: normalizeUserMetadata(text), mark: undefined, error: undefined };
  const mark = toMark(inner);
  if (typeof mark === 'string') return { user: normalizeUserMetadata(text), mark: undefined, error: mark };
  const kept = isJsonObject(inner) ? inner['text'] : undefined;
  return { user: typeof kept === 'string' ? kept : normalizeUserMetadata(user), mark, error: undefined };
}

/** The metadata text of a resource of ours. User text that is not a JSON object is kept under one more key. */
export function renderMetadata(user: string | JsonObject, mark: Mark): string {
  const normalized = normalizeUserMetadata(user);
  const inner = {
    stack: mark.stack,
    name: mark.name,
    ...(mark.protect && { protect: true }),
    ...(mark.delivered && { delivered: true }),
    ...(mark.was !== undefined && { was: mark.was }),
    ...(mark.owner !== undefined && { owner: mark.owner }),
    ...(mark.by !== undefined && { by: mark.by }),
    ...(Object.keys(mark.fields).length > 0 && { fields: mark.fields }),
    ...(typeof normalized === 'string' && normalized !== '' && { text: normalized }),
  };
  return JSON.stringify({ ...(typeof normalized === 'string' ? {} : normalized), [MARK_KEY]: inner });
}

/** The user's metadata without a mark, as a text: what a resource that is not ours carries. A plan file has the same text, whatever the order of keys was. */
export function renderUserMetadata(user: string | JsonObject): string {
  // Read and written again, because an object has keys that are numbers before all others.
  return typeof user === 'string' ? user : JSON.stringify(JSON.parse(toCanonicalJson(user)));
}

/** One form for equal user metadata: text that is a JSON object becomes that object, and an empty object becomes no metadata. */
export function normalizeUserMetadata(user: string | JsonObject): string | JsonObject {
  const value = typeof user === 'string' ? parseLossless(user) : user;
  if (value === undefined) return user;
  return Object.keys(value).length === 0 ? '' : value;
}

/** The object that a JSON text holds, when writing it again gives the same text but for white space; else nothing. */
function parseLossless(text: string): JsonObject | undefined {
  const value = parseObject(text);
  return value !== undefined && JSON.stringify(value) === withoutSpace(text) ? value : undefined;
}

function parseObject(text: string): JsonObject | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function withoutSpace(json: string): string {
  return json.replace(/("(?:[^"\\]|\\.)*")|\s+/g, (_, quoted: string | undefined) => quoted ?? '');
}

function toMark(value: Json): Mark | string {
  if (!isJsonObject(value)) return 'it is not an object';
  const { stack, name, fields = {}, protect = false, delivered = false, was, owner, by } = value;
  if (typeof stack !== 'string' || !isResourceName(stack)) return 'its stack is not a valid name';
  if (typeof name !== 'string' || !isResourceName(name)) return 'its name is not a valid name';
  if (!isJsonObject(fields)) return 'its fields are not an object';
  return {
    stack,
    name,
    protect: protect === true,
    delivered: delivered === true,
    ...(typeof was === 'string' && isResourceName(was) && { was }),
    ...(typeof owner === 'string' && { owner }),
    ...(typeof by === 'string' && { by }),
    fields: keepTexts(fields),
  };
}

function keepTexts(fields: JsonObject): Mark['fields'] {
  const texts = Object.entries(fields).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return Object.fromEntries(texts);
}
