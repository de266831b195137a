import { describeDefault, describeSchema, describeType, listAlternatives } from '../src/explain/describe-type.ts';
import type { Field, FieldType } from '../src/kinds/field.ts';
import { type Kind, listSpecFields } from '../src/kinds/kind.ts';
import { MANIFEST_KINDS } from '../src/kinds/tables/registry.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../src/model/json.ts';
import { toManifestJsonSchema } from '../src/schemas/manifest.ts';
import { writeOutParts } from '../src/schemas/parts.ts';

/** The part of docs/manifests.md that says what each kind holds, as the kind tables and the schemas say it. */
export function renderManifestReference(): string {
  return [
    renderLifecycle(),
    ...MANIFEST_KINDS.map(renderKind),
    renderDocument('External'),
    renderDocument('Stack'),
  ].join('\n\n');
}

const REQUIRED = '**required**';
const HEADINGS = ['Field of `spec`', 'Type', 'Default', 'Meaning'];

/** The settings of all kinds in one table, since most of them are the same everywhere. */
function renderLifecycle(): string {
  const rows = MANIFEST_KINDS.flatMap((kind) =>
    listPropertyRows(getProperty(kind.name, 'lifecycle')).map((row) => ({ row, kind: kind.name })),
  );
  const byName = Map.groupBy(rows, ({ row: [name, type, , meaning] }) => [name, type, meaning].join('\n'));
  const merged = [...byName.values()].map((same): Row => {
    const kinds = same.map(({ kind }) => kind);
    const [name = '', type = '', , meaning = ''] = same[0]?.row ?? [];
    return [name, type, kinds.length === MANIFEST_KINDS.length ? 'all' : kinds.join(', '), meaning];
  });
  return `### lifecycle\n\n${renderTable(['Field of `lifecycle`', 'Type', 'Kinds', 'Meaning'], merged)}`;
}

function renderKind(kind: Kind): string {
  const stated = listSpecFields(kind);
  const given = Object.keys(kind.fields).filter((name) => stated.every(([other]) => other !== name));
  return [
    `### ${kind.name}`,
    kind.description,
    renderTable(
      HEADINGS,
      stated.flatMap(([name, field]) => listRows(kind, name, field)),
    ),
    ...(given.length === 0 ? [] : [`Given by the service, never stated: ${given.map(toCode).join(', ')}.`]),
  ].join('\n\n');
}

/** A kind that is no resource. */
function renderDocument(kind: string): string {
  const { description } = toManifestJsonSchema(kind);
  return [`### ${kind}`, toText(description), renderTable(HEADINGS, listPropertyRows(getProperty(kind, 'spec')))].join(
    '\n\n',
  );
}

type Row = readonly [name: string, type: string, fallback: string, meaning: string];

function renderTable(headings: readonly string[], rows: readonly Row[]): string {
  const lines = [headings, headings.map(() => '---'), ...rows].map((cells) => `| ${cells.map(toCell).join(' | ')} |`);
  return lines.join('\n');
}

function toCell(text: string): string {
  return text.replaceAll('|', '\\|');
}

/** A field of a kind, then the fields inside of it. */
function listRows(kind: Kind, name: string, field: Field): readonly Row[] {
  const type = describeType(field.type).replace(`\`${kind.name}/name\`, `, ''); // nothing refers to itself
  const row: Row = [
    toCode(name),
    type,
    field.required ? REQUIRED : describeDefault(field),
    describeMeaning(kind, field),
  ];
  return [
    row,
    ...listInnerFields(name, field.type).flatMap(([inner, innerField]) => listRows(kind, inner, innerField)),
  ];
}

function listInnerFields(name: string, type: FieldType): readonly (readonly [name: string, field: Field])[] {
  if (type.type === 'list') return listInnerFields(`${name}[]`, type.of);
  return type.type === 'object'
    ? Object.entries(type.fields).map(([inner, field]) => [`${name}.${inner}`, field] as const)
    : [];
}

function describeMeaning({ role }: Kind, { description, lifecycle }: Field): string {
  return lifecycle === 'immutable' && role === 'owned'
    ? `${description} Changing it replaces the resource.`
    : description;
}

function getProperty(kind: string, name: string): Json {
  const { properties } = writeOutParts(toManifestJsonSchema(kind));
  return isJsonObject(properties) ? (properties[name] ?? {}) : {};
}

/** The rows of a JSON Schema of an object, those of objects inside of it included. */
function listPropertyRows(schema: Json, prefix = ''): readonly Row[] {
  const properties = isJsonObject(schema) && isJsonObject(schema['properties']) ? schema['properties'] : {};
  const required = isJsonObject(schema) && isJsonArray(schema['required']) ? schema['required'] : [];
  return Object.entries(properties).flatMap(([name, inner]): readonly Row[] => {
    if (!isJsonObject(inner)) return [];
    const fallback =
      'default' in inner && !isJsonObject(inner['default']) ? toCode(JSON.stringify(inner['default'])) : '';
    const row: Row = [
      toCode(`${prefix}${name}`),
      describeSchema(inner),
      required.includes(name) ? REQUIRED : fallback,
      toText(inner['description']),
    ];
    return [row, ...listInnerRows(inner, `${prefix}${name}`)];
  });
}

function listInnerRows(schema: JsonObject, name: string): readonly Row[] {
  const alternatives = listAlternatives(schema);
  const rows = alternatives.flatMap((alternative) => listPropertyRows(alternative, `${name}.`));
  const member = schema['additionalProperties'];
  return [
    ...(alternatives.length > 1 ? rows.map(toAlternative) : rows),
    ...(isJsonObject(member) ? listInnerRows(member, `${name}.*`) : []),
  ];
}

/** What one of several alternatives requires is not required of all. */
function toAlternative([name, type, fallback, meaning]: Row): Row {
  return [name, type, fallback === REQUIRED ? 'one of these' : fallback, meaning];
}

function toCode(text: string): string {
  return `\`${text}\``;
}

function toText(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
