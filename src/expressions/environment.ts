import {
  type ASTNode,
  TypeError as CelTypeError,
  Environment,
  EvaluationError,
  ParseError,
  type ParseResult,
} from '@marcbachmann/cel-js';
import type { SyntaxFinding } from '../model/finding.ts';
import type { Json } from '../model/json.ts';
import type { OffsetRange } from '../model/place.ts';
import { type CelBudget, type CelValues, estimateSteps, matchText } from './cost.ts';
import { listNodesInOperands, listVariablePaths } from './read-cel.ts';
import {
  type CelDeclarations,
  type CelObjectType,
  type CelValueTypes,
  defineType,
  isNullable,
  toCelValue,
  toJson,
  toNonNullableType,
} from './values.ts';

type CelResult = { readonly value: Json } | { readonly finding: string };

/** A compiled expression. Its names and types are valid. */
export interface CelProgram {
  /** The variables that the expression uses, each with the members selected from it: `after.acl`. */
  readonly names: readonly string[];
  /** The type of the result, in CEL notation. */
  readonly type: string;
  /** Evaluates the expression. Never throws: returns a finding if the evaluation fails or may exceed the budget. */
  readonly run: (values: CelValues, budget: CelBudget) => CelResult;
}

/** Compiles expressions. Never throws: returns a finding for an invalid expression. */
export interface CelCompiler {
  readonly compile: (text: string) => CelProgram | { readonly finding: SyntaxFinding };
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
export function createCelCompiler({ types, variables, doubles }: CelDeclarations): CelCompiler {
  const objects = new Map(Object.entries(types).map(([name, fields]) => [name, defineType(name, fields)]));
  const checking = createEnvironment(objects, variables, toNonNullableType);
  allowNull(checking, Object.values(types).flatMap(Object.values));
  const evaluating = createEnvironment(objects, variables, (type) => (isNullable(type) ? 'dyn' : type));
  evaluating.registerFunction(`string.${RE2_METHOD}(string): bool`, matchText);
  const compilation = { types, variables, checking, evaluating, valueTypes: { objects, doubles } };
  return { compile: (text) => compileExpression(text, compilation) };
}

function createEnvironment(
  objects: ReadonlyMap<string, CelObjectType>,
  variables: CelDeclarations['variables'],
  toType: (type: string) => string,
): Environment {
  const limits = { maxAstNodes: MAX_NODES, maxDepth: MAX_DEPTH };
  const environment = new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false, limits });
  for (const { name, fields, ctor } of objects.values()) {
    const types = Object.entries(fields).map(([field, type]) => [field, toType(type)] as const);
    environment.registerType(name, { ctor, fields: Object.fromEntries(types) });
  }
  for (const [name, type] of Object.entries(variables)) environment.registerVariable(name, type);
  return environment;
}

/** Lets the library's type check accept a comparison of a nullable value with null. The function is never called. */
function allowNull(environment: Environment, types: readonly string[]): void {
  for (const type of new Set(types.filter(isNullable).map(toNonNullableType)))
    environment.registerOperator(`${type} == null`, () => false);
}

interface Compilation extends Pick<CelDeclarations, 'types' | 'variables'> {
  readonly checking: Environment;
  /** A nullable value has the type `dyn` here. Has the method `RE2_METHOD`, which `useRe2` writes into expressions. */
  readonly evaluating: Environment;
  readonly valueTypes: CelValueTypes;
}

function compileExpression(text: string, compilation: Compilation): CelProgram | { readonly finding: SyntaxFinding } {
  const { checking, evaluating, variables } = compilation;
  if (text.length > MAX_LENGTH) return { finding: createWholeFinding(text, `is longer than ${MAX_LENGTH} characters`) };
  try {
    const parsed = checking.parse(text);
    const rejected = findRejectedSyntax(parsed.ast);
    if (rejected !== undefined) return { finding: rejected };
    const { type, error } = parsed.check();
    if (error !== undefined || type === undefined)
      return { finding: createExpressionFinding(error, text, compilation) };
    const names = listVariablePaths(parsed.ast).filter((name) => Object.hasOwn(variables, toVariable(name)));
    const evaluate = evaluating.parse(useRe2(text, parsed.ast));
    const [rest] = listMatches(evaluate.ast);
    if (rest !== undefined)
      return { finding: createRangeFinding(rest.range, 'has a call of matches that is not clear') };
    return {
      names,
      type,
      run: (values, budget) => runExpression({ names, ast: parsed.ast, evaluate, compilation }, values, budget),
    };
  } catch (error) {
    return { finding: createExpressionFinding(error, text, compilation) };
  }
}

