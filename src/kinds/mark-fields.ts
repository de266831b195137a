import { isSameJson } from '../model/json.ts';
import type { Spec } from '../model/state.ts';
import { type Kind, listSpecFields } from './kind.ts';
import { toDefault } from './normalize.ts';

/** The fields whose digest a mark holds: those that are not at their default. The spec is in normal form. */
export function listMarkedFields(kind: Kind, normal: Spec): readonly string[] {
  return listSpecFields(kind).flatMap(([name, field]) => {
    const value = normal[name];
    if (value === undefined) return [];
    return field.serviceDefault || !isSameJson(value, toDefault(field)) ? [name] : [];
  });
}
