import type { ASTNode } from '@marcbachmann/cel-js';
import { compileRe2, estimateRe2Cost } from '../kinds/re2.ts';
import { isJsonArray, type Json } from '../model/json.ts';
import { StackError } from '../model/user-errors.ts';
import { findMacroVariable } from './read-cel.ts';

/**
 * Computes how many steps an evaluation takes at most, before it runs: from the syntax tree, and from the sizes of the
 * values that it sees. The result is an upper bound, as if no `&&`, `||` or macro ended early. It is the same on every
 * machine. A step is about half a microsecond.
 */

/** The values of the variables, by name. A variable or field without a value is left out. */
export type CelValues = Readonly<Record<string, Json | Date>>;

/** What is known about the value of a node before it is evaluated. */
interface Extent {
  /** The steps to read all of it. */
  readonly size: number;
  /** The number of members of a list or map. */
  readonly count: number;
  /** Of the members of a list. Absent: a member is not larger than the list. */
  readonly member?: Extent | undefined;
  /** The values of which it is one. Absent: the expression computes it. */
  readonly values?: readonly Value[] | undefined;
}

type Value = Json | Date;

interface Estimate {
  readonly steps: number;
  readonly extent: Extent;
}

interface Scope {
  readonly values: CelValues;
  /** The variables that macros bind. */
  readonly bound: ReadonlyMap<string, Extent>;
}

const SCALAR: Extent = { size: 1, count: 0 };

export function estimateSteps(root: ASTNode, values: CelValues): number {
  const { steps, extent } = estimate(root, { values, bound: new Map() });
  return Math.ceil(steps + extent.size);
}

function estimate(node: ASTNode, scope: Scope): Estimate {
  switch (node.op) {
    case 'value':
      return { steps: 1, extent: createLiteral(node.args) };
    case 'id':
      return {
        steps: 1,
        extent: scope.bound.get(node.args) ?? createExtent(listExtentFields([scope.values], node.args)),
      };
    case '.':
    case '.?':
      return selectField(estimate(node.args[0], scope), node.args[1]);
    case '[]':
    case '[?]':
      return selectMember(estimate(node.args[0], scope), estimate(node.args[1], scope));
    case 'list':
      return createList(node.args.map((one) => estimate(one, scope)));
    case 'map':
      return createMap(node.args.flat().map((one) => estimate(one, scope)));
    case '?:': {
      const all = node.args.map((one) => estimate(one, scope));
      return { steps: 1 + sumSteps(all), extent: joinExtents(all.slice(1).map(({ extent }) => extent)) };
    }
    case '+':
      return add(node.args.map((one) => estimate(one, scope)));
    case 'call':
      return callFunction(
        node.args[0],
        node.args[1].map((one) => estimate(one, scope)),
      );
    case 'rcall':
      return callMethod(node, scope);
    case '!_':
    case '-_':
      return callFunction(node.op, [estimate(node.args, scope)]);
    default:
      return callFunction(
        node.op,
        node.args.map((one) => estimate(one, scope)),
      );
  }
}

function createLiteral(value: unknown): Extent {
  if (typeof value === 'string') return createExtent([value]);
  return value instanceof Uint8Array ? { size: 1 + value.length / CHARACTERS, count: 0 } : SCALAR;
}

/** `size` and `count` are computed when they are needed: most expressions select a small part of a large value. */
function createExtent(values: readonly Value[]): Extent {
  const extent = {
    values,
    get size() {
      return findLargest(values.map(measureExpression));
    },
    get count() {
      return findLargest(values.map(countMembers));
    },
  };
  // Of so many values, only the largest counts: the estimate itself must not take long.
  return values.length > MAX_VALUES ? { size: extent.size, count: extent.count } : extent;
}

const MAX_VALUES = 1_000;

function findLargest(numbers: readonly number[]): number {
  return numbers.reduce((most, one) => Math.max(most, one), 0);
}

/** The number of characters that are read in one step. */
const CHARACTERS = 8;

function measureExpression(value: Value): number {
  if (typeof value === 'string') return 1 + value.length / CHARACTERS;
  if (isJsonArray(value)) return value.reduce<number>((size, one) => size + measureExpression(one), 1);
  if (!isRecord(value)) return 1;
  return Object.entries(value).reduce((size, [key, one]) => size + measureExpression(key) + measureExpression(one), 1);
}

function countMembers(value: Value): number {
  if (isJsonArray(value)) return value.length;
  return isRecord(value) ? Object.keys(value).length : 0;
}

function isRecord(value: unknown): value is Readonly<Record<string, Value>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function listExtentFields(values: readonly (Value | CelValues)[], name: string): readonly Value[] {
  return values.flatMap((value) => {
    const field = isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    return field === undefined ? [] : [field];
  });
}

