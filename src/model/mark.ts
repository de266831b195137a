import { isResourceName } from './address.ts';
import {
  computeUtf8ByteLength,
  isJsonArray,
  isJsonObject,
  isSameJson,
  type Json,
  type JsonObject,
  toCanonicalJson,
  toDigest,
} from './json.ts';
import { withoutHiddenNumbers } from './secret-value.ts';

/**
 * The mark of a live resource says which stack owns it. It is one key of the resource's `metadata`, next to the user's
 * keys: `{"team":"data","edgewise":{"stack":"production","name":"postgres","fields":{"hostports":"k3f9aQ"}}}`
 */
export interface Mark {
  readonly stack: string;
  readonly name: string;
  /** Whether the resource is protected. Recorded in the mark, so that protection applies even without a manifest. */
  readonly protect: boolean;
  /** Only for credentials: whether the token was delivered to its sink. */
  readonly delivered: boolean;
  /**
   * The id of the resource whose mark this is. The creation cannot know it; each later write of the mark records it. A
   * mark that names another id is a copy. Never compared, because its absence means nothing.
   */
  readonly id?: string;
  /** Only for credentials: the id of the credential that this one replaced, until the mark is written again. */
  readonly replaces?: string | undefined;
  /** The old resource that this one replaced, and that an apply deletes later. It must have the mark of the stack, too. */
  readonly retires?: Retirement | undefined;
  /**
   * Only true: another resource replaced this one, which an apply deletes later. The mark of the other one says when.
   * This mark only says that it is an old one: it never counts as the resource of its address.
   */
  readonly retiring?: true;
  /**
   * The team when the mark was last written, so that reports can name the team if the manifest was removed. Absent if no
   * team was set, or if the text was too long. At the service, the member is `owner`: marks have no version,
   * and every version of edgewise reads those of every other.
   */
  readonly team?: string | undefined;
  /** The CI job that last wrote the mark: its commit and the URL of its page. For people, and never compared. */
  readonly by?: string;
  /**
   * Digests of the values that were last applied, by field. A field without a digest was applied with its default.
   * `IGNORED_FIELD_DIGEST`: others managed the field, or the part of it that the key names, such as
   * `backends.bkdhr_…`; the digest of a field does not contain such parts.
   */
  readonly fields: Readonly<Record<string, string>>;
  /** The last creation for this address that the service did not store as asked. Absent if there was none. */
  readonly refused?: RefusedCreation | undefined;
  /**
   * The modules whose switch the read before the last write of the mark contained. If a later read leaves it out, it
   * may have been changed. Absent if there were none.
   */
  readonly switches?: readonly string[] | undefined;
  /** The name before the last rename or move. It counts only in a mark that names its own resource. */
  readonly former?: FormerName | undefined;
  /**
   * Only true: edgewise has changed nothing on the resource since it was adopted. It counts only as `former` does. Forged, it
   * makes a delete need an answer, and nothing else.
   */
  readonly adopted?: true;
}

/** The name that a resource had, and the stack if that was another one. A type, because only a type is JSON to the compiler. */
export type FormerName = {
  readonly name: string;
  readonly stack?: string;
};

/** Which old resource an apply deletes, and from when on. A type, because only a type is JSON to the compiler. */
export type Retirement = {
  readonly id: string;
  /** RFC 3339. */
  readonly at: string;
};

/**
 * A retirement in a mark that will be written. It is at the earlier of both times, of which at least one is set. A type,
 * because only a type is JSON to the compiler.
 */
export type RetirementDraft = {
  readonly id: string;
  /** Milliseconds from the time at which the write is sent. */
  readonly afterMs?: number;
  /** RFC 3339. */
  readonly until?: string;
};

/**
 * A creation of a credential or certificate that the service did not store as asked, so that nothing was delivered. A
 * type and not an interface, because only a type is JSON to the compiler.
 */
