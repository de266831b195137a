import type { CelReading } from '../expressions/read-cel.ts';
import type { Field, FieldType } from '../kinds/field.ts';
import type { Kind } from '../kinds/kind.ts';
import { KINDS } from '../kinds/tables/registry.ts';
import { listTypes } from '../kinds/walk.ts';
import type { LintCode, SourcePlace, TextPart } from '../model/diagnostic.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import type { LintSettings, RuleSeverity } from '../model/stack.ts';
import type { DesiredResource, FieldPath } from '../model/state.ts';

/** A lint rule: finds valid values that are most likely mistakes. Its message is that of its code. */
export interface Rule {
  readonly id: LintCode;
  readonly severity: RuleSeverity;
  /** What to do, unless a finding has its own remedy. */
  readonly remedy: string;
  readonly check: (subject: LintSubject, context: RuleContext) => readonly LintFinding[];
  /** It needs a CEL reader. */
  readonly needsCel?: true;
  /** A plan that would do it has its own warning. */
  readonly isToldByPlan?: true;
}

/** A resource under check. */
export interface LintSubject {
  readonly kind: Kind;
  readonly resource: DesiredResource;
  readonly spots: readonly SpecNode[];
}

/** What rules know in addition to the resource. */
export interface RuleContext {
  readonly settings: LintSettings;
  readonly now: Date;
  readonly readCel: (text: string) => CelReading;
  /** The documents that name ids, by the id. */
  readonly names: ReadonlyMap<string, IdName>;
}

/** An address that replaces an id in a document. */
export interface IdName {
  readonly address: string;
  /** The position of the id, if known. */
  readonly locate?: (() => SourcePlace) | undefined;
}

/** What a rule found, at a path of the document. */
export interface LintFinding {
  readonly path: FieldPath;
  /** The part of the text there that it is about. */
  readonly part?: TextPart;
  /** The message, without the address. */
  readonly message: string;
  readonly remedy?: string | undefined;
  readonly related?: { readonly message: string; readonly locate: () => SourcePlace } | undefined;
}

/** A typed node of a spec, with its value: none for a field that is left out and whose absence has a meaning. */
export interface SpecNode {
  /** From the start of the document. */
  readonly path: FieldPath;
  readonly type: FieldType;
  /** Absent at members of lists and maps. */
  readonly field?: Field;
  readonly value: Json | undefined;
}

/** Every node of a spec, outer ones first. Ignored fields are left out. */
export function listSpecNodes(kind: Kind, { spec, lifecycle }: DesiredResource): readonly SpecNode[] {
  const spots: SpecNode[] = [];
  for (const place of listPlaces(kind)) if (!lifecycle.ignore.includes(place.name)) collectField(spec, place, spots);
  return spots;
}

interface Place {
  readonly path: FieldPath;
  readonly name: string;
  readonly field: Field;
}

/** The places of the fields of a spec. */
function listPlaces(kind: Kind): readonly Place[] {
  return kind.specFields.map(([name, field]) => ({ path: ['spec', name], name, field }));
}

function collectField(object: JsonObject, { path, name, field }: Place, spots: SpecNode[]): void {
  const value = toOwn(object, name);
  if (isPlace(field, value)) collect({ path, type: field.type, field, value }, spots);
}

function toOwn(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Of the fields that are left out, most by far, only those whose absence means something are places. */
function isPlace({ type, whenUnset }: Field, value: Json | undefined): boolean {
  return value !== undefined || whenUnset !== undefined || (type.type === 'map' && type.isShares);
}

/** Whether a spec states a field that may contain expressions. */
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
      if (isPlace(field, toOwn(value, name))) collectField(value, { path: [...path, name], name, field }, spots);
}