function listExtentMembers(value: Value): readonly Value[] {
  if (isJsonArray(value)) return value;
  return isRecord(value) ? Object.values(value) : [];
}

/** What a macro iterates over: the members of a list, or the keys of a map. */
function toIterated(extent: Extent): Extent {
  const { values } = extent;
  if (values === undefined) return toMember(extent);
  return createExtent(values.flatMap((value) => (isRecord(value) ? Object.keys(value) : listExtentMembers(value))));
}

/** A member of a computed value. */
function toMember({ size, member }: Extent): Extent {
  return member ?? { size, count: size };
}

function selectField({ steps, extent }: Estimate, name: string): Estimate {
  const { values } = extent;
  if (values === undefined) return { steps: steps + 1, extent: { size: extent.size, count: extent.size } };
  return { steps: steps + 1, extent: createExtent(listExtentFields(values, name)) };
}

function selectMember(from: Estimate, index: Estimate): Estimate {
  const { values } = from.extent;
  const [name, ...others] = index.extent.values ?? [];
  const isName = typeof name === 'string' && others.length === 0;
  if (values !== undefined && isName) return selectField({ ...from, steps: from.steps + index.steps }, name);
  return {
    steps: 1 + from.steps + index.steps + index.extent.size,
    extent: values === undefined ? toMember(from.extent) : createExtent(values.flatMap(listExtentMembers)),
  };
}

function createList(members: readonly Estimate[]): Estimate {
  const extents = members.map(({ extent }) => extent);
  const extent = { size: 1 + sumSizes(members), count: members.length, member: joinExtents(extents) };
  return { steps: 1 + sumSteps(members), extent };
}

function createMap(members: readonly Estimate[]): Estimate {
  return { steps: 1 + sumSteps(members), extent: { size: 1 + sumSizes(members), count: members.length / 2 } };
}

function sumSteps(parts: readonly Estimate[]): number {
  return parts.reduce((sum, { steps }) => sum + steps, 0);
}

function sumSizes(parts: readonly Estimate[]): number {
  return parts.reduce((sum, { extent }) => sum + extent.size, 0);
}

/** The extent of a value that has one of these extents. */
function joinExtents(extents: readonly Extent[]): Extent {
  if (extents.every(({ values }) => values !== undefined))
    return createExtent([...new Set(extents.flatMap(({ values = [] }) => values))]);
  const toLargest = (all: readonly Extent[]) => ({
    size: findLargest(all.map(({ size }) => size)),
    count: findLargest(all.map(({ count }) => count)),
  });
  return { ...toLargest(extents), member: toLargest(extents.map(toIterated)) };
}

/** A sum of numbers, or a joined text or list. */
function add(operands: readonly Estimate[]): Estimate {
  const extents = operands.map(({ extent }) => extent);
  const size = sumSizes(operands);
  const steps = 1 + sumSteps(operands) + 2 * size;
  const text = joinTexts(extents);
  if (text !== undefined) return { steps, extent: createExtent([text]) };
  const count = extents.reduce((sum, extent) => sum + extent.count, 0);
  return { steps, extent: { size, count, member: joinExtents(extents.map(toIterated)) } };
}

/** Joins two known texts, so that a pattern may be put together. */
function joinTexts(extents: readonly Extent[]): string | undefined {
  const texts = extents.map(({ values = [] }) => (values.length === 1 ? values[0] : undefined));
  const isShort = texts.every((text) => typeof text === 'string' && text.length < MAX_JOINED);
  return isShort ? texts.join('') : undefined;
}

const MAX_JOINED = 1_000;

/** Functions that return one of their operands. */
const SAME = new Set(['dyn', 'of', 'value', 'or', 'orValue']);

/** Functions that return a text or bytes, at most three times as large as their operands. */
const GROWING = new Set(['string', 'bytes', 'lowerAscii', 'upperAscii', 'trim', 'substring', 'hex', 'base64']);
const GROWTH = 3;

/** A function or operator that reads all of its operands. */
function callFunction(name: string, operands: readonly Estimate[]): Estimate {
  const size = sumSizes(operands);
  const steps = 1 + sumSteps(operands) + size;
  // For each digit of a duration, the library searches all units again.
  if (name === 'duration') return { steps: steps + size * size, extent: SCALAR };
  if (SAME.has(name)) return { steps, extent: joinExtents(operands.map(({ extent }) => extent)) };
  return { steps, extent: GROWING.has(name) ? { size: GROWTH * size, count: 0 } : SCALAR };
}

type MethodCall = Extract<ASTNode, { readonly op: 'rcall' }>;

