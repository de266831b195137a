import { type ASTNode, Environment, EvaluationError, ParseError, TypeError as TypeFault } from '@marcbachmann/cel-js';
import { isJsonArray, isJsonObject, type Json } from '../model/json.ts';
import { type Budget, BudgetError } from './budget.ts';
import { listNames } from './list-names.ts';
import { type MeteredProgram, meterProgram } from './metered-program.ts';

/** What expressions may name. A type is one of CEL, or one of `types`: `string`, `list<Danger>`, `map<string, int>`, `dyn`. */
export interface CelDeclarations {
  /** Fields by name, and their types, of each type that CEL does not have. */
  readonly types: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly variables: Readonly<Record<string, string>>;
}

/** What is wrong with an expression, and which part of it that is about, in UTF-16 units. */
export interface CelFault {
  readonly message: string;
  readonly start: number;
  readonly length: number;
  /** A name that is not known, and those that are. */
  readonly unknown?: { readonly given: string; readonly known: readonly string[] };
}

/** What an expression came to. */
export type CelResult = { readonly value: Json } | { readonly fault: string };

/** The values of the variables. A field that is left out has no value. */
export type CelValues = Readonly<Record<string, Json | Date>>;

/** An expression whose names and types are right. */
export interface CelProgram {
  /** The variables that it names, with what is selected of them: `after.acl`. */
  readonly names: readonly string[];
  /** The type of what it comes to, as CEL writes it. */
  readonly type: string;
  /** Never throws. */
  readonly run: (values: CelValues, budget: Budget) => CelResult;
}

/** Reads expressions. Never throws. */
export interface Cel {
  readonly compile: (text: string) => CelProgram | { readonly fault: CelFault };
}

/** Characters and nodes of an expression: enough for a list of some hundred addresses. */
const MAX_LENGTH = 20_000;
const MAX_NODES = 2_000;
const MAX_DEPTH = 50;

/** What reads expressions that may name these. Nothing that they can say has an effect, and there is no clock but a variable. */
export function createCel(declarations: CelDeclarations): Cel {
  const variables = new Map(Object.entries(declarations.variables));
  const types = new Map(Object.entries(declarations.types).map(([name, fields]) => [name, defineType(name, fields)]));
  const limits = { maxAstNodes: MAX_NODES, maxDepth: MAX_DEPTH };
  const environment = new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false, limits });
  for (const { name, fields, ctor } of types.values()) environment.registerType(name, { ctor, fields });
  for (const [name, type] of variables) environment.registerVariable(name, type);
  const toValues: Compilation['toValues'] = (values, names) =>
    new Map(Array.from(names, (name) => [name, toCelValue(variables.get(name) ?? 'dyn', values[name], types)]));
  return { compile: (text) => compile(environment, text, { declarations, toValues }) };
}

interface Compilation {
  readonly declarations: CelDeclarations;
  /** The values of these variables: what an expression does not name need not be converted. */
  readonly toValues: (values: CelValues, names: ReadonlySet<string>) => ReadonlyMap<string, unknown>;
}

function compile(
  environment: Environment,
  text: string,
  { declarations, toValues }: Compilation,
): CelProgram | { readonly fault: CelFault } {
  if (text.length > MAX_LENGTH) return { fault: toWhole(text, `is longer than ${MAX_LENGTH} characters`) };
  try {
    const parsed = environment.parse(text);
    const refused = findRefused(parsed.ast);
    if (refused !== undefined) return { fault: refused };
    const { type, error } = parsed.check();
    if (error !== undefined || type === undefined) return { fault: toFault(error, text, declarations) };
    const names = listNames(parsed.ast).filter((name) => Object.hasOwn(declarations.variables, toVariable(name)));
    const program = meterProgram(parsed);
    const used = new Set(names.map(toVariable));
    return { names, type, run: (values, budget) => evaluate(program, () => toValues(values, used), budget) };
  } catch (error) {
    return { fault: toFault(error, text, declarations) };
  }
}

function toVariable(name: string): string {
  return name.split('.')[0] ?? name;
}

/** What the library takes and should not. */
function findRefused(root: ASTNode): CelFault | undefined {
  const open: unknown[] = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (Array.isArray(node)) open.push(...node);
    if (!isNode(node)) continue;
    const fault = toRefusal(node);
    if (fault !== undefined) return fault;
    open.push(node.args);
  }
  return undefined;
}

