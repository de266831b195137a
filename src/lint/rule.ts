import type { CelReading } from '../expressions/read-cel.ts';
import type { Field, FieldType } from '../kinds/field.ts';
import type { Kind } from '../kinds/kind.ts';
import { KINDS } from '../kinds/tables/registry.ts';
import { listTypes } from '../kinds/walk.ts';
import type { LintCode, SourcePlace, TextPart } from '../model/diagnostic.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import type { LintSettings, RuleSeverity } from '../model/stack.ts';
import type { DesiredResource, FieldPath } from '../model/state.ts';

/** A lint rule. Finds valid values that are probably mistakes. `LINT_CODES` contains its description. */
export interface Rule {
  readonly id: LintCode;
  readonly severity: RuleSeverity;
  /** The remedy for findings that do not have their own. */
  readonly remedy: string;
  readonly check: (subject: LintSubject, context: RuleContext) => readonly LintFinding[];
  readonly needsCel?: true;
  /**
   * Plans have their own warning about what this rule finds. `lint.ts` then skips the rule for a plan, unless its
   * severity is `error`.
   */
  readonly isToldByPlan?: true;
}

export interface LintSubject {
  readonly kind: Kind;
  readonly resource: DesiredResource;
  /** Every node of the spec. */
  readonly spots: readonly SpecNode[];
}

/** What rules can use in addition to the resource. */
export interface RuleContext {
  readonly settings: LintSettings;
  readonly now: Date;
  readonly readCel: (text: string) => CelReading;
  /** By id: the document that gives it an address. */
  readonly names: ReadonlyMap<string, IdName>;
}

/** An address that a manifest can use instead of an id. */
export interface IdName {
  readonly address: string;
  /** The position of the id, if known. */
  readonly locate?: (() => SourcePlace) | undefined;
}

/** A finding of a rule. `path` starts at the document. */
export interface LintFinding {
  readonly path: FieldPath;
  /** The part of the text at the path. Absent: all of it. */
  readonly part?: TextPart;
  /** The message, without the address. */
  readonly message: string;
  readonly remedy?: string | undefined;
  readonly related?: { readonly message: string; readonly locate: () => SourcePlace } | undefined;
}

/** A typed node of a spec. `value` is `undefined` for a field that is left out and whose absence has a meaning. */
export interface SpecNode {
  /** From the start of the document. */
  readonly path: FieldPath;
  readonly type: FieldType;
  /** Absent for members of lists and maps. */
  readonly field?: Field;
  readonly value: Json | undefined;
}

/** Lists every node of a spec, outer nodes first. Skips the fields in `lifecycle.ignore`. */
export function listSpecNodes(kind: Kind, { spec, lifecycle }: DesiredResource): readonly SpecNode[] {
  const spots: SpecNode[] = [];
  for (const place of listFieldPlaces(kind))
    if (!lifecycle.ignore.includes(place.name)) collectField(spec, place, spots);
  return spots;
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
  const value = getOwn(object, name);
  if (isChecked(field, value)) collect({ path, type: field.type, field, value }, spots);
}

function getOwn(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/**
 * Whether rules check a field. Most fields are left out. Of those, only fields whose absence has a meaning are checked.
 */
function isChecked({ type, whenUnset }: Field, value: Json | undefined): boolean {
  return value !== undefined || whenUnset !== undefined || (type.type === 'map' && type.isShares);
}

/** Whether a spec sets a field that may contain expressions. */
export function hasExpression(kind: Kind, { spec, lifecycle }: DesiredResource): boolean {
  const fields = EXPRESSION_FIELDS.get(kind.name) ?? [];
  return fields.some((name) => spec[name] !== undefined && !lifecycle.ignore.includes(name));
}

/** The fields that may contain expressions, by kind. */
const EXPRESSION_FIELDS: ReadonlyMap<string, readonly string[]> = new Map(
  KINDS.map(({ name, specFields }) => [
    name,
    specFields.filter(([, { type }]) => listTypes(type).some(isExpression)).map(([field]) => field),
  ]),
);

function isExpression(type: FieldType): boolean {
  return type.type === 'text' && type.cel !== undefined;
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
    for (const [name, field] of type.namedFields)
      if (isChecked(field, getOwn(value, name))) collectField(value, { path: [...path, name], name, field }, spots);
}
