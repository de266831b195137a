import type { Address } from '../model/address.ts';
import { isConcealed } from '../model/concealed-value.ts';
import { formatPath } from '../model/field-path.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import type { FieldPath } from '../model/state.ts';
import type { StateInstance } from './terraform-state.ts';

/**
 * Finds values of manifests that a Terraform state calls sensitive. They come from the account, and the state says that
 * people should not see them. Where the names of an attribute and a field differ, a whole field counts: one warning too
 * many is right, one too few is not.
 */

/** A field of a manifest whose value a state calls sensitive. */
export interface SensitiveField {
  /** The address of the manifest. */
  readonly address: Address;
  /** Such as `spec.acl`. */
  readonly field: string;
  /** The address of the resource in the state. */
  readonly stateAddress: string;
}

/** A manifest, and what it has of a resource. */
export interface WrittenDocument {
  readonly address: Address;
  readonly id: string;
  /** By the names of attributes. */
  readonly values: JsonObject;
  /** Where the manifest has an attribute that is not in its `spec`. */
  readonly names: Readonly<Record<string, string>>;
}

export function listSensitiveFields(
  documents: readonly WrittenDocument[],
  instances: readonly StateInstance[],
): readonly SensitiveField[] {
  const byId = Map.groupBy(instances, ({ ids }) => ids['id']);
  return documents.flatMap(({ address, id, values, names }) =>
    (byId.get(id) ?? []).flatMap((instance) => {
      const found = instance.sensitive.flatMap((path) => listWrittenPaths(values, path)).map(formatPath);
      const fields = [...new Set(found)].map((field) => names[field] ?? `spec.${field}`);
      return fields.map((field): SensitiveField => ({ address, field, stateAddress: instance.address }));
    }),
  );
}

/** The parts of a manifest to which a path of a state leads. An empty path leads to all of it. */
function listWrittenPaths(values: JsonObject, [name, ...rest]: FieldPath): readonly FieldPath[] {
  const fields = Object.keys(values).filter((one) => name === undefined || one === name);
  return fields.flatMap((field) => {
    const below = findClearPath(values[field] ?? null, rest);
    return below === undefined ? [] : [[field, ...below]];
  });
}

/**
 * The start of a path, as far as the value has its names. `undefined`: it leads only to secrets of variables. A list
 * counts as a whole, because its order may differ.
 */
function findClearPath(value: Json, [step, ...rest]: FieldPath): FieldPath | undefined {
  if (!isClear(value)) return undefined;
  if (step === undefined || !isJsonObject(value)) return [];
  // Terraform has a list of one block where a manifest has an object.
  if (typeof step === 'number') return findClearPath(value, rest);
  const member = Object.hasOwn(value, step) ? value[step] : undefined;
  if (member === undefined) return [];
  const below = findClearPath(member, rest);
  return below && [step, ...below];
}

/** Whether a value has a part that is no secret of a variable. */
function isClear(value: Json): boolean {
  if (isConcealed(value)) return false;
  if (isJsonArray(value)) return value.some(isClear);
  return isJsonObject(value) ? Object.values(value).some(isClear) : true;
}
