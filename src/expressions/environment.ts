import {
  type ASTNode,
  TypeError as CelTypeError,
  Environment,
  EvaluationError,
  ParseError,
} from '@marcbachmann/cel-js';
import type { Json } from '../model/json.ts';
import { type CheckTypes, createTypeCheck } from './check-types.ts';
import { BudgetError, type CelBudget, type MeteredProgram, meterProgram } from './metered-program.ts';
import { listVariablePaths } from './read-cel.ts';
import {
  type CelDeclarations,
  type CelObjectType,
  type DeclaredCelTypes,
  defineType,
  replaceNamesInType,
  toCelValue,
  toJson,
} from './values.ts';

/** Why an expression is invalid, and the position of the error in UTF-16 code units. */
export interface CelFinding {
  readonly message: string;
  readonly start: number;
  readonly length: number;
  /** Set if a name is unknown: the given name, and all known names. */
  readonly unknown?: { readonly given: string; readonly known: readonly string[] };
}

type CelResult = { readonly value: Json } | { readonly finding: string };

/** The values of the variables, by name. A variable or field without a value is left out. */
export type CelValues = Readonly<Record<string, Json | Date>>;

/** A compiled expression. Its names and types are valid. */
export interface CelProgram {
  /** The variables that the expression uses, each with the members selected from it: `after.acl`. */
  readonly names: readonly string[];
  /** The type of the result, in CEL notation. */
  readonly type: string;
  /** Evaluates the expression. Never throws: returns a finding if the evaluation fails or exceeds the budget. */
  readonly run: (values: CelValues, budget: CelBudget) => CelResult;
}

/** Compiles expressions. Never throws: returns a finding for an invalid expression. */
export interface CelCompiler {
  readonly compile: (text: string) => CelProgram | { readonly finding: CelFinding };
}

/**
 * Limits on an expression: its characters, its syntax nodes, and their depth. Enough for a list of some hundred
 * addresses.
 */
const MAX_LENGTH = 20_000;
const MAX_NODES = 2_000;
const MAX_DEPTH = 50;

/**
 * Creates a compiler for expressions over the declared variables. Expressions have no side effects, and get the current
 * time only from a variable.
 */
export function createCelCompiler(declarations: CelDeclarations): CelCompiler {
  const variables = new Map(Object.entries(declarations.variables));
  const messages = Object.entries(declarations.types).map(([name, fields]) => defineType(name, fields));
  const types: DeclaredCelTypes = {
    messages: new Map(messages.map((type) => [type.name, type])),
    records: declarations.records,
  };
  const toValues: Compilation['toValues'] = (values, names) =>
    new Map(Array.from(names, (name) => [name, toCelValue(variables.get(name) ?? 'dyn', values[name], types)]));
  const environment = createEnvironment(declarations, messages);
  const compilation = { declarations, toValues, checkTypes: createTypeCheck(declarations) };
  return { compile: (text) => compile(environment, text, compilation) };
}

/**
 * Creates the environment for evaluation. Nullable values, doubles, records and unions have the type `dyn` here, so
 * that evaluation accepts all their possible values. `CheckTypes` checks their types.
 */
function createEnvironment(declarations: CelDeclarations, messages: readonly CelObjectType[]): Environment {
  const { records, unions, variables } = declarations;
  const isLoose = (name: string): boolean =>
    name === 'double' || Object.hasOwn(records, name) || Object.hasOwn(unions, name);
  const toType = (type: string): string =>
    type.endsWith('?') ? 'dyn' : replaceNamesInType(type, (name) => (isLoose(name) ? 'dyn' : name));
  const limits = { maxAstNodes: MAX_NODES, maxDepth: MAX_DEPTH };
  const environment = new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false, limits });
  for (const { name, fields, ctor } of messages) {
    const known = Object.entries(fields).map(([field, type]) => [field, toType(type)] as const);
    environment.registerType(name, { ctor, fields: Object.fromEntries(known) });
  }
  for (const [name, type] of Object.entries(variables)) environment.registerVariable(name, toType(type));
  return environment;
}

interface Compilation {
  readonly declarations: CelDeclarations;
  /** Converts only the values of the variables in `names`, because an expression needs no others. */
  readonly toValues: (values: CelValues, names: ReadonlySet<string>) => ReadonlyMap<string, unknown>;
  readonly checkTypes: CheckTypes;
}

