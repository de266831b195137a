import { AS_WRITTEN, canonical, isDefault, normalizeField } from '../kinds/canonical.ts';
import { diff } from '../kinds/diff.ts';
import type { Field, FieldType } from '../kinds/field.ts';
import { isModule, type Kind } from '../kinds/kind.ts';
import { readAttachedResource, readResource } from '../kinds/read-response.ts';
import { resolveSpecReferences } from '../kinds/references.ts';
import { type CreatedIds, createWriteRequestLine, type WriteRequestLine } from '../kinds/request-body.ts';
import { alignLiveWithSecrets, hasSameFields } from '../kinds/same-fields.ts';
import { isSpellingOf } from '../kinds/spelling.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { findMemberType } from '../kinds/walk.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { ApiError } from '../model/errors.ts';
import { formatPath, parsePath } from '../model/field-path.ts';
import { assertJsonObject, isSameJson, type Json, type JsonObject, toJsonText } from '../model/json.ts';
import { isEqualMark, type MarkDraft, renderFittingMetadata, renderMetadata, splitMetadata } from '../model/mark.ts';
import { hasMarkOf } from '../model/ownership.ts';
import { formatJson } from '../model/secret-value.ts';
import type { FieldPath, LiveResource, Spec } from '../model/state.ts';
import { getSentFields, type Write } from '../model/write.ts';
import { completeMarkDraft, createLongestMark } from '../plan/writes.ts';

/** Parses the response to a write: the whole resource or, if a module was written, only that module. */
export function parseWriteResponse({ kind: name, module }: Write, answer: JsonObject): LiveResource {
  const kind = getKind(name);
  return module === undefined ? readResource(kind, answer) : readAttachedResource(kind, {}, { [module]: answer });
}

/** The body of a request and the resource in its response. */
export interface ComparedResponse {
  readonly body: JsonObject | undefined;
  readonly live: LiveResource;
}

/**
 * Compares the response with the request, field by field, in normal form. Returns a message for each field that the
 * service did not accept as sent; empty if it accepted everything. Reports a lost mark first, because later runs do not
 * recognize a resource without its mark. Texts for people are compared by `listOtherTexts`.
 */
export function listUnacceptedFieldMessages(write: Write, { body = {}, live }: ComparedResponse): readonly string[] {
  const isLost = write.mark !== undefined && !hasMarkOf(live, write.mark);
  const sent = getSentFields({ ...write, body });
  const metadata = isLost
    ? [`the service did not keep the metadata of ${live.id}, which holds the mark`]
    : listMarkMessages(sent, live);
  return [...metadata, ...compareFields(write, sent, live.spec)];
}

function listMarkMessages(body: JsonObject, live: LiveResource): readonly string[] {
  if (typeof body[METADATA] !== 'string') return [];
  const sent = splitMetadata(body[METADATA]);
  if (sent.mark === undefined && live.mark !== undefined)
    return ['the service did not change the metadata, which still has the mark'];
  return isEqualMark(sent.mark, live.mark, 'as sent') ? [] : ['the service did not accept metadata'];
}

/** Whether a live resource shows the mark that was sent in the metadata of a body. */
export function showsSentMark({ body = {}, live }: ComparedResponse): boolean {
  const { mark } = splitMetadata(toJsonText(body[METADATA]));
  return mark !== undefined && isEqualMark(mark, live.mark, 'as sent');
}

/**
 * Whether a live resource has every field of a creation except for the mark, by meaning. A field that it does not show
 * must not have been sent. Metadata may be missing or cut.
 */
export function showsEverySentField({ kind: name }: Write, { body = {}, live }: ComparedResponse): boolean {
  const kind = getKind(name);
  const { [METADATA]: metadata, ...fields } = body;
  const { user } = splitMetadata(toJsonText(metadata));
  const sent = canonical(kind, { ...fields, [METADATA]: user }, AS_WRITTEN);
  return hasSameFields(kind, live.spec, sent) && showsUserMetadata(kind, { metadata, user: sent[METADATA] }, live.spec);
}

/** Whether metadata came back as it was sent, without the mark, or is missing or cut. */
function showsUserMetadata(
  { fields }: Kind,
  { metadata, user }: { readonly metadata: Json | undefined; readonly user: Json | undefined },
  { [METADATA]: got }: Spec,
): boolean {
  const field = fields[METADATA];
  if (field === undefined || user === undefined) return true;
  if (got === undefined) return isDefault(field, user);
  if (isSameJson(user, got) || isSpellingOf(field, got, user)) return true;
  return typeof got === 'string' && toJsonText(metadata).startsWith(got);
}

/** A description, or the metadata of the user, that came back otherwise than it was sent. Both are in normal form. */
export interface OtherText {
  readonly name: string;
  readonly sent: Json;
  readonly shown: Json;
  /** Whether only the spelling differs. */
  readonly isSpelling: boolean;
}

