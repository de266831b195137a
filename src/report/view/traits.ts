import { type Kind, listSpecFields } from '../../kinds/kind.ts';
import { isUnset } from '../../kinds/normalize.ts';
import { findInnerType } from '../../kinds/walk.ts';
import { isJsonArray, isJsonObject, type Json } from '../../model/json.ts';
import type { Spec } from '../../model/state.ts';
import { toWord } from './escape.ts';
import { type Names, renderScalar } from './value-lines.ts';
import { isEmpty, type KnownType } from './value-type.ts';

/** Values of one field that are said. */
const MAX_VALUES = 3;

/** A clause about a resource: `listens on`, and what stands in the field. */
export interface TraitView {
  readonly said: string;
  /** Empty: the clause needs none. */
  readonly values: string;
}

/** What a resource is, in clauses: what it listens on, where it leads, who may use it. The tables of kinds say which fields tell. */
export function listTraits(kind: Kind | undefined, spec: Spec, names: Names): readonly TraitView[] {
  if (kind === undefined) return [];
  return listSpecFields(kind).flatMap(([name, { tells, type }]) => {
    if (tells === undefined) return [];
    const value = spec[name];
    const values = isOff(value) ? [] : listValues(type, value ?? null, names);
    if (values.length > 0) return [{ said: tells.said, values: toShortList(values) }];
    return tells.unset === undefined ? [] : [{ said: tells.unset, values: '' }];
  });
}

function isOff(value: Json | undefined): boolean {
  return isUnset(value) || value === false || (isJsonObject(value) && value['enabled'] === false);
}

/** What is in a value, without how it is divided; a switch that is on says nothing besides. */
function listValues(type: KnownType, value: Json, names: Names): readonly string[] {
  if (value === true) return [''];
  if (isEmpty(value)) return [];
  if (isJsonArray(value))
    return value.flatMap((member, index) => listValues(findInnerType(type, index), member, names));
  if (!isJsonObject(value)) return [renderName(type, value, names)];
  return Object.entries(value).flatMap(([key, member]) => {
    if (type?.type === 'map') return [`${toWord(names.get(key) ?? key)} (${renderScalar(type.of, member, names)})`];
    return member === true || member === false ? [] : listValues(findInnerType(type, key), member, names);
  });
}

/** Of what is referred to, the name is enough. */
function renderName(type: KnownType, value: Json, names: Names): string {
  const isReference = type?.type === 'reference' && typeof value === 'string';
  return isReference ? toWord(names.get(value) ?? value) : renderScalar(type, value, names);
}

function toShortList(values: readonly string[]): string {
  const hidden = values.length - MAX_VALUES;
  return hidden > 0 ? `${values.slice(0, MAX_VALUES).join(', ')} and ${hidden} more` : values.join(', ');
}
