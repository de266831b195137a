import {
  type Field,
  type FieldLifecycle,
  type FieldType,
  getNestedFields,
  type ReferenceType,
} from '../kinds/field.ts';
import { FORMATS } from '../kinds/formats.ts';
import type { Kind } from '../kinds/kind.ts';
import { listKindsOfReferenceType } from '../kinds/references.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { assertNever } from '../model/errors.ts';
import { isJsonArray, isJsonObject, type JsonObject } from '../model/json.ts';
import { createManifestJsonSchema } from '../schemas/manifest.ts';
import { inlineDefs } from '../schemas/text.ts';
import type { CodeSection } from './code-section.ts';

export interface CodePage extends CodeSection {
  readonly about: 'code';
  readonly code: string;
}

const SECRET_CLAUSE = `, which may contain \`\${secret:NAME}\``;

/** The page of a kind, a field or a setting. */
export interface KindOrFieldPage {
  readonly about: 'kind' | 'field';
  /** The full path of the field, such as `TCPEdge.backend.backend_id`. */
  readonly path: string;
  readonly description: string;
  readonly facts: readonly PageFact[];
  readonly fields: readonly FieldRow[];
}

type PageFact = readonly [name: string, text: string];

export interface FieldRow {
  readonly name: string;
  /** The type, and whether the field is required, its default, and whether it can change. */
  readonly type: string;
  readonly description: string;
  readonly fields: readonly FieldRow[];
}

/**
 * The page of a path. If a step of the path is unknown: this step, the path before it, and the steps that are known
 * there.
 */
export type FieldPageResult =
  | KindOrFieldPage
  | { readonly unknown: string; readonly before: string; readonly known: readonly string[] };

/** Creates the page of the field at a path. If a step is unknown or the path is empty, returns the known steps. */
export function createFieldPage(kind: Kind, steps: readonly string[]): FieldPageResult {
  const way = resolvePathFields(kind, steps);
  if ('unknown' in way) return way;
  const field = way.fields.at(-1);
  if (field === undefined) return { unknown: '', before: kind.name, known: Object.keys(kind.fields) };
  return {
    about: 'field',
    path: [kind.name, ...steps].join('.'),
    description: field.description,
    facts: listFacts(kind, { steps, fields: way.fields, field }),
    fields: listRows(getNestedFields(field.type)),
  };
}

function listRows(fields: Readonly<Record<string, Field>>): readonly FieldRow[] {
  return Object.entries(fields).map(([name, field]) => ({
    name,
    type: [describeType(field.type), ...listFieldNotes(field)].join(', '),
    description: field.description,
    fields: listRows(getNestedFields(field.type)),
  }));
}

function listFieldNotes(field: Field): readonly string[] {
  const fallback = describeDefault(field);
  return [
    ...(field.required ? ['required'] : []),
    ...(fallback === '' ? [] : [`default ${fallback}`]),
    ...(field.lifecycle === 'immutable' ? ['immutable'] : []),
    ...(field.lifecycle === 'computed' || field.lifecycle === 'one-time' ? ['given by the service'] : []),
  ];
}

/** Finds the fields along a path, the outermost first. */
function resolvePathFields(
  kind: Kind,
  steps: readonly string[],
):
  | { readonly fields: readonly Field[] }
  | { readonly unknown: string; readonly before: string; readonly known: readonly string[] } {
  let table = kind.fields;
  const fields: Field[] = [];
  for (const [index, step] of steps.entries()) {
    const field = Object.hasOwn(table, step) ? table[step] : undefined;
    if (field === undefined)
      return { unknown: step, before: [kind.name, ...steps.slice(0, index)].join('.'), known: Object.keys(table) };
    fields.push(field);
    table = getNestedFields(field.type);
  }
  return { fields };
}

interface PathFields {
  readonly steps: readonly string[];
  readonly fields: readonly Field[];
  readonly field: Field;
}

function listFacts(kind: Kind, { steps, fields, field }: PathFields): readonly PageFact[] {
  const [first = field] = fields;
  const isSpecField = kind.specFields.some(([name]) => name === steps[0]);
  const lifecycle = first.lifecycle === 'mutable' ? field.lifecycle : first.lifecycle;
  const fallback = describeDefault(field);
  return [
    ['Type', describeType(field.type)],
    ...listExampleFacts(field.type),
    ['Lifecycle', LIFECYCLES[lifecycle]],
    ...(isSpecField ? ([['Required', field.required ? describeRequired(steps) : 'no']] as const) : []),
    ...(fallback === '' ? [] : ([['Default', fallback]] as const)),
    ...(isSpecField ? ([['A change', describeExampleChange(kind, lifecycle)]] as const) : []),
    ...listModuleFacts(steps, first),
    ...listInterfaceFacts(kind, { steps, fields, field }),
    ...listBehaviourFacts(kind, field),
  ];
}

