import { computeManagedDigest, listIgnoredInMark } from '../kinds/ignored-parts.ts';
import { normalizeField } from '../kinds/normalize.ts';
import { getKind } from '../kinds/tables/registry.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { isJsonObject, isSameJson, type Json, type JsonObject, toCanonicalJson } from '../model/json.ts';
import { type ParsedMetadata, renderFittingMetadata, splitMetadata } from '../model/mark.ts';
import type { LiveResource, Spec } from '../model/state.ts';
import type { Write } from '../model/write.ts';
import { formatComparedValue } from './check-response.ts';

/**
 * Descriptions and metadata that the service stores in another form than they were sent: trimmed, in lower case. The
 * mark remembers the digest of that form beside the digest of what was sent, so that neither counts as a change.
 */

const METADATA = 'metadata';

/** A text that the service stored in another form. Both values are in normal form. */
export interface StoredForm {
  readonly name: string;
  readonly sent: Json;
  readonly stored: Json;
  /** The digest of `stored` for the mark, without parts that are left to others. */
  readonly digest: string;
}

interface WriteExchange {
  readonly body: JsonObject | undefined;
  readonly live: LiveResource;
  /** The spec of the resource before the write. `undefined` for a creation. */
  readonly before: Spec | undefined;
}

interface StoredFormCheck {
  /** Names of the fields whose form in the response is accepted. */
  readonly accepted: ReadonlySet<string>;
  /** The accepted forms that the mark does not remember yet. */
  readonly found: readonly StoredForm[];
}

/** The metadata in a request. If the request sets none, that of the resource in its response. */
function findMetadata({ body, live }: Pick<WriteExchange, 'body' | 'live'>): Pick<ParsedMetadata, 'user' | 'mark'> {
  const sent = body?.[METADATA];
  if (typeof sent === 'string') return splitMetadata(sent);
  const user = live.spec[METADATA];
  return { user: typeof user === 'string' || isJsonObject(user) ? user : '', mark: live.mark };
}

/**
 * Compares the texts of a request to a resource with a mark with the response. Accepts a form that the mark
 * remembers, and another one unless it is empty or the old value: then the service did not take the new value.
 */
export function checkStoredForms(write: Write, { body, live, before }: WriteExchange): StoredFormCheck {
  const accepted = new Set<string>();
  const found: StoredForm[] = [];
  const { user, mark } = findMetadata({ body, live });
  if (body === undefined || mark === undefined) return { accepted, found };
  const kind = getKind(write.kind);
  for (const [name, field] of kind.specFields) {
    const stored = live.spec[name];
    if (!field.mayBeStoredOtherwise || !Object.hasOwn(body, name) || stored === undefined) continue;
    const sent = normalizeField(field, name === METADATA ? user : body[name]);
    const digest = computeManagedDigest(kind, { name, value: stored }, listIgnoredInMark(mark));
    const isRemembered = mark.stored?.[name] === digest;
    const isOld = before?.[name] !== undefined && isSameJson(before[name], stored) && !isSpellingOf(sent, stored);
    if (isSameJson(sent, stored) || (!isRemembered && (stored === '' || isOld))) continue;
    accepted.add(name);
    if (!isRemembered) found.push({ name, sent, stored, digest });
  }
  return { accepted, found };
}

/**
 * Whether two values differ only in case, white space or the form of Unicode. If the service gives back the old value,
 * it has stored the new one in this form: for example, an apply was interrupted before it could record the form.
 */
function isSpellingOf(sent: Json, stored: Json): boolean {
  return squeeze(sent) === squeeze(stored);
}

function squeeze(value: Json): string {
  const text = typeof value === 'string' ? value : toCanonicalJson(value);
  return text.normalize('NFKC').toLowerCase().replace(/\s/g, '');
}

export function toStoredDigests(forms: readonly StoredForm[]): Readonly<Record<string, string>> {
  return Object.fromEntries(forms.map(({ name, digest }) => [name, digest]));
}

/**
 * Returns the body of the PATCH that records the stored forms in the mark. `undefined`: the metadata has no room for
 * them. A new credential gets them with the record of its delivery, so the room for both is checked.
 */
export function createRecordBody(
  write: Write,
  { body = {}, live }: Pick<WriteExchange, 'body' | 'live'>,
  forms: readonly StoredForm[],
): JsonObject | undefined {
  const kind = getKind(write.kind);
  const { user, mark } = findMetadata({ body, live });
  const type = kind.fields[METADATA]?.type;
  if (mark === undefined || type?.type !== 'metadata') return undefined;
  const stored = { ...mark.stored, ...toStoredDigests(forms) };
  const delivered = mark.delivered || kind.oneTimeFields.length > 0;
  const metadata = renderFittingMetadata(user, { ...mark, id: live.id, delivered, stored }, type.maxBytes);
  if (metadata === undefined) return undefined;
  const always = kind.specFields.flatMap(([name, { alwaysSent }]): [string, Json][] =>
    alwaysSent ? [[name, body[name] ?? live.spec[name] ?? null]] : [],
  );
  return { ...Object.fromEntries(always), [METADATA]: metadata };
}

export function describeMissingRoom(forms: readonly StoredForm[]): string {
  const names = forms.map(({ name }) => name).join(' and ');
  return `the service stores ${names} in another form than sent, and the metadata has no room to record that: shorten it, or write ${names} as the service stores it`;
}

/** `why`: the message of the error. */
export function describeFailedRecord(forms: readonly StoredForm[], why: string): string {
  const names = forms.map(({ name }) => name).join(' and ');
  return `it took effect, and the service stores ${names} in another form than sent, but that could not be recorded (${why}). The next apply records it`;
}

export function createStoredOtherwiseWarning({ address }: Write, { name, sent, stored }: StoredForm): Diagnostic {
  return {
    code: 'shown-otherwise',
    severity: 'warning',
    message: `${address}: the service stores ${name} in another form: ${formatComparedValue(sent)} was sent, ${formatComparedValue(stored)} came back`,
    remedy: 'Its mark remembers both, so neither is a change. Nothing has to be done.',
    address,
  };
}