export type RefusedCreation = {
  /** Digest of what was asked for. While the manifest asks for the same, a plan says that it was refused. */
  readonly asked: string;
  /** Names of the fields that the service stored otherwise. */
  readonly fields: readonly string[];
  /** Only true: the resource with this mark is what the service created. Its token was thrown away, if it has one. */
  readonly record?: true;
};

interface ResourceWithMark {
  readonly id: string;
  readonly mark: Mark | undefined;
}

/** Whether the mark of a resource names another resource, so that it was copied from there. */
export function isCopiedMark({ id, mark }: ResourceWithMark): boolean {
  return mark?.id !== undefined && mark.id !== id;
}

/** Whether the token of a credential was delivered. A mark that names another credential says nothing about this one. */
export function hasDeliveredToken(resource: ResourceWithMark): boolean {
  return resource.mark?.delivered === true && !isCopiedMark(resource);
}

/** The refused creation that a mark records. It counts only if the mark names its own resource: others were copied or forged. */
export function findRefusedCreation(resource: ResourceWithMark): RefusedCreation | undefined {
  return isOwnIdInMark(resource) ? resource.mark?.refused : undefined;
}

/**
 * Whether a resource only records that the service refused its own creation. It is never the resource of its address, and
 * no delivered credential is one.
 */
export function isRefusalRecord(resource: ResourceWithMark): boolean {
  return findRefusedCreation(resource)?.record === true && resource.mark?.delivered !== true;
}

/** Whether the mark of a resource names this resource. */
export function isOwnIdInMark({ id, mark }: ResourceWithMark): boolean {
  return mark?.id === id;
}

/** The stack and the name that a resource had before, as its mark says. A copied or forged mark of another resource says nothing. */
export function findFormerName(resource: ResourceWithMark): Required<FormerName> | undefined {
  const { mark } = resource;
  if (mark?.former === undefined || !isOwnIdInMark(resource)) return undefined;
  return { stack: mark.stack, ...mark.former };
}

/** Whether a resource was adopted, and edgewise has changed nothing on it since: it is as people made it. */
export function isAsAdopted(resource: ResourceWithMark): boolean {
  return resource.mark?.adopted === true && isOwnIdInMark(resource);
}

/**
 * Why two marks are compared: whether a live mark is as planned, whether the service stored a mark as it was sent, or
 * whether a mark needs a write although no field differs. What does not need one is in the next mark that is written.
 */
type MarkComparison = 'as planned' | 'as sent' | 'needs no write';

/** The comparisons in which each member of a mark counts. A service may spell the names of people and pipelines otherwise. */
const COMPARED_IN: Readonly<Record<keyof Mark, readonly MarkComparison[]>> = {
  stack: ['as planned', 'as sent', 'needs no write'],
  name: ['as planned', 'as sent', 'needs no write'],
  protect: ['as planned', 'as sent', 'needs no write'],
  delivered: ['as planned', 'as sent'],
  id: ['as sent'],
  replaces: ['as sent'],
  retires: ['as sent'],
  retiring: ['as planned', 'as sent'],
  team: ['as planned'],
  by: [],
  fields: ['as planned', 'as sent', 'needs no write'],
  refused: ['as sent'],
  switches: ['as planned', 'as sent'],
  former: ['as planned', 'as sent'],
  adopted: ['as planned', 'as sent', 'needs no write'],
};

const MARK_MEMBERS = Object.keys(COMPARED_IN) as readonly (keyof Mark)[]; // `Object.keys` returns plain strings

/** The members of a mark, or of its draft. */
type ComparedMark = { readonly [Member in keyof Mark]?: Json | undefined };

/** Whether two marks are equal in all members that count in the comparison. Two absent marks are equal. Symmetrical. */
export function isEqualMark(
  left: ComparedMark | undefined,
  right: ComparedMark | undefined,
  comparison: MarkComparison = 'as planned',
): boolean {
  if (left === undefined || right === undefined) return left === right;
  const names = MARK_MEMBERS.filter((name) => COMPARED_IN[name].includes(comparison));
  return names.every((name) => isSameJson(left[name] ?? null, right[name] ?? null));
}

