import { isSameJson } from '../model/json.ts';
import { alignMembers } from '../model/secret-value.ts';
import type { Spec } from '../model/state.ts';
import type { Kind } from './kind.ts';
import { getNormalUnsetFieldValue } from './normalize.ts';
import { alignLiveSpec } from './read-response.ts';
import { isSpellingOf } from './spelling.ts';

/**
 * Whether a live spec has every field of a spec by meaning, except for metadata. Both are in normal form. A field that
 * the service does not show must not be set, and one that the spec leaves to the service may have any value.
 */
export function hasSameFields(kind: Kind, live: Spec, spec: Spec): boolean {
  const known = alignLiveSpec(kind, alignMembers(live, spec), spec);
  return kind.specFields.every(([name, field]) => {
    const [wanted, got] = [spec[name], live[name] === undefined ? undefined : known[name]];
    if (field.type.type === 'metadata' || wanted === undefined) return true;
    if (got === undefined) return isSameJson(wanted, getNormalUnsetFieldValue(field));
    return isSameJson(wanted, got) || isSpellingOf(field, got, wanted);
  });
}
