import { type ASTNode, TypeError as CelTypeError, Environment } from '@marcbachmann/cel-js';
import { listNodes } from './read-cel.ts';
import { type CelDeclarations, type CelFields, defineType, replaceNames, toNonNullable } from './values.ts';

/**
 * Type-checks expressions with more types than evaluation knows. A nullable value has its non-null type here, because a comparison with null reveals nothing
 * about it; a record has the types of its fields. Both would reject expressions that evaluate well, so only certain errors count: `null` is of any type here,
 * and an error about a record or a union is dropped if it disappears when the value is another of its possible types.
 */

/** The type of an expression's result, or an error of the library. */
type CheckedType = { readonly type: string } | { readonly error: CelTypeError };

/** Checks the types of an expression that has been parsed and whose names are known. */
export type CheckTypes = (text: string, root: ASTNode) => CheckedType;

/** What checks types that are declared. */
export function createTypeCheck(declarations: CelDeclarations): CheckTypes {
  const { records, unions } = declarations;
  const known = new Map<string, Environment>();
  const getEnvironment = (assumed: Assumed): Environment => {
    const key = JSON.stringify([...assumed].sort());
    const environment = known.get(key) ?? createEnvironment(declarations, assumed);
    known.set(key, environment);
    return environment;
  };
  const alternatives = new Map([
    ...Object.keys(records).map((name): [string, readonly string[]] => [name, [MAP]]),
    ...Object.entries(unions),
  ]);
  return (text, root) => {
    const asked = withoutNull(text, root);
    return checkAssuming(new Map(), { check: (assumed) => check(getEnvironment(assumed), asked), alternatives });
  };
}

const MAP = 'map<string, dyn>';

/** Records and unions that are taken for something else. */
type Assumed = ReadonlyMap<string, string>;

interface Check {
  readonly check: (assumed: Assumed) => CheckedType;
  /** What a value of a record or union is too. */
  readonly alternatives: ReadonlyMap<string, readonly string[]>;
}

function checkAssuming(assumed: Assumed, context: Check): CheckedType {
  const checked = context.check(assumed);
  if ('type' in checked || CERTAIN.has(checked.error.code)) return checked;
  if (NUMBER_IN.test(checked.error.summary)) return { type: ANY };
  const open = listNamedTypes(checked.error).flatMap((name) => {
    const others = assumed.has(name) ? undefined : context.alternatives.get(name);
    return others === undefined ? [] : [{ name, others }];
  });
  const ways = Math.max(0, ...open.map(({ others }) => others.length));
  const isCertain = Array.from({ length: ways }, (_, way) =>
    context.check(new Map([...assumed, ...open.map(({ name, others }) => [name, others.at(way) ?? ANY] as const)])),
  ).every((other) => isSame(other, checked));
  if (isCertain) return checked;
  const loose = open.map(({ name, others: [only = ANY, ...more] }) => [name, more.length === 0 ? only : ANY] as const);
  return checkAssuming(new Map([...assumed, ...loose]), context);
}

const ANY = 'dyn';

/** Errors about a record that no other type of the value would cure: keys that it never has. */
const CERTAIN: ReadonlySet<string> = new Set(['no_such_key', 'invalid_index_type']);

/** A number that is looked for in a list of numbers of another type may be there. */
const NUMBER_IN = /: (?:int in list<double>|double in list<int>)\.?$/;

function isSame(one: CheckedType, other: { readonly error: CelTypeError }): boolean {
  if ('type' in one) return false;
  const [left, right] = [one.error.range, other.error.range];
  return left?.start === right?.start && left?.end === right?.end;
}

/** The types that an error is about: those that it names, and those of what its place is made of. */
function listNamedTypes({ node, summary }: CelTypeError): readonly string[] {
  const nodes = node === undefined ? [] : [node, ...listNodes(node.op === 'value' ? [] : node.args)];
  return [...new Set([summary, ...nodes.map(toTypeName)].flatMap((text) => text.match(/[\w.]+/g) ?? []))];
}

/** The library keeps the type of each node that it has checked, and does not declare that it does. */
function toTypeName(node: ASTNode & { readonly checkedType?: { readonly name: string } }): string {
  return node.checkedType?.name ?? '';
}

function check(environment: Environment, text: string): CheckedType {
  const { type = 'dyn', error } = environment.parse(text).check();
  if (error instanceof CelTypeError) return { error };
  return { type };
}

/** The same text with a variable for each null: as long, so that all keeps its place. */
function withoutNull(text: string, root: ASTNode): string {
  const open = [root];
  let changed = text;
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const { op, args, range } = node;
    if (op !== 'value') open.push(...listNodes(args));
    else if (args === null && text.slice(range.start, range.end) === 'null')
      changed = changed.slice(0, range.start) + ANYTHING + changed.slice(range.end);
  }
  return changed;
}

const ANYTHING = 'NULL';

function createEnvironment({ types, records, unions, variables }: CelDeclarations, assumed: Assumed): Environment {
  const environment = new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false });
  const toName = (name: string): string => assumed.get(name) ?? name;
  const toFields = (fields: CelFields): CelFields =>
    Object.fromEntries(Object.entries(fields).map(([name, type]) => [name, replaceNames(toNonNullable(type), toName)]));
  for (const [name, fields] of Object.entries({ ...types, ...records }))
    environment.registerType(name, { ctor: defineType(name, fields).ctor, fields: toFields(fields) });
  for (const name of Object.keys(unions)) environment.registerType(name, { ctor: defineType(name, {}).ctor });
  // The library knows of it only when it evaluates.
  environment.registerOperator('int == double', isNever);
  for (const name of [...Object.keys(records), ...Object.keys(unions)]) registerOperators(environment, name);
  for (const [name, type] of Object.entries(variables)) environment.registerVariable(name, toNonNullable(type));
  return environment.registerVariable(ANYTHING, 'dyn');
}

/** Registers the most frequent operations on records, so that they do not convert a record to a map. Nothing is evaluated. */
function registerOperators(environment: Environment, name: string): void {
  environment.registerOperator(`${name} == ${name}`, isNever);
  environment.registerOperator(`${name} == map`, isNever);
  environment.registerOperator(`string in ${name}`, isNever);
}

function isNever(): boolean {
  return false;
}
