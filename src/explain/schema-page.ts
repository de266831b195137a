import { isJsonArray, isJsonObject, type JsonObject } from '../model/json.ts';
import { toManifestJsonSchema } from '../schemas/manifest.ts';
import { writeOutParts } from '../schemas/parts.ts';
import { describeSchema, listAlternatives } from './describe-type.ts';
import type { Fact, FieldPage, FieldRow, FoundPage } from './field-page.ts';

/** A part of the document of a kind, as its JSON Schema says: what surrounds `spec`, and kinds that are no resources. */
export function findSchemaPage(kind: string, steps: readonly string[]): FoundPage {
  let found: Member = { schema: writeOutParts(toManifestJsonSchema(kind)), isRequired: true };
  for (const [index, step] of steps.entries()) {
    const members: ReadonlyMap<string, Member> = listMembers(found.schema);
    const next = members.get(step) ?? members.get(ANY);
    if (next === undefined)
      return { unknown: step, before: [kind, ...steps.slice(0, index)].join('.'), known: [...members.keys()] };
    found = next;
  }
  return toPage([kind, ...steps].join('.'), found);
}

/** The paths to everything that a document of a kind can hold, except parts with arbitrary names. */
export function listSchemaPaths(kind: string): readonly (readonly string[])[] {
  return listInner(writeOutParts(toManifestJsonSchema(kind)));
}

function listInner(schema: JsonObject): readonly (readonly string[])[] {
  return [...listMembers(schema)].flatMap(([name, member]) =>
    name === ANY ? [] : [[name], ...listInner(member.schema).map((inner) => [name, ...inner])],
  );
}

/** A name that stands for all. */
const ANY = '<name>';

interface Member {
  readonly schema: JsonObject;
  readonly isRequired: boolean;
}

function toPage(path: string, { schema, isRequired }: Member): FieldPage {
  const isKind = !path.includes('.');
  const members = [...listMembers(schema)];
  const hasChoice = listAlternatives(schema).length > 1;
  return {
    about: isKind ? 'kind' : 'field',
    path,
    description: toText(schema['description']),
    facts: isKind ? [] : listFacts(schema, isRequired),
    fields: members.map(([name, member]): FieldRow => {
      const required = hasChoice ? ', or another of these' : ', required';
      const type = `${describeSchema(member.schema)}${member.isRequired ? required : ''}`;
      return { name, type, description: toText(member.schema['description']) };
    }),
  };
}

function listFacts(schema: JsonObject, isRequired: boolean): readonly Fact[] {
  const [{ pattern } = {}] = listAlternatives(schema);
  const { default: fallback, examples } = schema;
  return [
    ['Type', describeSchema(schema)],
    ['Required', isRequired ? 'yes' : 'no'],
    ...(fallback === undefined || isJsonObject(fallback)
      ? []
      : ([['Default', `\`${JSON.stringify(fallback)}\``]] as const)),
    ...(typeof pattern === 'string' ? ([['Pattern', toOwnPattern(pattern)]] as const) : []),
    ...(isJsonArray(examples) ? ([['Examples', examples.map(String).join(', ')]] as const) : []),
  ];
}

/** Any text may come from the environment, so this alternative is not shown. */
function toOwnPattern(pattern: string): string {
  const own = /^\((.*)\)\|\\\$\\\{env:$/.exec(pattern)?.[1];
  return own === undefined ? pattern : toOwnPattern(own);
}

/** The fields of an object, or of the members of a list. */
function listMembers(schema: JsonObject): ReadonlyMap<string, Member> {
  const members = listAlternatives(schema).flatMap((alternative): (readonly [string, Member])[] => {
    const { properties, required, additionalProperties: rest, items } = alternative;
    if (isJsonObject(items)) return [...listMembers(items)];
    const names = isJsonArray(required) ? required : [];
    const stated = isJsonObject(properties) ? Object.entries(properties) : [];
    const any = isJsonObject(rest) && Object.keys(rest).length > 0 ? [[ANY, rest] as const] : [];
    return [...stated, ...any].flatMap(([name, member]) =>
      isJsonObject(member) ? [[name, { schema: member, isRequired: names.includes(name) }] as const] : [],
    );
  });
  return new Map(members);
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
