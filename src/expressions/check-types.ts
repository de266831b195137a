import { type ASTNode, TypeError as CelTypeError, Environment } from '@marcbachmann/cel-js';
import { listNodesInOperands } from './read-cel.ts';
import {
  type CelDeclarations,
  type CelFieldTypes,
  defineType,
  replaceNamesInType,
  toNonNullableType,
} from './values.ts';

/**
 * Type-checks expressions more strictly than evaluation does, but without rejecting valid ones. A nullable value has
 * its non-null type here, because the library does not narrow a type after a comparison with null. `null` gets the type
 * `dyn`, so that such a comparison is valid. A record is first checked as a type with fixed fields, and a union as a
 * type of its own. If that results in an error, the check is repeated with the other types that the value can have,
 * such as a map for a record. The error is reported only if it occurs with all of them.
 */

type CheckedType = { readonly type: string } | { readonly error: CelTypeError };

/** Type-checks the expression `text`, whose syntax tree is `root`. All its names must be known. */
export type CheckTypes = (text: string, root: ASTNode) => CheckedType;

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
    const nullFree = withoutNull(text, root);
    return checkAssuming(new Map(), { check: (assumed) => check(getEnvironment(assumed), nullFree), alternatives });
  };
}

const MAP = 'map<string, dyn>';

/** Maps the name of a record or union to the type that the check assumes instead. */
type Assumed = ReadonlyMap<string, string>;

interface Check {
  readonly check: (assumed: Assumed) => CheckedType;
  /** Maps the name of a record or union to the other types that its values can have. */
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

/** Codes of errors about a key that a record never has. They are reported without trying other types of the value. */
const CERTAIN: ReadonlySet<string> = new Set(['no_such_key', 'invalid_index_type']);

/**
 * Matches the message of an error about searching for a number in a list of another number type. The error is ignored,
 * because the list may contain an equal number.
 */
const NUMBER_IN = /: (?:int in list<double>|double in list<int>)\.?$/;

function isSame(one: CheckedType, other: { readonly error: CelTypeError }): boolean {
  if ('type' in one) return false;
  const [left, right] = [one.error.range, other.error.range];
  return left?.start === right?.start && left?.end === right?.end;
}

/** Lists the types that an error may concern: the types in its message, and the types of the nodes at its position. */
function listNamedTypes({ node, summary }: CelTypeError): readonly string[] {
  const nodes = node === undefined ? [] : [node, ...listNodesInOperands(node.op === 'value' ? [] : node.args)];
  return [...new Set([summary, ...nodes.map(getTypeName)].flatMap((text) => text.match(/[\w.]+/g) ?? []))];
}

/** The library stores the type of each checked node, but its type declarations lack this property. */
function getTypeName(node: ASTNode & { readonly checkedType?: { readonly name: string } }): string {
  return node.checkedType?.name ?? '';
}

function check(environment: Environment, text: string): CheckedType {
  const { type = 'dyn', error } = environment.parse(text).check();
  if (error instanceof CelTypeError) return { error };
  return { type };
}

/**
 * Replaces each null by a variable of type `dyn`. The variable's name has the same length, so positions do not change.
 */
function withoutNull(text: string, root: ASTNode): string {
  const open = [root];
  let changed = text;
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const { op, args, range } = node;
    if (op !== 'value') open.push(...listNodesInOperands(args));
    else if (args === null && text.slice(range.start, range.end) === 'null')
      changed = changed.slice(0, range.start) + ANYTHING + changed.slice(range.end);
  }
  return changed;
}

const ANYTHING = 'NULL';

function createEnvironment({ types, records, unions, variables }: CelDeclarations, assumed: Assumed): Environment {
  const environment = new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false });
  const toName = (name: string): string => assumed.get(name) ?? name;
  const toFields = (fields: CelFieldTypes): CelFieldTypes =>
    Object.fromEntries(
      Object.entries(fields).map(([name, type]) => [name, replaceNamesInType(toNonNullableType(type), toName)]),
    );
  for (const [name, fields] of Object.entries({ ...types, ...records }))
    environment.registerType(name, { ctor: defineType(name, fields).ctor, fields: toFields(fields) });
  for (const name of Object.keys(unions)) environment.registerType(name, { ctor: defineType(name, {}).ctor });
  // The library's evaluation supports this comparison, but its type check does not.
  environment.registerOperator('int == double', isNever);
  for (const name of [...Object.keys(records), ...Object.keys(unions)]) registerOperators(environment, name);
  for (const [name, type] of Object.entries(variables)) environment.registerVariable(name, toNonNullableType(type));
  return environment.registerVariable(ANYTHING, 'dyn');
}

/**
 * Registers the most frequent operations on records, so that the check need not assume that a record is a map. The
 * library never calls the functions, because this environment only checks types.
 */
function registerOperators(environment: Environment, name: string): void {
  environment.registerOperator(`${name} == ${name}`, isNever);
  environment.registerOperator(`${name} == map`, isNever);
  environment.registerOperator(`string in ${name}`, isNever);
}

function isNever(): boolean {
  return false;
}
