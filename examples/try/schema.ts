/** What the published schema says of a place in a manifest. */

/** As much of JSON Schema as the published schemas use. */
export interface Schema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly if?: Schema;
  readonly then?: Schema;
}

/** The place of a line in a document: the keys above it, and the kind of the document. */
export interface Place {
  readonly kind: string;
  /** A `-` is a member of a list. */
  readonly path: readonly string[];
}

const KEY = /^(\s*(?:- +)*)("?)([\w./-]+)\2\s*:/;

/** Where a line of a text is, by its indentation. `indent`: of what stands or would stand in it. */
export function findPlace(lines: readonly string[], at: number, indent: number): Place {
  const path: string[] = [];
  let level = indent;
  for (let line = at - 1; line >= 0 && level > 0; line -= 1) {
    const text = lines[line] ?? '';
    if (/^---/.test(text)) break;
    const [, start, , key] = KEY.exec(text) ?? [];
    if (start === undefined || key === undefined || start.length >= level) continue;
    path.unshift(key);
    level = start.search(/-|$/);
  }
  return { kind: findKind(lines, at), path };
}

function findKind(lines: readonly string[], at: number): string {
  const isBreak = (line: string) => /^---/.test(line);
  const start = lines.slice(0, at).findLastIndex(isBreak) + 1;
  const length = lines.slice(Math.max(at, start)).findIndex(isBreak);
  const document = lines.slice(start, length < 0 ? undefined : Math.max(at, start) + length);
  return document.map((line) => /^kind:\s*(\w+)/.exec(line)?.[1]).find((kind) => kind !== undefined) ?? '';
}

/** Every schema that is about a place: all alternatives, since nobody knows yet which is meant. */
export function findSchemas(root: Schema, { kind, path }: Place): readonly Schema[] {
  let found = expand(root, { root, kind });
  for (const key of path)
    found = found.flatMap(({ properties = {}, additionalProperties: more, items }) => {
      const own = properties[key] ?? (typeof more === 'object' ? more : undefined);
      const below =
        own === undefined && items !== undefined
          ? expand(items, { root, kind }).map((one) => one.properties?.[key])
          : [own];
      return below.flatMap((one) => (one === undefined ? [] : expand(one, { root, kind })));
    });
  return found;
}

function expand(schema: Schema, context: { readonly root: Schema; readonly kind: string }): readonly Schema[] {
  const { $ref, allOf = [], anyOf = [], oneOf = [], if: condition, then: consequence } = schema;
  const named = $ref === undefined ? undefined : context.root.$defs?.[$ref.slice($ref.lastIndexOf('/') + 1)];
  const asked = condition?.properties?.['kind']?.const;
  const own = consequence !== undefined && asked === context.kind ? [consequence] : [];
  return [
    schema,
    ...[...(named ? [named] : []), ...allOf, ...anyOf, ...oneOf, ...own].flatMap((one) => expand(one, context)),
  ];
}

/** What can stand at a place: keys, or the values of a key. */
export function listWords(
  root: Schema,
  place: Place,
  is: 'keys' | 'values',
): readonly { readonly label: string; readonly info: string }[] {
  const schemas = findSchemas(root, place);
  const of = (all: readonly Schema[]) =>
    all.flatMap((one) => [one, ...(one.items ? expand(one.items, { root, kind: place.kind }) : [])]);
  const words = is === 'keys' ? of(schemas).flatMap(listKeys) : of(schemas).flatMap(listValues);
  return [...new Map(words.map((word) => [word.label, word])).values()];

  function listKeys({ properties = {} }: Schema) {
    return Object.keys(properties).map((label) => ({
      label,
      info: describe(root, { ...place, path: [...place.path, label] }),
    }));
  }
}

function listValues({ enum: all = [], const: only, examples = [], default: usual, type = [] }: Schema) {
  const truths = [type].flat().includes('boolean') ? [true, false] : [];
  const values = [
    ...all,
    ...(only === undefined ? [] : [only]),
    ...truths,
    ...(usual === undefined ? [] : [usual]),
    ...examples,
  ];
  return values
    .filter((value) => typeof value !== 'object')
    .map((value) => ({ label: String(value), info: value === usual ? 'The default.' : '' }));
}

/** The sentences on a place; empty: there are none. */
export function describe(root: Schema, place: Place): string {
  const schemas = findSchemas(root, place);
  return schemas.map(({ description = '' }) => description).findLast((text) => text !== '') ?? '';
}