const LIFECYCLES: Readonly<Record<FieldLifecycle, string>> = {
  mutable: 'mutable',
  immutable: 'immutable: set when the resource is created, and never changed',
  computed: 'computed: the service sets it; manifests never set it',
  'one-time': 'one-time: only in the response to the creation; manifests never set it',
};

function describeRequired(steps: readonly string[]): string {
  return steps.length === 1 ? 'yes' : `yes, where ${steps.slice(0, -1).join('.')} is set`;
}

function describeExampleChange({ role, title }: Kind, lifecycle: FieldLifecycle): string {
  if (lifecycle !== 'immutable') return `updates the ${title}`;
  return role === 'owned'
    ? `replaces the ${title}: a new one is created and the old one deleted`
    : 'attaches to another one, and does not change the old one';
}

function listModuleFacts(steps: readonly string[], first: Field): readonly PageFact[] {
  if (first.type.type !== 'object' || !first.type.module) return [];
  const whole = first.hasPath ? 'has a path of its own' : 'is a part of the resource';
  return steps.length === 1
    ? [['Module', `set and removed as a whole; ${whole}`]]
    : [['Module', `${steps[0]}, which is set and removed as a whole`]];
}

function listExampleFacts(type: FieldType): readonly PageFact[] {
  if (type.type === 'list') return listExampleFacts(type.of);
  if (type.type !== 'text') return [];
  if (type.known !== undefined) return [['Known', type.known.map((word) => `\`${word}\``).join(', ')]];
  return type.format === undefined ? [] : [['Example', `\`${FORMATS[type.format].example}\``]];
}

function listInterfaceFacts({ path }: Kind, { steps, fields, field }: PathFields): readonly PageFact[] {
  const sent = steps.join('.');
  const shown = steps.map((step, index) => fields[index]?.responseName ?? step).join('.');
  const isGiven = field.lifecycle === 'computed' || field.lifecycle === 'one-time';
  if (isGiven) return [['Interface', `${shown} in responses of ${path}`]];
  const inResponses = shown === sent ? '' : `, and ${shown} in responses`;
  return [['Interface', `${sent} of ${path}${inResponses}`]];
}

function listBehaviourFacts(
  { title }: Kind,
  { unique, type, alwaysSent, serviceDefault, keepsLiveValue, whenUnset }: Field,
): readonly PageFact[] {
  const each = type.type === 'list' ? 'each of its values' : 'its value';
  const isSet = type.type === 'list' && type.unordered;
  return [
    ...(unique ? ([['Unique', `${each} belongs to one ${title} at a time`]] as const) : []),
    ...(isSet ? ([['Order', 'is ignored']] as const) : []),
    ...(serviceDefault ? ([['Left out', 'it is not compared']] as const) : []),
    ...(serviceDefault
      ? ([
          ['No longer set', keepsLiveValue ? 'it keeps its value, with a warning' : 'the service chooses again'],
        ] as const)
      : []),
    ...(alwaysSent
      ? ([['Update', 'sends it whether it changed or not, since some services clear it otherwise']] as const)
      : []),
    ...(whenUnset === undefined ? [] : ([['Lint', `${whenUnset.code}, where it is not set`]] as const)),
  ];
}

/** Creates the page of a `lifecycle` setting that only this kind has. */
export function createKindLifecycleFieldPage(kind: Kind, name: string, field: Field): KindOrFieldPage {
  return {
    about: 'field',
    path: `${kind.name}.lifecycle.${name}`,
    description: field.description,
    facts: [['Type', describeType(field.type)], ...listExampleFacts(field.type), ['Required', 'no']],
    fields: [],
  };
}

/** Creates the page of a kind that has a table of fields. */
export function createKindPage(name: string): KindOrFieldPage {
  const kind = getKind(name);
  const written = kind.specFields.map(([field]) => field);
  const isReplaced = kind.role === 'owned' && kind.specFields.some(([, { lifecycle }]) => lifecycle === 'immutable');
  return {
    about: 'kind',
    path: kind.name,
    description: kind.description,
    facts: [
      ['What', describeRole(kind)],
      ['Ids', `${kind.idPrefix}_…`],
      ['Interface', kind.path],
      ...(isReplaced ? ([['Immutable', 'fields whose change replaces the resource']] as const) : []),
      ['Lifecycle', `edgewise explain ${kind.name}.lifecycle`],
      ['Example', `edgewise explain ${kind.name} --example`],
    ],
    fields: listRows(Object.fromEntries(Object.entries(kind.fields).sort(createFieldOrder(written)))),
  };
}

