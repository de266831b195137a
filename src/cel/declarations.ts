/**
 * What expressions may name. A type is one of CEL, one that is declared here, or a list or a map of one: `string`, `list<Danger>`,
 * `map<string, int>`, `dyn`. The type of a field that may be null has a `?` behind it.
 */
export interface CelDeclarations {
  /** Fields by name, and their types, of each type that CEL does not have. */
  readonly types: Readonly<Record<string, CelFields>>;
  /** The same of types that are maps too: whatever takes a map takes one. */
  readonly records: Readonly<Record<string, CelFields>>;
  /** Types whose values are of one of several types. */
  readonly unions: Readonly<Record<string, readonly string[]>>;
  readonly variables: Readonly<Record<string, string>>;
}

/** Types by the names of fields. */
export type CelFields = Readonly<Record<string, string>>;

/** The type without the `?` behind it. */
export function toPresent(type: string): string {
  return type.endsWith('?') ? type.slice(0, -1) : type;
}

/** The same type with each name in it replaced: of `list<Rule>`, `list` and `Rule`. */
export function replaceNames(type: string, toName: (name: string) => string): string {
  return type.replace(/[\w.]+/g, toName);
}