function callMethod(node: MethodCall, scope: Scope): Estimate {
  const [method, receiver, operands] = node.args;
  const variable = findMacroVariable(node);
  if (variable !== undefined) return callMacro(node, variable, scope);
  const from = estimate(receiver, scope);
  const others = operands.map((one) => estimate(one, scope));
  const { steps, extent } = callFunction(method, [from, ...others]);
  const { size, count } = from.extent;
  const [operand = SCALAR] = others.map((one) => one.extent);
  switch (method) {
    case 'contains':
    case 'indexOf':
    case 'lastIndexOf':
      // The engine may compare each character of one text with each character of the other.
      return { steps: steps + size * operand.size, extent };
    case 'split':
      return {
        steps: steps + (CHARACTERS + operand.size) * size,
        extent: { size: 2 * CHARACTERS * size, count: CHARACTERS * size, member: { size, count: 0 } },
      };
    case 'join':
      return { steps: steps + count * operand.size, extent: { size: size + count * operand.size, count: 0 } };
    case 'matches':
      return { steps: steps + estimateMatch(size, operand), extent };
    default:
      return { steps: method.startsWith('get') && others.length > 0 ? steps + TIME_ZONE : steps, extent };
  }
}

/** The body of a macro runs once for each member; that of `cel.bind` once. */
function callMacro({ args: [method, receiver, operands] }: MethodCall, variable: string, scope: Scope): Estimate {
  const [, first, ...rest] = operands;
  const within = (extent: Extent): Scope => ({ ...scope, bound: new Map(scope.bound).set(variable, extent) });
  const from = estimate(method === 'bind' ? (first ?? receiver) : receiver, scope);
  const inner = within(method === 'bind' ? from.extent : toIterated(from.extent));
  const bodies = (method === 'bind' || first === undefined ? rest : [first, ...rest]).map((one) =>
    estimate(one, inner),
  );
  const [result = SCALAR] = bodies.map(({ extent }) => extent).slice(-1);
  if (method === 'bind') return { steps: 1 + from.steps + sumSteps(bodies), extent: result };
  const { count } = from.extent;
  const steps = 1 + from.steps + count * (1 + sumSteps(bodies));
  if (method === 'filter') return { steps, extent: from.extent };
  return { steps, extent: method === 'map' ? { size: 1 + count * result.size, count, member: result } : SCALAR };
}

/** The steps of one conversion to a time zone. */
const TIME_ZONE = 500;

function estimateMatch(size: number, { values }: Extent): number {
  if (values === undefined) return MAX_MATCH;
  return findLargest(values.map((pattern) => measureMatch(size * CHARACTERS, String(pattern)).steps));
}

interface Match {
  readonly steps: number;
  readonly compiled?: ReturnType<typeof compileRe2>;
}

/** Compiles a pattern and computes the steps of a search, unless compiling alone may take too many. */
function measureMatch(characters: number, pattern: string): Match {
  const steps = estimateRe2Cost(pattern);
  if (steps > MAX_MATCH) return { steps };
  const compiled = compileRe2(pattern);
  return 'finding' in compiled
    ? { steps, compiled }
    : { steps: steps + ((characters + 1) * compiled.size) / INSTRUCTIONS, compiled };
}

/** The number of instructions of a pattern that are tried on a character in one step. */
const INSTRUCTIONS = 32;

/** The maximum number of steps of one match. A pattern that an expression computes counts as that many. */
const MAX_MATCH = 150_000;

/** Whether RE2, which does not backtrack, finds the pattern in the text. Throws if the pattern is invalid or too large. */
export function matchText(text: string, pattern: string): boolean {
  const { steps, compiled } = measureMatch(text.length, pattern);
  if (compiled === undefined || steps > MAX_MATCH)
    throw new StackError('has a pattern that is too large', { reason: 'invalid' });
  if ('finding' in compiled) throw new StackError(compiled.finding, { reason: 'invalid' });
  return compiled.isFoundIn(text);
}

/** The maximum number of steps of an evaluation, or of all evaluations of a run. */
export interface CelBudget {
  /** Spends steps. If too few are left, returns why, and spends none. */
  readonly spend: (steps: number) => string | undefined;
}

/** Creates a budget of `steps`. If `from` is set, all steps are also spent from that budget. */
export function createBudget(steps: number, from?: CelBudget): CelBudget {
  let left = steps;
  return {
    spend: (more) => {
      // An estimate may be infinite, or no number.
      if (!(more <= left)) return `takes more than ${steps.toLocaleString('en')} steps`;
      const finding = from?.spend(more);
      if (finding === undefined) left -= more;
      return finding;
    },
  };
}
