import { ConcealedValue, isConcealed } from '../model/concealed-value.ts';
import { isJsonArray, isJsonObject, type Json, mapMembers, mapObjectMembers } from '../model/json.ts';
import type { Plan } from '../model/plan.ts';
import { NO_OP_SECRET_REDACTOR, type SecretRedactor } from '../model/secrets.ts';

/**
 * What a plan file has redacted, because it contains the value of a secret. Before a plan from a file is compared, each
 * text of a new plan takes the place of its redacted form there. So unchanged manifests are as approved. That a manifest
 * has the approved text, and not another one with the same redacted form, is shown by `hidden-digests.ts`.
 */

/** A text, a number or a key. */
export type Scalar = string | number;

type Redactor = Pick<SecretRedactor, 'redact'>;

/** Lists the texts, numbers and concealed values in JSON, and its keys, each before its value. Keys are sorted. */
export function listScalars(value: unknown): readonly (Scalar | ConcealedValue)[] {
  if (typeof value === 'string' || typeof value === 'number' || isConcealed(value)) return [value];
  if (isJsonArray(value)) return value.flatMap(listScalars);
  if (!isJsonObject(value)) return [];
  return Object.entries(value)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .flatMap(([key, member]) => [key, ...listScalars(member)]);
}

/** Lists the texts, numbers, keys and templates in JSON. */
export function listTexts(value: unknown): readonly Scalar[] {
  return listScalars(value).flatMap((one) => (isConcealed(one) ? (one.template ?? []) : one));
}

/** Lists the texts, numbers, keys and templates in JSON that redaction changes. */
export function listRedacted(value: unknown, { redact }: Redactor): readonly Scalar[] {
  const texts = listTexts(value);
  const isAny = isChanged(texts.join('\n'), redact);
  return isAny ? texts.filter((one) => isChanged(String(one), redact)) : [];
}

function isChanged(text: string, redact: Redactor['redact']): boolean {
  return redact(text) !== text;
}

/**
 * Returns a plan with each redacted text replaced by the text in `now` that it is redacted from. A text stays redacted if
 * `now` has none, or several. Returns the same plan if nothing in `now` is redacted.
 */
export function restoreRedactedTexts(plan: Plan, now: unknown, secrets: Redactor = NO_OP_SECRET_REDACTOR): Plan {
  const originals = new Map<string, Scalar | undefined>();
  for (const one of new Set(listRedacted(now, secrets))) {
    const redacted = secrets.redact(String(one));
    originals.set(redacted, originals.has(redacted) ? undefined : one);
  }
  if (originals.size === 0 || !isJsonObject(plan)) return plan;
  const toText = (text: string): string => String(originals.get(text) ?? text);
  const restore = (value: Json): Json => {
    if (typeof value === 'string') return originals.get(value) ?? value;
    if (!isConcealed(value)) return mapMembers(value, restore, toText);
    return value.template === undefined ? value : ConcealedValue.secret(toText(value.template), value.number);
  };
  return mapObjectMembers(plan, restore, toText) as typeof plan; // texts take the place of texts
}
