import type { Field } from '../kinds/field.ts';
import { isModule, type Kind, listSpecFields } from '../kinds/kind.ts';
import { toDefault } from '../kinds/normalize.ts';
import { toClearValue } from '../kinds/request-body.ts';
import type { Change } from '../model/change.ts';
import { assertDefined } from '../model/errors.ts';
import { isJsonObject, isSameJson, type Json, type JsonObject } from '../model/json.ts';
import type { Spec } from '../model/state.ts';
import type { DesiredForm } from './desired-form.ts';

/** What a change says of the values that are sent. */
type Sent = Pick<Change, 'desired' | 'sent'>;

/** The body of a creation but for its metadata: every field that is stated. */
export function toCreateBody(kind: Kind, change: Sent): JsonObject {
  const stated = listSpecFields(kind).flatMap(([name, field]): [string, Json][] => {
    const value = name === 'metadata' ? undefined : toSentValue(name, field, change);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(stated);
}

/** The body of a PATCH of these fields, with those that some services clear when a PATCH leaves them out. */
export function toPatchBody(kind: Kind, { live, ...change }: Change, names: readonly string[]): JsonObject {
  const entries = names.map((name): [string, Json] => {
    const field = assertDefined(kind.fields[name], `${kind.name}.${name}`);
    return [name, toSentValue(name, field, change) ?? toClearValue(field) ?? null];
  });
  return { ...toAlwaysSent(kind, change, live?.spec ?? {}), ...Object.fromEntries(entries) };
}

/** Fields that some services clear when a PATCH leaves them out: as they are to be, else as they are live. */
export function toAlwaysSent(kind: Kind, change: Sent, live: Spec): JsonObject {
  const entries = listSpecFields(kind).flatMap(([name, field]): [string, Json][] =>
    field.alwaysSent ? [[name, toSentValue(name, field, change) ?? live[name] ?? null]] : [],
  );
  return Object.fromEntries(entries);
}

/** The value of a field as it is sent; `undefined`: it is left out, which means its default. */
export function toSentValue(name: string, field: Field, { desired = {}, sent = {} }: Sent): Json | undefined {
  return Object.hasOwn(sent, name) ? sent[name] : toPlainValue(field, desired[name]);
}

/** Those of the named fields that are sent as the manifest has them because that differs from the normal form, though it means the same. */
export function listSentForms(kind: Kind, form: DesiredForm, names: ReadonlySet<string>): Spec {
  const entries = listSpecFields(kind).flatMap(([name, field]): [string, Json][] => {
    const value = toStated(name, field, form);
    const plain = toPlainValue(field, form.normal[name]);
    const isPlain = value === undefined || (plain !== undefined && isSameJson(value, plain));
    return isPlain || name === 'metadata' || !names.has(name) ? [] : [[name, value]];
  });
  return Object.fromEntries(entries);
}

/** The value sent for a normal form: nothing for a default. */
function toPlainValue(field: Field, normal: Json | undefined): Json | undefined {
  const isDefault =
    normal === undefined || normal === null || (!field.serviceDefault && isSameJson(normal, toDefault(field)));
  return isDefault ? undefined : normal;
}

/** As written, except that an object that is no module is sent with its defaults: not every service fills them in. */
function toStated(name: string, field: Field, { written, normal }: DesiredForm): Json | undefined {
  const isFilledIn = isJsonObject(written[name]) && field.type.type === 'object' && !isModule(field);
  return (isFilledIn ? normal[name] : written[name]) ?? undefined;
}