function toRefusal(node: ASTNode): CelFault | undefined {
  // The name of the type of a map has those of its keys and of its values in it: with maps as keys it doubles with each.
  const key = node.op === 'map' ? node.args.find(([one]) => one.op !== 'value')?.[0] : undefined;
  if (key !== undefined) return toRange(key.range, 'has a map with a key that is computed');
  // It is no function of CEL, and reads the numbers of the bytes.
  return node.op === 'rcall' && node.args[0] === 'json'
    ? toRange(node.range, 'found no function json in CEL')
    : undefined;
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
}

function toFault(error: unknown, text: string, declarations: CelDeclarations): CelFault {
  if (error instanceof RangeError) return toWhole(text, 'is nested too deeply');
  if (!(error instanceof ParseError || error instanceof TypeFault || error instanceof EvaluationError)) throw error;
  const [, limit] = /^Exceeded max(\w+)/.exec(error.summary) ?? [];
  if (limit !== undefined) return toWhole(text, limit === 'Depth' ? 'is nested too deeply' : 'is too large');
  const fault = toRange(error.range ?? { start: 0, end: text.length }, error.summary.replace(/\.$/, ''));
  const given = text.slice(fault.start, fault.start + fault.length);
  switch (error.code) {
    case 'unknown_variable':
      return { ...fault, unknown: { given, known: Object.keys(declarations.variables) } };
    case 'no_such_key':
      return { ...fault, unknown: { given, known: Object.values(declarations.types).flatMap(Object.keys) } };
    default:
      return fault;
  }
}

function toWhole(text: string, message: string): CelFault {
  return { message, start: 0, length: text.length };
}

function toRange({ start, end }: { readonly start: number; readonly end: number }, message: string): CelFault {
  return { message, start, length: Math.max(1, end - start) };
}

function evaluate(program: MeteredProgram, toValues: () => ReadonlyMap<string, unknown>, budget: Budget): CelResult {
  try {
    return { value: toJson(program(toValues(), budget)) };
  } catch (error) {
    if (error instanceof EvaluationError) return { fault: error.summary.replace(/\.$/, '') };
    if (error instanceof RangeError && !(error instanceof BudgetError)) return { fault: `too much: ${error.message}` };
    if (error instanceof Error) return { fault: error.message };
    throw error;
  }
}

/** A type with fields, as the library knows one: by the constructor of its values. */
interface CelType {
  readonly name: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly ctor: new (fields: Readonly<Record<string, unknown>>) => object;
}

function defineType(name: string, fields: Readonly<Record<string, string>>): CelType {
  const ctor = class {
    constructor(values: Readonly<Record<string, unknown>>) {
      Object.assign(this, values);
    }
  };
  return { name, fields, ctor };
}

type Types = ReadonlyMap<string, CelType>;

/** A value as the library has those of a type. One that is not of the type stays as it is: using it is then an error. */
function toCelValue(type: string, value: Json | Date | undefined, types: Types): unknown {
  if (value === undefined || value instanceof Date) return value;
  const [, member] = /^list<(.+)>$/.exec(type) ?? [];
  if (member !== undefined && isJsonArray(value)) return value.map((one) => toCelValue(member, one, types));
  const message = types.get(type);
  if (message !== undefined && isJsonObject(value)) return toMessage(message, value, types);
  const [, of] = /^map<string, (.+)>$/.exec(type) ?? [];
  if (of !== undefined && isJsonObject(value))
    return new Map(Object.entries(value).map(([key, one]) => [key, toCelValue(of, one, types)]));
  if (type === 'double' && typeof value === 'number') return value;
  return toDynamic(value);
}

function toMessage({ fields, ctor }: CelType, value: Readonly<Record<string, Json>>, types: Types): object {
  const known = Object.entries(fields).filter(([name]) => Object.hasOwn(value, name));
  return new ctor(Object.fromEntries(known.map(([name, type]) => [name, toCelValue(type, value[name], types)])));
}

function toDynamic(value: Json): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (isJsonArray(value)) return value.map(toDynamic);
  return isJsonObject(value) ? new Map(Object.entries(value).map(([key, one]) => [key, toDynamic(one)])) : value;
}

/** What an expression came to, as JSON would say it. */
function toJson(value: unknown): Json {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'number':
      return value;
    case 'bigint':
      return Number(value);
    default:
      return toObjectJson(value);
  }
}

function toObjectJson(value: unknown): Json {
  if (typeof value !== 'object' || value === null) return null;
  if (Array.isArray(value)) return value.map(toJson);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Map)
    return Object.fromEntries([...value].map(([key, one]) => [String(key), toJson(one)] as const));
  const isPlain = Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null;
  if (!isPlain && Object.hasOwn(Object.getPrototypeOf(value), 'toString')) return String(value);
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, toJson(one)] as const));
}
