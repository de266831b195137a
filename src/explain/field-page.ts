import { type Field, type FieldType, type Lifecycle, listInnerFields } from '../kinds/field.ts';
import { FORMATS } from '../kinds/formats.ts';
import { type Kind, listSpecFields } from '../kinds/kind.ts';
import { listReferableKinds } from '../kinds/references.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { describeDefault, describeType } from './describe-type.ts';

/** All there is to show of a kind, of a field, or of a setting. */
export interface FieldPage {
  readonly about: 'kind' | 'field';
  /** What was asked for, in full: `TCPEdge.backend.backend_id`. */
  readonly path: string;
  readonly description: string;
  /** A word and its description. */
  readonly facts: readonly Fact[];
  /** What it holds. */
  readonly fields: readonly FieldRow[];
}

/** One thing that is known of a field. */
export type Fact = readonly [name: string, text: string];

/** A field, as it is listed in what holds it. */
export interface FieldRow {
  readonly name: string;
  readonly type: string;
  readonly description: string;
}

/** The page, or the known names at the first step that is unknown. */
export type FoundPage =
  | FieldPage
  | { readonly unknown: string; readonly before: string; readonly known: readonly string[] };

/** A field of a kind, with all that its table says of it. */
export function findFieldPage(kind: Kind, steps: readonly string[]): FoundPage {
  const way = findWay(kind, steps);
  if ('unknown' in way) return way;
  const field = way.fields.at(-1);
  if (field === undefined) return { unknown: '', before: kind.name, known: Object.keys(kind.fields) };
  return {
    about: 'field',
    path: [kind.name, ...steps].join('.'),
    description: field.description,
    facts: listFacts(kind, { steps, fields: way.fields, field }),
    fields: listRows(listInnerFields(field.type)),
  };
}

/** The fields of a table as rows. */
export function listRows(fields: Readonly<Record<string, Field>>): readonly FieldRow[] {
  return Object.entries(fields).map(([name, field]) => ({
    name,
    type: `${describeType(field.type)}${toRemark(field)}`,
    description: field.description,
  }));
}

function toRemark({ required, lifecycle }: Field): string {
  if (required) return ', required';
  return lifecycle === 'computed' || lifecycle === 'one-time' ? ', given by the service' : '';
}

/** The fields along a path, the last being the one that it names. */
function findWay(
  kind: Kind,
  steps: readonly string[],
):
  | { readonly fields: readonly Field[] }
  | { readonly unknown: string; readonly before: string; readonly known: readonly string[] } {
  let known = kind.fields;
  const fields: Field[] = [];
  for (const [index, step] of steps.entries()) {
    const field = Object.hasOwn(known, step) ? known[step] : undefined;
    if (field === undefined)
      return { unknown: step, before: [kind.name, ...steps.slice(0, index)].join('.'), known: Object.keys(known) };
    fields.push(field);
    known = listInnerFields(field.type);
  }
  return { fields };
}

interface Way {
  readonly steps: readonly string[];
  readonly fields: readonly Field[];
  readonly field: Field;
}

function listFacts(kind: Kind, { steps, fields, field }: Way): readonly Fact[] {
  const [first = field] = fields;
  const isStated = listSpecFields(kind).some(([name]) => name === steps[0]);
  const lifecycle = first.lifecycle === 'mutable' ? field.lifecycle : first.lifecycle;
  const fallback = describeDefault(field);
  return [
    ['Type', describeType(field.type)],
    ...listExampleFacts(field.type),
    ...listReferenceFacts(field.type),
    ['Lifecycle', LIFECYCLES[lifecycle]],
    ...(isStated ? ([['Required', field.required ? describeRequired(steps) : 'no']] as const) : []),
    ...(fallback === '' ? [] : ([['Default', fallback]] as const)),
    ...(isStated ? ([['A change', describeChange(kind, lifecycle)]] as const) : []),
    ...listModuleFacts(steps, first),
    ...listInterfaceFacts(kind, { steps, fields, field }),
    ...listBehaviourFacts(kind, field),
  ];
}

const LIFECYCLES: Readonly<Record<Lifecycle, string>> = {
  mutable: 'mutable',
  immutable: 'immutable: set when the resource is created, and never changed',
  computed: 'computed: the service sets it; manifests never state it',
  'one-time': 'one-time: only in the response to the creation; manifests never state it',
};

function describeRequired(steps: readonly string[]): string {
  return steps.length === 1 ? 'yes' : `yes, where ${steps.slice(0, -1).join('.')} is stated`;
}

function describeChange({ role, title }: Kind, lifecycle: Lifecycle): string {
  if (lifecycle !== 'immutable') return `updates the ${title}`;
  return role === 'owned'
    ? `replaces the ${title}: a new one is created and the old one deleted`
    : 'attaches to another one, and does not change the old one';
}

