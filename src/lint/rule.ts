import type { Field, FieldType } from '../kinds/field.ts';
import type { Kind } from '../kinds/kind.ts';
import type { LintCode } from '../model/diagnostic.ts';
import type { UncodedFinding } from '../model/finding.ts';
import { findMember, isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import type { Place } from '../model/place.ts';
import type { LintSettings, RuleSeverity } from '../model/stack.ts';
import type { DesiredResource, FieldPath } from '../model/state.ts';

/** A lint rule, which finds valid values that are probably mistakes. `LINT_CODES` describes each rule. */
export interface LintRule {
  readonly id: LintCode;
  readonly severity: RuleSeverity;
  /** The remedy of findings that have no remedy of their own. */
  readonly remedy: string;
  readonly check: (subject: LintedResource, context: LintContext) => readonly UncodedFinding[];
  /**
   * Whether plans have their own warning about the same mistake. `lint.ts` then skips the rule for a plan, unless the
   * severity of the rule is `error`.
   */
  readonly isToldByPlan?: true;
}

export interface LintedResource {
  readonly kind: Kind;
  readonly resource: DesiredResource;
  /** Every node of the spec that rules check. */
  readonly spots: readonly SpecNode[];
}

/** The input of rules in addition to the resource. */
export interface LintContext {
  readonly settings: LintSettings;
  readonly now: Date;
  /** Maps an id to the address that manifests can use instead. */
  readonly names: ReadonlyMap<string, ReplacementAddress>;
}

/** An address that a manifest can use instead of an id. */
export interface ReplacementAddress {
  readonly address: string;
  /** Returns the position of `spec.id` in the attached resource with this address. Absent for an `External`. */
  readonly locate?: (() => Place) | undefined;
}

/** A value in a spec, with its type. `value` is `undefined` for a missing field that rules check. */
export interface SpecNode {
  /** The path from the root of the document. */
  readonly path: FieldPath;
  readonly type: FieldType;
  /** Absent for a member of a list. */
  readonly field?: Field;
  readonly value: Json | undefined;
}

/** Lists the nodes of a spec that rules check, outer nodes first. Skips what `lifecycle.ignore` leaves to others. */
export function listSpecNodes(kind: Kind, { spec, lifecycle }: DesiredResource): readonly SpecNode[] {
  const spots: SpecNode[] = [];
  for (const place of listFieldPlaces(kind))
    if (!lifecycle.ignore.includes(place.name)) collectField(spec, place, spots);
  return spots.filter(({ path: [, field, member] }) => !lifecycle.ignore.includes(`${field}.${member}`));
}

interface FieldPlace {
  readonly path: FieldPath;
  readonly name: string;
  readonly field: Field;
}

function listFieldPlaces(kind: Kind): readonly FieldPlace[] {
  return kind.specFields.map(([name, field]) => ({ path: ['spec', name], name, field }));
}

function collectField(object: JsonObject, { path, name, field }: FieldPlace, spots: SpecNode[]): void {
  const value = findMember(object, name);
  if (isChecked(field, value)) collect({ path, type: field.type, field, value }, spots);
}

/** Whether rules check a field. A set field is always checked, a missing one only if its absence has a meaning. */
function isChecked({ type, whenUnset }: Field, value: Json | undefined): boolean {
  return value !== undefined || whenUnset !== undefined || (type.type === 'map' && type.isShares);
}

function collect(spot: SpecNode, spots: SpecNode[]): void {
  spots.push(spot);
  const { path, type, value } = spot;
  if (value === undefined || value === null) return;
  if (type.type === 'list') {
    const members = isJsonArray(value) ? value : [value];
    for (const [index, member] of members.entries())
      collect({ path: [...path, index], type: type.of, value: member }, spots);
  } else if (type.type === 'object' && isJsonObject(value))
    for (const [name, field] of Object.entries(type.fields))
      if (isChecked(field, findMember(value, name))) collectField(value, { path: [...path, name], name, field }, spots);
}
