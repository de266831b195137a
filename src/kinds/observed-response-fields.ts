import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import type { ValueConcealer } from '../model/secrets.ts';
import type { LiveResource } from '../model/state.ts';
import { canonical, type Evidence } from './canonical.ts';
import { mapPossibleSecrets } from './conceal.ts';
import { createLeftOutEvidence } from './evidence.ts';
import type { Field, FieldType, NamedField } from './field.ts';
import type { Kind } from './kind.ts';
import { findShownValue, isNotSet, readResource } from './read-response.ts';

/**
 * The fields that the responses of a run contained, by kind. Many services leave out empty, null or false values, for
 * some resources and not for others. So if any response about a kind contains a field, the absence of the field in
 * another response means that it is empty. A field that no response contained is unknown. A switch that has a default may
 * be left out for either value: its absence means the value that no response contains while others contain the opposite.
 */
export class ObservedResponseFields {
  readonly #byKind = new Map<string, Map<Field, Set<Json>>>();
  readonly #hideLive: ValueConcealer['hideLive'];

  /** `hideLive` conceals the live values that may be secret. */
  constructor({ hideLive }: Pick<ValueConcealer, 'hideLive'>) {
    this.#hideLive = hideLive;
  }

  /** Records which fields a response shows. `json` is a whole resource, or some of its modules by name. */
  note(kind: Kind, json: JsonObject): void {
    noteFields(kind.specFields, json, this.#of(kind));
  }

  /**
   * Sets a field to empty if the response about this resource left it out and another response showed it. Conceals the
   * values that may be secret.
   */
  complete(kind: Kind, live: LiveResource): LiveResource {
    const shown = this.#of(kind);
    const leftOut = createLeftOutEvidence((field) => shown.get(field));
    const whole = canonical(kind, live.spec, kind.role === 'attached' ? ofReadModules(leftOut) : leftOut);
    const spec = mapPossibleSecrets(kind, whole, ({ value }) => this.#hideLive(value));
    return { ...live, spec };
  }

  /**
   * Reads the resources of a list. First notes all of them: a field that one resource shows is empty where another one
   * leaves it out.
   */
  readList(kind: Kind, list: readonly JsonObject[]): readonly LiveResource[] {
    for (const json of list) this.note(kind, json);
    return list.map((json) => this.complete(kind, readResource(kind, json)));
  }

  #of({ name }: Kind): Map<Field, Set<Json>> {
    const known = this.#byKind.get(name) ?? new Map<Field, Set<Json>>();
    this.#byKind.set(name, known);
    return known;
  }
}

/** What is known of an attached resource: a module that is absent was not read. */
function ofReadModules(leftOut: Evidence): Evidence {
  return {
    decide: (field, value, name) => (value === undefined ? undefined : leftOut.decide(field, value, name)),
    inside: () => leftOut,
  };
}

function noteFields(fields: readonly NamedField[], json: JsonObject, shown: Map<Field, Set<Json>>): void {
  for (const [name, field] of fields) {
    const value = findShownValue(json, name, field);
    if (value === undefined) continue;
    const values = shown.get(field) ?? new Set();
    if (field.type.type === 'boolean') values.add(value);
    shown.set(field, values);
    noteInside(field.type, value, shown);
  }
}

function noteInside(type: FieldType, value: Json, shown: Map<Field, Set<Json>>): void {
  if (type.type === 'object' && isJsonObject(value) && !isNotSet(value))
    noteFields(Object.entries(type.fields), value, shown);
  if (type.type !== 'list') return;
  for (const member of isJsonArray(value) ? value : [value]) noteInside(type.of, member, shown);
}