function listModuleFacts(steps: readonly string[], first: Field): readonly Fact[] {
  if (first.type.type !== 'object' || !first.type.module) return [];
  const whole = first.hasPath ? 'has a path of its own' : 'is a part of the resource';
  return steps.length === 1
    ? [['Module', `set and removed as a whole; ${whole}`]]
    : [['Module', `${steps[0]}, which is set and removed as a whole`]];
}

function listExampleFacts(type: FieldType): readonly Fact[] {
  if (type.type === 'list') return listExampleFacts(type.of);
  if (type.type !== 'text') return [];
  if (type.known !== undefined) return [['Known', type.known.map((word) => `\`${word}\``).join(', ')]];
  return type.format === undefined ? [] : [['Example', `\`${FORMATS[type.format].example}\``]];
}

function listReferenceFacts(type: FieldType): readonly Fact[] {
  if (type.type === 'list') return listReferenceFacts(type.of);
  if (type.type === 'map') return listReferenceFacts(type.keys);
  if (type.type !== 'reference') return [];
  const kinds = [...listReferableKinds(type).map(({ name }) => name), 'External'];
  return [['Refers to', `${kinds.join(', ')}, or an id ${type.prefixes.map((prefix) => `${prefix}_…`).join(', ')}`]];
}

function listInterfaceFacts({ path }: Kind, { steps, fields, field }: Way): readonly Fact[] {
  const sent = steps.join('.');
  const shown = steps.map((step, index) => fields[index]?.responseName ?? step).join('.');
  const isGiven = field.lifecycle === 'computed' || field.lifecycle === 'one-time';
  if (isGiven) return [['Interface', `${shown} in responses of ${path}`]];
  const inResponses = shown === sent ? '' : `, and ${shown} in responses`;
  return [['Interface', `${sent} of ${path}${inResponses}`]];
}

function listBehaviourFacts(
  { title }: Kind,
  { unique, type, alwaysSent, serviceDefault, staysWhenLeftOut, whenUnset }: Field,
): readonly Fact[] {
  const each = type.type === 'list' ? 'each of its values' : 'its value';
  const isSet = type.type === 'list' && type.unordered;
  return [
    ...(unique ? ([['Unique', `${each} belongs to one ${title} at a time`]] as const) : []),
    ...(isSet ? ([['Order', 'means nothing']] as const) : []),
    ...(serviceDefault ? ([['Left out', 'it is not compared']] as const) : []),
    ...(serviceDefault
      ? ([
          ['No longer stated', staysWhenLeftOut ? 'it keeps its value, with a warning' : 'the service chooses again'],
        ] as const)
      : []),
    ...(alwaysSent
      ? ([['Update', 'sends it whether it changed or not, since some services clear it otherwise']] as const)
      : []),
    ...(whenUnset === undefined ? [] : ([['Lint', `${whenUnset.code}, where it is not set`]] as const)),
  ];
}

/** A setting that a kind alone has under `lifecycle`. */
export function toSettingPage(kind: Kind, name: string, field: Field): FieldPage {
  return {
    about: 'field',
    path: `${kind.name}.lifecycle.${name}`,
    description: field.description,
    facts: [['Type', describeType(field.type)], ...listExampleFacts(field.type), ['Required', 'no']],
    fields: [],
  };
}

/** A kind whose resources have fields by its table. */
export function toKindPage(name: string): FieldPage {
  const kind = getKind(name);
  const written = listSpecFields(kind).map(([field]) => field);
  const replacing = listSpecFields(kind).flatMap(([field, { lifecycle }]) =>
    lifecycle === 'immutable' ? [field] : [],
  );
  return {
    about: 'kind',
    path: kind.name,
    description: kind.description,
    facts: [
      ['What', describeRole(kind)],
      ['Ids', `${kind.idPrefix}_…`],
      ['Interface', kind.path],
      ...(replacing.length > 0 && kind.role === 'owned'
        ? ([['Replaced', `when one of these changes: ${replacing.join(', ')}`]] as const)
        : []),
      ['Lifecycle', `edgewise explain ${kind.name}.lifecycle`],
    ],
    fields: listRows(Object.fromEntries(Object.entries(kind.fields).sort(byStated(written)))),
  };
}

function describeRole({ role }: Kind): string {
  return role === 'owned'
    ? 'a resource that edgewise creates, changes and deletes'
    : 'modules on something that exists already';
}

/** Fields that a manifest can state come first. */
function byStated(
  stated: readonly string[],
): (left: readonly [string, Field], right: readonly [string, Field]) => number {
  return ([left], [right]) => Number(stated.includes(right)) - Number(stated.includes(left));
}