function describeRole({ role }: Kind): string {
  return role === 'owned'
    ? 'a resource that edgewise creates, changes and deletes'
    : 'modules on something that exists already';
}

/** Creates a comparison for sorting: fields that a manifest can set come first. */
function createFieldOrder(
  namesInManifest: readonly string[],
): (left: readonly [string, Field], right: readonly [string, Field]) => number {
  return ([left], [right]) => Number(namesInManifest.includes(right)) - Number(namesInManifest.includes(left));
}

/**
 * Creates the page of a part of a document from the JSON Schema of the document's kind. Used for parts outside `spec`,
 * and for kinds that are not resources.
 */
export function createSchemaPage(kind: string, steps: readonly string[]): FieldPageResult {
  let found: SchemaMember = { schema: inlineDefs(createManifestJsonSchema(kind)), isRequired: true };
  for (const [index, step] of steps.entries()) {
    const members: ReadonlyMap<string, SchemaMember> = indexMembers(found.schema);
    const next = members.get(step) ?? members.get(ANY_NAME);
    if (next === undefined)
      return { unknown: step, before: [kind, ...steps.slice(0, index)].join('.'), known: [...members.keys()] };
    found = next;
  }
  return createMemberPage([kind, ...steps].join('.'), found);
}

/** Lists the paths of all parts of a document of a kind, except parts with arbitrary names. */
export function listSchemaPaths(kind: string): readonly (readonly string[])[] {
  return listInner(inlineDefs(createManifestJsonSchema(kind)));
}

function listInner(schema: JsonObject): readonly (readonly string[])[] {
  return [...indexMembers(schema)].flatMap(([name, member]) =>
    name === ANY_NAME ? [] : [[name], ...listInner(member.schema).map((inner) => [name, ...inner])],
  );
}

/** Stands for any name in a path. */
const ANY_NAME = '<name>';

interface SchemaMember {
  readonly schema: JsonObject;
  readonly isRequired: boolean;
}

function createMemberPage(path: string, { schema, isRequired }: SchemaMember): KindOrFieldPage {
  const isKind = !path.includes('.');
  return {
    about: isKind ? 'kind' : 'field',
    path,
    description: readPageText(schema['description']),
    facts: isKind ? [] : listSchemaFacts(schema, isRequired),
    fields: listSchemaRows(schema),
  };
}

function listSchemaRows(schema: JsonObject): readonly FieldRow[] {
  const required = listAlternatives(schema).length > 1 ? 'or another of these' : 'required';
  return Array.from(indexMembers(schema), ([name, member]): FieldRow => {
    const fallback = describeSchemaDefault(member.schema);
    const notes = [
      ...(member.isRequired ? [required] : []),
      ...(fallback === undefined ? [] : [`default ${fallback}`]),
    ];
    return {
      name,
      type: [describeSchema(member.schema), ...notes].join(', '),
      description: readPageText(member.schema['description']),
      fields: listSchemaRows(member.schema),
    };
  });
}

function describeSchemaDefault({ default: fallback }: JsonObject): string | undefined {
  return fallback === undefined || isJsonObject(fallback) ? undefined : formatCode(JSON.stringify(fallback));
}

function listSchemaFacts(schema: JsonObject, isRequired: boolean): readonly PageFact[] {
  const [{ pattern } = {}] = listAlternatives(schema);
  const { examples } = schema;
  const fallback = describeSchemaDefault(schema);
  return [
    ['Type', describeSchema(schema)],
    ['Required', isRequired ? 'yes' : 'no'],
    ...(fallback === undefined ? [] : ([['Default', fallback]] as const)),
    ...(typeof pattern === 'string' ? ([['Pattern', removeEnvironmentPattern(pattern)]] as const) : []),
    ...(isJsonArray(examples) ? ([['Examples', examples.map(String).join(', ')]] as const) : []),
  ];
}

