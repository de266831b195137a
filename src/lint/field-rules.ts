import type { Field } from '../kinds/field.ts';
import { normalizeField } from '../kinds/normalize.ts';
import { suggest } from '../manifest/suggest.ts';
import type { LintCode } from '../model/diagnostic-codes.ts';
import { toPathText } from '../model/field-path.ts';
import { isJsonArray, isJsonObject, type Json, toCanonicalJson } from '../model/json.ts';
import type { Hit, Subject } from './rule.ts';
import type { Spot } from './spots.ts';

/** One for all places where there is nothing to say: ten thousand resources have a million of them. */
const NONE: readonly Hit[] = [];

function checkEach(spots: readonly Spot[], check: (spot: Spot) => readonly Hit[]): readonly Hit[] {
  const hits: Hit[] = [];
  for (const spot of spots) for (const hit of check(spot)) hits.push(hit);
  return hits;
}

/** A check of fields whose table has a warning for when they are unset. */
export function checkUnset(id: LintCode): (subject: Subject) => readonly Hit[] {
  return ({ spots }) =>
    checkEach(spots, ({ path, field, value }) => {
      const advice = field?.whenUnset;
      if (field === undefined || advice?.code !== id || !isUnset(field, value)) return NONE;
      return [{ path, message: advice.message }];
    });
}

/** Whether a value is empty, false, or a disabled module. */
function isUnset(field: Field, value: Json | undefined): boolean {
  const normal = normalizeField(field, value);
  if (isJsonArray(normal)) return normal.length === 0;
  if (isJsonObject(normal)) return Object.keys(normal).length === 0 || normal['enabled'] === false;
  return normal === null || normal === '' || normal === false;
}

/** A check of modules whose table says when they have no effect. A disabled one should have none. */
export function checkIdle(id: LintCode): (subject: Subject) => readonly Hit[] {
  return ({ spots }) =>
    checkEach(spots, ({ path, type, value }) => {
      if (type.type !== 'object' || !isJsonObject(value) || value['enabled'] === false) return NONE;
      const reasons = (type.findIdle?.(value) ?? []).filter(({ code }) => code === id);
      return reasons.map(({ field, message }) => ({
        path: [...path, field],
        message: `${toPathText(path)} ${message}`,
      }));
    });
}

/** Texts with a list of known values. */
export function checkKnownValues({ spots }: Subject): readonly Hit[] {
  return checkEach(spots, ({ path, type, value }) => {
    if (type.type !== 'text' || type.known === undefined || typeof value !== 'string') return NONE;
    if (type.known.includes(value)) return [];
    const nearest = suggest(value, type.known);
    return [
      {
        path,
        message: `${toPathText(path)} is \`${value}\`, which is not known here; known are ${type.known.join(', ')}`,
        remedy: nearest === undefined ? undefined : `Did you mean \`${nearest}\`?`,
      },
    ];
  });
}

/** Maps of shares that add up to nothing. */
export function checkShares({ spots }: Subject): readonly Hit[] {
  return checkEach(spots, ({ path, type, value }) => {
    if (type.type !== 'map' || !type.isShares) return NONE;
    const shares = isJsonObject(value) ? Object.values(value) : [];
    if (shares.some((share) => Number(share) > 0)) return [];
    const what = shares.length === 0 ? 'is empty' : 'adds up to zero';
    return [{ path, message: `${toPathText(path)} ${what}: no traffic is forwarded` }];
  });
}

/** Sets that contain a value twice, in any spelling. */
export function checkRepeated({ spots, resource }: Subject): readonly Hit[] {
  return checkEach(spots, (spot) => listRepeated(spot, resource));
}

function listRepeated({ path, field, type, value }: Spot, { locate }: Subject['resource']): readonly Hit[] {
  if (type.type !== 'list' || !type.unordered || field === undefined || !isJsonArray(value)) return NONE;
  if (value.length < 2) return NONE;
  const first = new Map<string, number>();
  const ofMember = { ...field, default: undefined, type: type.of };
  return value.flatMap((member, index): readonly Hit[] => {
    const key = toCanonicalJson(normalizeField(ofMember, member));
    const before = first.get(key);
    if (before === undefined) first.set(key, index);
    if (before === undefined) return NONE;
    const related = { message: 'first stated here', locate: () => locate([...path, before]) };
    return [{ path: [...path, index], message: `${toPathText([...path, index])} repeats ${String(member)}`, related }];
  });
}