/** Whether another resource has replaced this one, as its mark says. */
export function isRetiring({ mark }: Pick<ResourceWithMark, 'mark'>): boolean {
  return mark?.retiring === true;
}

/** The mark that a write will set. Some parts are known only when the write is sent. */
export interface MarkDraft extends Omit<Mark, 'id' | 'by' | 'retires'> {
  readonly retires?: RetirementDraft;
  /** The metadata of the user: everything but the mark. */
  readonly user: string | JsonObject;
  /**
   * Values in normal form, by field, that contain addresses because ids are not known yet. Their digests are computed
   * later.
   */
  readonly pending: JsonObject;
}

/** In a mark, this text replaces the digest of a field that others managed when the mark was written. */
export const IGNORED_FIELD_DIGEST = '';

/** Length of a field digest in a mark. 36 bits are enough against accidental matches, but not deliberate ones. */
export const FIELD_DIGEST_LENGTH = 6;

export const MARK_KEY = 'edgewise';

/** The digest of a field's value. It depends on the name of a secret, never on its value. */
export function toFieldDigest(value: Json): string {
  return toDigest(withoutHiddenNumbers(value), FIELD_DIGEST_LENGTH);
}

/** The metadata of a resource, split into the user's part and the mark. */
export interface ParsedMetadata {
  /** The metadata of the user: an object if the text is a JSON object, otherwise the text. `''` if there is none. */
  readonly user: string | JsonObject;
  readonly mark: Mark | undefined;
  /** Why the mark is invalid; the resource then counts as unmanaged. `undefined` if the mark is valid or absent. */
  readonly error: string | undefined;
}

/**
 * Splits the metadata of a resource into the user's part and the mark. Accepts any JSON formatting. Never throws:
 * without a valid mark, the whole text is the user's part.
 */
export function splitMetadata(text: string): ParsedMetadata {
  const { [MARK_KEY]: inner, ...user } = parseObject(text) ?? {};
  if (inner === undefined) return { user: normalizeUserMetadata(text), mark: undefined, error: undefined };
  const mark = parseMark(inner);
  if (typeof mark === 'string') return { user: normalizeUserMetadata(text), mark: undefined, error: mark };
  return { user: findUserPart(text, user, inner), mark, error: undefined };
}

/**
 * The user's part of metadata with a mark: the members beside it, or the text in it. What `renderMetadata` never writes
 * was written by another user, and stands below `edgewise`, where no manifest has a member: a text beside members, or one
 * that is an object; members with one name, and numbers of which `JSON.parse` drops digits, as the whole text.
 */
function findUserPart(text: string, user: JsonObject, inner: Json): string | JsonObject {
  const kept = isJsonObject(inner) ? inner['text'] : undefined;
  if (losesContent(text)) return { ...user, [MARK_KEY]: text };
  if (typeof kept !== 'string' || kept === '') return normalizeUserMetadata(user);
  const isWritten = Object.keys(user).length === 0 && normalizeUserMetadata(kept) === kept;
  return isWritten ? kept : { ...user, [MARK_KEY]: { text: kept } };
}

/** A text of JSON, with its colon if it is the name of a member, or a number. */
const TOKEN = /"(?:[^"\\]|\\.)*"(\s*:)?|-?\d[\d.eE+-]*/g;

/** As many significant digits as every number keeps. */
const KEPT_DIGITS = 15;

/** Whether a JSON text has members or digits that its value has not. */
function losesContent(json: string): boolean {
  const tokens = Array.from(json.matchAll(TOKEN));
  const names = tokens.filter(([, colon]) => colon !== undefined);
  const isCut = ([number]: RegExpExecArray): boolean =>
    !number.startsWith('"') &&
    number.replace(/[eE].*|\D/g, '').replace(/^0+|0+$/g, '').length > KEPT_DIGITS &&
    String(Number(number)) !== number;
  return names.length !== countMembers(JSON.parse(json)) || tokens.some(isCut);
}