/**
 * Replaces the method `matches` of the library, which uses regular expressions of JavaScript, by one with RE2. CEL
 * prescribes RE2, which does not backtrack. The name has the same length, so positions do not change.
 */
function useRe2(text: string, root: ASTNode): string {
  let changed = text;
  for (const { range, args } of listMatches(root)) {
    const [, receiver, [operand]] = args;
    const [start, end] = [receiver.range.end, operand?.range.start ?? range.end];
    const call = changed.slice(start, end).replace(/\bmatches\b/g, RE2_METHOD);
    changed = changed.slice(0, start) + call + changed.slice(end);
  }
  return changed;
}

function listMatches(root: ASTNode): readonly Extract<ASTNode, { readonly op: 'rcall' }>[] {
  const open = [root];
  const found: Extract<ASTNode, { readonly op: 'rcall' }>[] = [];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    open.push(...listNodesInOperands(node.op === 'value' ? [] : node.args));
    if (node.op === 'rcall' && node.args[0] === 'matches') found.push(node);
  }
  return found;
}

const RE2_METHOD = 're2find';

interface Evaluation {
  readonly names: readonly string[];
  readonly ast: ASTNode;
  readonly evaluate: ParseResult;
  readonly compilation: Compilation;
}

function runExpression(
  { names, ast, evaluate, compilation }: Evaluation,
  values: CelValues,
  budget: CelBudget,
): CelResult {
  const { variables, valueTypes: types } = compilation;
  try {
    const finding = budget.spend(estimateSteps(ast, values));
    if (finding !== undefined) return { finding };
    const used = new Set(names.map(toVariable));
    const converted = Array.from(used, (name) => [name, toCelValue(variables[name] ?? 'dyn', values[name], { types })]);
    return { value: toJson(evaluate(Object.fromEntries(converted))) };
  } catch (error) {
    if (error instanceof EvaluationError)
      return { finding: error.summary.replace(/\.$/, '').replaceAll(RE2_METHOD, 'matches') };
    if (error instanceof RangeError) return { finding: `too much: ${error.message}` };
    if (error instanceof Error) return { finding: error.message };
    throw error;
  }
}

function toVariable(name: string): string {
  return name.split('.')[0] ?? name;
}

/** Finds syntax that the library accepts but edgewise rejects. */
function findRejectedSyntax(root: ASTNode): SyntaxFinding | undefined {
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

function checkNode(node: ASTNode): SyntaxFinding | undefined {
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

function createExpressionFinding(error: unknown, text: string, { types, variables }: Compilation): SyntaxFinding {
  if (error instanceof RangeError) return createWholeFinding(text, 'is nested too deeply');
  if (!(error instanceof ParseError || error instanceof CelTypeError || error instanceof EvaluationError)) throw error;
  const [, limit] = /^Exceeded max(\w+)/.exec(error.summary) ?? [];
  if (limit !== undefined) return createWholeFinding(text, limit === 'Depth' ? 'is nested too deeply' : 'is too large');
  const finding = createRangeFinding(error.range ?? { start: 0, end: text.length }, error.summary.replace(/\.$/, ''));
  const given = text.slice(finding.range.start, finding.range.end);
  switch (error.code) {
    case 'unknown_variable':
      return { ...finding, unknown: { given, known: Object.keys(variables) } };
    case 'no_such_key':
      return { ...finding, unknown: { given, known: Object.values(types).flatMap(Object.keys) } };
    default:
      return finding;
  }
}

function createWholeFinding(text: string, message: string): SyntaxFinding {
  return createRangeFinding({ start: 0, end: text.length }, message);
}

function createRangeFinding({ start, end }: OffsetRange, message: string): SyntaxFinding {
  return { code: 'policy-invalid', message, range: { start, end: Math.max(start + 1, end) } };
}
