import { AS_WRITTEN, canonical, isDefault } from '../kinds/canonical.ts';
import { diff } from '../kinds/diff.ts';
import type { Field, FieldType } from '../kinds/field.ts';
import { isModule, type Kind } from '../kinds/kind.ts';
import { alignLiveWithSecrets, hasSameFields } from '../kinds/same-fields.ts';
import { isSpellingOf } from '../kinds/spelling.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { findMemberType } from '../kinds/walk.ts';
import type { ApiError } from '../model/errors.ts';
import { formatPath, parsePath } from '../model/field-path.ts';
import { isSameJson, type Json, type JsonObject, toJsonText } from '../model/json.ts';
import { isEqualMark, splitMetadata } from '../model/mark.ts';
import { hasMarkOf } from '../model/ownership.ts';
import { formatJson } from '../model/secret-value.ts';
import type { FieldPath, LiveResource, Spec } from '../model/state.ts';
import { getSentFields, type Write } from '../model/write.ts';

const METADATA = 'metadata';

/** The body of a request and the resource in its response. */
export interface ComparedResponse {
  readonly body: JsonObject | undefined;
  readonly live: LiveResource;
}

/**
 * Compares the response with the request, field by field, in normal form. Returns a message for each field that the
 * service did not accept as sent; empty if it accepted everything. Reports a lost mark first, because later runs do not
 * recognize a resource without its mark. Texts for people are compared by `checkTexts`.
 */
export function listUnacceptedFieldMessages(write: Write, { body = {}, live }: ComparedResponse): readonly string[] {
  const isLost = write.mark !== undefined && !hasMarkOf(live, write.mark);
  const sent = getSentFields({ ...write, body });
  const metadata = isLost ? [describeUnkeptMark(live)] : listMarkMessages(sent, live);
  const fields = listUnequalFields(write, sent, live.spec).map(({ field, name, wanted, got }) => {
    const what = isModule(field) ? `the module ${name}` : name;
    return `the service did not accept ${what}: ${formatComparedValue(wanted)} was sent, ${formatComparedValue(got)} came back`;
  });
  return [...metadata, ...fields];
}

export function describeUnkeptMark({ id }: LiveResource): string {
  return `the service did not keep the metadata of ${id}, which holds the mark`;
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

/** Names of the fields that the service stored with another meaning than they were sent. Not texts for people. */
export function listUnacceptedFields(write: Write, { body = {}, live }: ComparedResponse): readonly string[] {
  return listUnequalFields(write, body, live.spec).map(({ name }) => name);
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

/** A value in a message: hidden if it is concealed, and cut after 200 characters. */
export function formatComparedValue(value: Json): string {
  const text = formatJson(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

const MAX_SHOWN = 200;

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