function countMembers(value: Json): number {
  if (value === null || typeof value !== 'object') return 0;
  const inner = Object.values(value).reduce((sum, member) => sum + countMembers(member), 0);
  return inner + (isJsonArray(value) ? 0 : Object.keys(value).length);
}

/** The user's part of live metadata, without what other users wrote in place of the mark. */
export function omitMarkKey(user: string | JsonObject): string | JsonObject {
  if (typeof user === 'string') return user;
  const { [MARK_KEY]: _, ...own } = user;
  return own;
}

/**
 * Renders the metadata of a resource. If the user's text is not a JSON object, the mark contains it as `text`.
 * `reserved`: see `reserveRoom`.
 */
export function renderMetadata(user: string | JsonObject, mark: Mark, reserved?: string): string {
  const normalized = normalizeUserMetadata(user);
  const inner = {
    stack: mark.stack,
    name: mark.name,
    ...(mark.protect && { protect: true }),
    ...(mark.delivered && { delivered: true }),
    id: mark.id,
    replaces: mark.replaces,
    retires: mark.retires,
    ...(mark.retiring === true && { retiring: true }),
    owner: mark.team,
    by: mark.by,
    ...(Object.keys(mark.fields).length > 0 && { fields: mark.fields }),
    refused: mark.refused,
    switches: mark.switches,
    former: mark.former,
    ...(mark.adopted === true && { adopted: true }),
    ...(typeof normalized === 'string' && normalized !== '' && { text: normalized }),
    reserved,
  };
  return JSON.stringify({ ...(typeof normalized === 'string' ? {} : normalized), [MARK_KEY]: inner });
}

/**
 * Renders the metadata of a resource in at most `maxBytes` bytes: without the pipeline, and then without the team, if it
 * is longer with them. `undefined` if it is too long all the same. `longest`: see `reserveRoom`.
 */
export function renderFittingMetadata(
  user: string | JsonObject,
  mark: Mark,
  maxBytes: number,
  longest?: Mark,
): string | undefined {
  const { by: _, ...withoutBy } = mark;
  const { team: __, ...least } = withoutBy;
  const candidates: readonly Mark[] = [mark, withoutBy, least];
  const found = candidates.find((one) => computeUtf8ByteLength(renderMetadata(user, one)) <= maxBytes);
  if (found === undefined || longest === undefined) return found && renderMetadata(user, found);
  const length = Math.min(computeUtf8ByteLength(renderMetadata(user, longest)), maxBytes);
  return reserveRoom(user, found, length);
}

/**
 * Renders metadata that fills `bytes`, as long as later writes will make it. So a service that cuts metadata cuts it when
 * it creates the resource, before a token is delivered. The next write of the mark leaves the filling out.
 */
function reserveRoom(user: string | JsonObject, mark: Mark, bytes: number): string {
  const room = bytes - computeUtf8ByteLength(renderMetadata(user, mark, ''));
  return renderMetadata(user, mark, room > 0 ? '-'.repeat(room) : undefined);
}

/**
 * Renders the metadata of the user without a mark, such as for a released resource. Sorts the keys, because they are
 * sorted in plan files, and a plan must give the same text before and after it is saved.
 */
export function renderUserMetadata(user: string | JsonObject): string {
  // Parse again, so that integer keys come first: JavaScript moves them there when a plan file is parsed.
  return typeof user === 'string' ? user : JSON.stringify(JSON.parse(toCanonicalJson(user)));
}

/** Normalizes user metadata: text that is a JSON object becomes that object, and an empty object becomes `''`. */
export function normalizeUserMetadata(user: string | JsonObject): string | JsonObject {
  const value = typeof user === 'string' ? parseLossless(user) : user;
  if (value === undefined) return user;
  return Object.keys(value).length === 0 ? '' : value;
}