/** Lists the texts for people that the service shows otherwise than they were sent. */
export function listOtherTexts(write: Write, { body = {}, live }: ComparedResponse): readonly OtherText[] {
  const fields = getSentFields({ ...write, body });
  return getKind(write.kind).specFields.flatMap(([name, field]): readonly OtherText[] => {
    const shown = live.spec[name];
    if (!field.mayBeSpelledOtherwise || !Object.hasOwn(fields, name) || shown === undefined) return [];
    const value = fields[name];
    const sent = normalizeField(field, name === METADATA ? splitMetadata(String(value)).user : value);
    return isSameJson(sent, shown) ? [] : [{ name, sent, shown, isSpelling: isSpellingOf(field, shown, sent) }];
  });
}

export function createSpellingWarning({ address }: Write, { name, sent, shown }: OtherText): Diagnostic {
  return {
    code: 'shown-otherwise',
    severity: 'warning',
    message: `${address}: ${name} is spelled differently at the service: ${formatComparedValue(sent)} was sent, ${formatComparedValue(shown)} came back`,
    remedy: 'Another spelling is not a difference, and needs no action.',
    address,
  };
}

/** Says that the service keeps another text, which no apply can change. */
export function describeOtherText({ name, sent, shown }: OtherText): string {
  return `the service stores another ${name}: ${formatComparedValue(sent)} was sent, ${formatComparedValue(shown)} came back. To leave the field to the service, set lifecycle.ignore: [${name}]`;
}

/** Names of the fields that the service stored with another meaning than they were sent. Not texts for people. */
export function listUnacceptedFields(write: Write, { body = {}, live }: ComparedResponse): readonly string[] {
  return listUnequalFields(write, body, live.spec).map(({ name }) => name);
}

function compareFields(write: Write, sent: Spec, live: Spec): readonly string[] {
  return listUnequalFields(write, sent, live).map(({ field, name, wanted, got }) => {
    const what = isModule(field) ? `the module ${name}` : name;
    return `the service did not accept ${what}: ${formatComparedValue(wanted)} was sent, ${formatComparedValue(got)} came back`;
  });
}

interface UnequalField {
  readonly field: Field;
  readonly name: string;
  readonly wanted: Json;
  readonly got: Json;
}

function listUnequalFields(write: Write, sent: Spec, live: Spec): readonly UnequalField[] {
  const kind = getKind(write.kind);
  const normal = canonical(kind, sent, AS_WRITTEN);
  const shown = alignLiveWithSecrets(kind, live, normal);
  const unequal = new Set(diff(kind, shown, normal).map(({ field }) => field));
  return Object.keys(sent).flatMap((name) => {
    const [field, wanted, got] = [kind.fields[name], normal[name], shown[name]];
    if (field === undefined || field.mayBeSpelledOtherwise || !unequal.has(name)) return [];
    return wanted === undefined || got === undefined ? [] : [{ field, name, wanted, got }];
  });
}

const METADATA = 'metadata';

/** A value in a message: hidden if it is concealed, and cut after 200 characters. */
export function formatComparedValue(value: Json): string {
  const text = formatJson(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

const MAX_SHOWN = 200;

/** The HTTP request of a write, with resource ids in place of addresses. */
export interface ResolvedWrite extends WriteRequestLine {
  readonly body: JsonObject | undefined;
}

/**
 * Creates the request of a write. Replaces addresses by ids that earlier writes returned, and turns the length of a
 * validity into a start and an end. `ids` must contain every address to which the write refers.
 */
export function resolveWriteRequest(write: Write, context: WriteRequestContext): ResolvedWrite {
  return { ...createWriteRequestLine(write, context.ids), body: resolveBody(write, context) };
}

/** Facts that are known only when a write is sent. */
export interface WriteRequestContext {
  readonly ids: CreatedIds;
  readonly now: Date;
  /** The pipeline to record in the mark. `undefined`: the mark records no pipeline. */
  readonly by: string | undefined;
}

function resolveBody(write: Write, context: WriteRequestContext): JsonObject | undefined {
  if (write.method === 'DELETE') return undefined;
  const { module, mark } = write;
  const fields = resolveSpecReferences(getKind(write.kind), getSentFields(write), context.ids);
  if (module !== undefined) return assertJsonObject(fields[module]);
  return { ...fields, ...createValidity(write, context.now), ...(mark && createMetadata(write, mark, context)) };
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

/**
 * Returns the path of the spec field that the service names in `details.field` of an error response, as far as the
 * kind's table has it. `undefined` if it names none.
 */
export function findRejectedField(
  { kind, module, body }: Write,
  { response: { details } }: ApiError,
): string | undefined {
  const named = parsePath(details['field'] ?? '') ?? [];
  const isInModule = module !== undefined && named[0] !== module;
  const path = keepKnown(getKind(kind).type, isInModule ? [module, ...named] : named);
  const isFound = body !== undefined && path.length > (isInModule ? 1 : 0);
  return isFound ? formatPath(path) : undefined;
}

/**
 * Returns the leading steps of a path that exist in the types. Stops at an unordered list: its members were sorted
 * before they were sent, so an index in the response does not match the manifest.
 */
function keepKnown(root: FieldType, path: FieldPath): FieldPath {
  const steps: (string | number)[] = [];
  let type: FieldType | undefined = root;
  for (const step of path) {
    if (type.type === 'list' && type.unordered) break;
    type = findMemberType(type, step);
    if (type === undefined) break;
    steps.push(step);
  }
  return steps;
}