/** Removes the alternative for `${env:…}` from a pattern. It is not shown, because every text may have this form. */
function removeEnvironmentPattern(pattern: string): string {
  const own = /^\((.*)\)\|\\\$\\\{env:$/.exec(pattern)?.[1];
  return own === undefined ? pattern : removeEnvironmentPattern(own);
}

/** Maps the names of an object's fields to the fields. For a list, uses the fields of its members. */
function indexMembers(schema: JsonObject): ReadonlyMap<string, SchemaMember> {
  const members = listAlternatives(schema).flatMap((alternative): (readonly [string, SchemaMember])[] => {
    const { properties, required, additionalProperties: rest, items } = alternative;
    if (isJsonObject(items)) return [...indexMembers(items)];
    const names = isJsonArray(required) ? required : [];
    const named = isJsonObject(properties) ? Object.entries(properties) : [];
    const any = isJsonObject(rest) && Object.keys(rest).length > 0 ? [[ANY_NAME, rest] as const] : [];
    return [...named, ...any].flatMap(([name, member]) =>
      isJsonObject(member) ? [[name, { schema: member, isRequired: names.includes(name) }] as const] : [],
    );
  });
  return new Map(members);
}

function readPageText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Describes types and defaults of fields in words, from the tables of kinds and the schemas. Code is in backticks. */

/** Describes the type of a field and its limits. */
function describeType(type: FieldType): string {
  switch (type.type) {
    case 'text':
      return `${describeText(type.format === undefined ? 'text' : FORMATS[type.format].expected, type.maxBytes)}${type.orFile ? ', or `{ file: path }`' : ''}${type.mayBeSecret ? SECRET_CLAUSE : ''}`;
    case 'enum':
      return type.values.map(formatCode).join(', ');
    case 'boolean':
      return '`true`, `false`';
    case 'number':
      return `${type.integer ? 'whole number' : 'number'}, ${type.min} to ${type.max}`;
    case 'timestamp':
      return 'time, RFC 3339';
    case 'reference':
      return listReferable(type).map(formatCode).join(', ');
    case 'list':
      return `${type.unordered ? 'set' : 'list'}, each ${describeType(type.of)}`;
    case 'map':
      return `mapping from ${describeMember(type.keys)} to ${describeMember(type.of)}`;
    case 'object':
      return type.module ? 'module' : 'mapping';
    case 'json':
      return 'mapping';
    case 'metadata':
      return describeText('text or mapping', type.maxBytes);
    default:
      return assertNever(type);
  }
}

/** Lists the forms of a reference: addresses, and ids with their prefixes. */
function listReferable(type: ReferenceType): readonly string[] {
  const names = [...listKindsOfReferenceType(type).map(({ name }) => name), 'External'].map((name) => `${name}/name`);
  return [...names, ...type.prefixes.map((prefix) => `${prefix}_…`)];
}

/** Describes the value that a field has if it is not set. The text is empty if there is no such value. */
function describeDefault(field: Field): string {
  if (field.serviceDefault) return 'chosen by the service';
  return field.default === undefined ? '' : formatCode(JSON.stringify(field.default));
}

/** Describes the type in a JSON Schema and its limits. */
function describeSchema(schema: JsonObject): string {
  const [first = {}] = listAlternatives(schema);
  const { type, minimum, maximum, items, enum: words } = first;
  if (isJsonArray(words)) return words.map((word) => formatCode(String(word))).join(', ');
  if (type === 'array') return `list, each ${isJsonObject(items) ? describeSchema(items) : 'a value'}`;
  if (type === 'integer' || type === 'number') {
    const name = type === 'integer' ? 'whole number' : 'number';
    return maximum === undefined || Number(maximum) > 1e9
      ? `${name} from ${minimum}`
      : `${name}, ${minimum} to ${maximum}`;
  }
  return (typeof type === 'string' ? SHORT_TYPE_NAMES[type] : undefined) ?? 'mapping';
}

/**
 * Returns the alternatives of a schema, or the schema itself. A text that may also be `${env:…}` has two alternatives,
 * and the first one describes the text.
 */
function listAlternatives(schema: JsonObject): readonly JsonObject[] {
  const { anyOf } = schema;
  return isJsonArray(anyOf) ? anyOf.filter(isJsonObject) : [schema];
}

const SHORT_TYPE_NAMES: Readonly<Record<string, string>> = { string: 'text', boolean: '`true`, `false`' };

function describeText(what: string, maxBytes: number | undefined): string {
  return maxBytes === undefined ? what : `${what}, at most ${maxBytes} bytes`;
}

/**
 * Describes a type. The text is in parentheses if it contains commas, because they would be ambiguous inside a list.
 */
function describeMember(type: FieldType): string {
  const text = describeType(type);
  return text.includes(', ') ? `(${text})` : text;
}

function formatCode(text: string): string {
  return `\`${text}\``;
}