/** `undefined` if the text is not a JSON object, or if serializing it again would change more than white space. */
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

/** The stack and the name in a mark of which the service has cut the end. `undefined`: metadata is no such mark. */
export function findCutMark({ spec }: { readonly spec: JsonObject }): CutMark | undefined {
  const text = spec['metadata'];
  const [, stack, name] = (typeof text === 'string' ? CUT_MARK.exec(text) : null) ?? [];
  return stack === undefined ? undefined : { stack, name };
}

/** Whether metadata is the beginning of JSON that the service has cut before the stack, so that no mark can be read in it. */
export function isCutBeforeStack(spec: JsonObject): boolean {
  const text = spec['metadata'];
  const isObject = typeof text === 'string' && text.startsWith('{');
  return isObject && parseObject(text) === undefined && findCutMark({ spec }) === undefined;
}

interface CutMark {
  readonly stack: string;
  /** `undefined`: the mark was cut before its name. */
  readonly name: string | undefined;
}

/** The beginning of what `renderMetadata` writes. A whole mark is read as a mark, and is no text. */
const CUT_MARK = new RegExp(`^\\{.*"${MARK_KEY}":\\{"stack":"([^"]+)"(?:,"name":"([^"]+)")?`, 's');

function parseMark(value: Json): Mark | string {
  if (!isJsonObject(value)) return 'it is not an object';
  const {
    stack,
    name,
    fields = {},
    refused,
    protect = false,
    delivered = false,
    id,
    replaces,
    retires,
    retiring,
    owner,
    by,
    switches,
    former,
    adopted,
  } = value;
  if (typeof stack !== 'string' || !isResourceName(stack)) return 'its stack is not a valid name';
  if (typeof name !== 'string' || !isResourceName(name)) return 'its name is not a valid name';
  if (!isJsonObject(fields)) return 'its fields are not an object';
  return {
    stack,
    name,
    protect: protect === true,
    delivered: delivered === true,
    ...(typeof id === 'string' && { id }),
    ...(typeof replaces === 'string' && { replaces }),
    ...parseRetirement(retires),
    ...(retiring === true && { retiring }),
    ...(typeof owner === 'string' && { team: owner }),
    ...(typeof by === 'string' && { by }),
    fields: keepTexts(fields),
    ...(isJsonObject(refused) && typeof refused['asked'] === 'string' && { refused: toRefused(refused) }),
    ...(isJsonArray(switches) && { switches: switches.filter((module) => typeof module === 'string') }),
    ...parseFormerName(former),
    ...(adopted === true && { adopted }),
  };
}

/** Without a valid time, nothing retires. */
function parseRetirement(value: Json | undefined): Pick<Mark, 'retires'> {
  if (!isJsonObject(value)) return {};
  const { id, at } = value;
  const isValid = typeof id === 'string' && typeof at === 'string' && !Number.isNaN(Date.parse(at));
  return isValid ? { retires: { id, at } } : {};
}

function parseFormerName(value: Json | undefined): Pick<Mark, 'former'> {
  if (!isJsonObject(value)) return {};
  const { name, stack } = value;
  if (typeof name !== 'string' || !isResourceName(name)) return {};
  if (stack === undefined) return { former: { name } };
  return typeof stack === 'string' && isResourceName(stack) ? { former: { name, stack } } : {};
}

function toRefused({ asked = '', fields = [], record }: JsonObject): RefusedCreation {
  const names = isJsonArray(fields) ? fields.filter((name) => typeof name === 'string') : [];
  return { asked: String(asked), fields: names, ...(record === true && { record }) };
}

function keepTexts(fields: JsonObject): Mark['fields'] {
  const texts = Object.entries(fields).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return Object.fromEntries(texts);
}
