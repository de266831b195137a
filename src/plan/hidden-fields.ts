import type { FieldType } from '../kinds/field.ts';
import { isJsonArray, isJsonObject, type Json } from '../model/json.ts';
import type { ChangeDecision } from './decide.ts';

/** The compared fields of a kind that the service does not show. */
export interface HiddenFields {
  readonly kind: string;
  /** Each once, sorted, without list indexes. */
  readonly paths: readonly string[];
}

/** Finds the fields of manifests that the service does not show, by kind, without those in `lifecycle.ignore`. */
export function findHiddenFields(decisions: readonly ChangeDecision[]): readonly HiddenFields[] {
  const found = new Map<string, Set<string>>();
  for (const { pair, form } of decisions) {
    const { kind, live, desired } = pair;
    if (live === undefined || desired === undefined || form === undefined) continue;
    const { ignore } = desired.lifecycle;
    for (const [name, { type }] of kind.specFields) {
      if (form.normal[name] === undefined || ignore.includes(name)) continue;
      for (const path of listHiddenFields(type, { live: live.spec[name], desired: form.normal[name], path: name }))
        if (!ignore.includes(path)) found.set(kind.name, (found.get(kind.name) ?? new Set()).add(path));
    }
  }
  return [...found]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([kind, paths]) => ({ kind, paths: [...paths].sort() }));
}

interface ComparedField {
  readonly live: Json | undefined;
  readonly desired: Json | undefined;
  /** Without list indexes. */
  readonly path: string;
}

/** Lists the paths of fields that a response omits, except those whose value the manifest leaves to the service. */
function listHiddenFields(type: FieldType, { live, desired, path }: ComparedField): readonly string[] {
  if (live === undefined) return [path];
  if (type.type === 'object' && isJsonObject(live)) {
    const wanted = isJsonObject(desired) ? desired : {};
    return Object.entries(type.fields)
      .filter(([name, { serviceDefault }]) => !serviceDefault || wanted[name] !== undefined)
      .flatMap(([name, field]) =>
        listHiddenFields(field.type, { live: live[name], desired: wanted[name], path: `${path}.${name}` }),
      );
  }
  if (type.type !== 'list' || !isJsonArray(live)) return [];
  const wanted = isJsonArray(desired) ? desired : [];
  return live.flatMap((member, index) => listHiddenFields(type.of, { live: member, desired: wanted[index], path }));
}