function compile(
  environment: Environment,
  text: string,
  { declarations, toValues, checkTypes }: Compilation,
): CelProgram | { readonly finding: CelFinding } {
  if (text.length > MAX_LENGTH) return { finding: createWholeFinding(text, `is longer than ${MAX_LENGTH} characters`) };
  try {
    const parsed = environment.parse(text);
    const rejected = findRejectedSyntax(parsed.ast);
    if (rejected !== undefined) return { finding: rejected };
    const { type, error } = parsed.check();
    if (error !== undefined || type === undefined) return { finding: createFinding(error, text, declarations) };
    const checked = checkTypes(text, parsed.ast);
    if ('error' in checked) return { finding: createFinding(checked.error, text, declarations) };
    const names = listVariablePaths(parsed.ast).filter((name) =>
      Object.hasOwn(declarations.variables, toVariable(name)),
    );
    const program = meterProgram(parsed);
    const used = new Set(names.map(toVariable));
    return {
      names,
      type: checked.type,
      run: (values, budget) => evaluate(program, () => toValues(values, used), budget),
    };
  } catch (error) {
    return { finding: createFinding(error, text, declarations) };
  }
}

function toVariable(name: string): string {
  return name.split('.')[0] ?? name;
}

/** Finds syntax that the library accepts but edgewise rejects. */
function findRejectedSyntax(root: ASTNode): CelFinding | undefined {
  const open: unknown[] = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (Array.isArray(node)) open.push(...node);
    if (!isNode(node)) continue;
    const finding = checkNode(node);
    if (finding !== undefined) return finding;
    open.push(node.args);
  }
  return undefined;
}

function checkNode(node: ASTNode): CelFinding | undefined {
  // Reject computed keys, because the library names a map type after the types of its keys and values. If keys were
  // maps, this name would double in length at each level of nesting.
  const key = node.op === 'map' ? node.args.find(([one]) => one.op !== 'value')?.[0] : undefined;
  if (key !== undefined) return createRangeFinding(key.range, 'has a map with a key that is computed');
  // CEL has no function `json`. The library adds one, which parses bytes as JSON.
  return node.op === 'rcall' && node.args[0] === 'json'
    ? createRangeFinding(node.range, 'found no function json in CEL')
    : undefined;
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
}

function createFinding(error: unknown, text: string, declarations: CelDeclarations): CelFinding {
  if (error instanceof RangeError) return createWholeFinding(text, 'is nested too deeply');
  if (!(error instanceof ParseError || error instanceof CelTypeError || error instanceof EvaluationError)) throw error;
  const [, limit] = /^Exceeded max(\w+)/.exec(error.summary) ?? [];
  if (limit !== undefined) return createWholeFinding(text, limit === 'Depth' ? 'is nested too deeply' : 'is too large');
  const finding = createRangeFinding(error.range ?? { start: 0, end: text.length }, error.summary.replace(/\.$/, ''));
  const given = text.slice(finding.start, finding.start + finding.length);
  switch (error.code) {
    case 'unknown_variable':
      return { ...finding, unknown: { given, known: Object.keys(declarations.variables) } };
    case 'no_such_key':
      return { ...finding, unknown: { given, known: listFields(declarations) } };
    default:
      return finding;
  }
}

function listFields({ types, records }: CelDeclarations): readonly string[] {
  return [types, records].flatMap(Object.values).flatMap(Object.keys);
}

function createWholeFinding(text: string, message: string): CelFinding {
  return { message, start: 0, length: text.length };
}

function createRangeFinding(
  { start, end }: { readonly start: number; readonly end: number },
  message: string,
): CelFinding {
  return { message, start, length: Math.max(1, end - start) };
}

function evaluate(program: MeteredProgram, toValues: () => ReadonlyMap<string, unknown>, budget: CelBudget): CelResult {
  try {
    return { value: toJson(program(toValues(), budget)) };
  } catch (error) {
    if (error instanceof EvaluationError) return { finding: error.summary.replace(/\.$/, '') };
    if (error instanceof RangeError && !(error instanceof BudgetError))
      return { finding: `too much: ${error.message}` };
    if (error instanceof Error) return { finding: error.message };
    throw error;
  }
}
