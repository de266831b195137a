import { findMember, isJsonArray, isJsonObject, isSameJson, type Json } from '../model/json.ts';
import { type Evidence, getEmptyValue, getNormalUnsetFieldValue, nullIfDisabled } from './canonical.ts';
import type { Field, FieldType } from './field.ts';

/** What a live spec leaves out, by what is known of it. What a manifest leaves out is in `AS_WRITTEN`. */

/**
 * One response: what it leaves out is absent, because defaults apply only to requests. Only a module that is known to be
 * empty equals an unset one.
 */
export const AS_SHOWN: Evidence = {
  decide: (field, value) => {
    if (value !== undefined) return isValueHidden(field.type, value) ? value : nullIfDisabled(field, value);
    return field.absentWhenDefault && !field.serviceDefault ? getNormalUnsetFieldValue(field) : undefined;
  },
};

/** Whether the service does not show a field of a live spec, or shows only a part of it. */
export function isValueHidden(type: FieldType, value: Json | undefined): boolean {
  if (value === undefined) return true;
  if (type.type === 'object' && isJsonObject(value))
    return Object.entries(type.fields).some(([name, field]) => isValueHidden(field.type, value[name]));
  return (
    type.type === 'list' && isJsonArray(value) && value.some((member) => isValueHidden(type.of, member ?? undefined))
  );
}

/**
 * A live spec beside another one in normal form, for their comparison: what the service does not show is as in `spec`, a
 * time that the service stored a little earlier is that of `spec`, and what the service chose is absent where `spec`
 * leaves the choice to the service.
 */
export function like(spec: Json | undefined): Evidence {
  if (isJsonArray(spec))
    return { ...AS_SHOWN, inside: (step) => like(spec[Number(step)]), findMember: (at) => spec[at] };
  if (!isJsonObject(spec)) return AS_SHOWN;
  return {
    decide: (field, value, name) => {
      const wanted = findMember(spec, name);
      if (field.serviceDefault && wanted === undefined) return undefined;
      if (value === undefined || isAllowedEarlier(field, value, wanted)) return wanted;
      return wanted === null ? nullIfDisabled(field, value) : value;
    },
    inside: (step) => like(findMember(spec, String(step))),
  };
}

/** Whether a live time is earlier than the other one, by no more than the field allows. */
export function isAllowedEarlier({ earlierByMs }: Field, live: Json | undefined, spec: Json | undefined): boolean {
  if (earlierByMs === 0 || typeof live !== 'string' || typeof spec !== 'string') return false;
  const earlierMs = Date.parse(spec) - Date.parse(live);
  return earlierMs >= 0 && earlierMs <= earlierByMs;
}

/** Like `like`, but what the service does not show is as in `spec` only if it is empty there. */
export function likeEmpty(spec: Json | undefined): Evidence {
  if (isJsonArray(spec)) return { ...AS_SHOWN, inside: (step) => likeEmpty(spec[Number(step)]) };
  if (!isJsonObject(spec)) return AS_SHOWN;
  return {
    decide: (field, value, name) => {
      const wanted = findMember(spec, name);
      if (value !== undefined || wanted === undefined) return value;
      return isSameJson(wanted, getEmptyValue(field.type)) ? wanted : undefined;
    },
    inside: (step) => likeEmpty(findMember(spec, String(step))),
  };
}

/** The values of a boolean field that responses contained; empty for a field of another type. `undefined`: none contained it. */
type FindShownValues = (field: Field) => ReadonlySet<Json> | undefined;

const NO_VALUES: ReadonlySet<Json> = new Set();

/** Creates the evidence of the responses of a run, which showed these values. */
export function createLeftOutEvidence(findShown: FindShownValues): Evidence {
  return {
    decide: (field, value, name) =>
      value === undefined ? findLeftOutValue(field, findShown) : AS_SHOWN.decide(field, value, name),
  };
}

/** As if a response had shown every field: a field that is left out has the value that its absence means. Makes reads comparable. */
export const AS_IF_COMPLETE: Evidence = createLeftOutEvidence(() => NO_VALUES);

/**
 * What the absence of a field means: its empty value, zero, the value that no response contained although others contained
 * the opposite, or nothing that is known.
 */
type Absence = 'empty' | 'zero' | 'opposite' | 'unknown';

/** What a left-out field means, by type. `hasDefault`: the API has a default. `isChosen`: the service chooses a value. */
const ABSENCES: Readonly<
  Partial<Record<FieldType['type'], { readonly hasDefault: Absence; readonly isChosen: Absence }>>
> = {
  number: { hasDefault: 'zero', isChosen: 'zero' },
  boolean: { hasDefault: 'opposite', isChosen: 'unknown' },
  enum: { hasDefault: 'unknown', isChosen: 'unknown' },
};
const OTHER_ABSENCE = { hasDefault: 'empty', isChosen: 'unknown' } as const;

/** The value that the absence of a field means. `undefined`: no response shows the field, or each resource has it. */
function findLeftOutValue(field: Field, findShown: FindShownValues): Json | undefined {
  const { type, required, lifecycle, serviceDefault } = field;
  const values = findShown(field);
  if (values === undefined || (required && lifecycle === 'immutable')) return undefined;
  const { hasDefault, isChosen } = ABSENCES[type.type] ?? OTHER_ABSENCE;
  const withDefault = field.default === undefined ? 'empty' : hasDefault;
  switch (serviceDefault ? isChosen : withDefault) {
    case 'empty':
      return getEmptyValue(type);
    case 'zero':
      return type.type === 'number' && type.min <= 0 ? 0 : undefined;
    case 'opposite':
      if (field.default === false) return false;
      return values.size === 1 ? !values.has(true) : undefined;
    default:
      return undefined;
  }
}
