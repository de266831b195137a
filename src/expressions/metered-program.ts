import { EvaluationError, type ParseResult } from '@marcbachmann/cel-js';
import { compileRe2, estimateRe2Cost } from '../kinds/re2.ts';

/**
 * Evaluates expressions within a budget. The library does not limit the cost of an evaluation, and synchronous code
 * cannot be timed out. But the library evaluates every node with its function `run`, which is replaced here by a
 * function that counts: one step for each node, and the size of the operands before each operator or function call.
 * Some operations cost more than the size of their operands. They spend additional steps or are replaced: `matches`,
 * for example, uses RE2, which CEL prescribes and which does not backtrack.
 */

/**
 * Internals of the library's evaluator. The library's type declarations lack them. `test/policy/bounds.test.ts` fails
 * if they change.
 */
interface Evaluator {
  run: (node: Evaluated, context: unknown) => unknown;
}

interface Evaluated {
  readonly op: string;
  readonly args: unknown;
  readonly evaluate: (evaluator: Evaluator, node: Evaluated, context: unknown) => unknown;
  /** Set by the type check, for an operator with two operands. */
  readonly left?: Evaluated;
  readonly right?: Evaluated;
  /** Set for a method that is not a macro of CEL. */
  readonly receiverWithArgs?: readonly Evaluated[];
  /** Computes the result from the operands. Absent if only the node's own `evaluate` can compute it. */
  readonly handle?: (...operands: readonly unknown[]) => unknown;
}

/**
 * Evaluates a type-checked expression. Throws `BudgetError` if the budget is exceeded, or the error of the evaluation.
 */
export type MeteredProgram = (values: ReadonlyMap<string, unknown>, budget: CelBudget) => unknown;

export function meterProgram(parsed: ParseResult): MeteredProgram {
  const root = parsed.ast as unknown as Evaluated; // an internal class of the library
  return (values, budget) => {
    const run: Run = { budget, scales: createCostEstimator(), fatal: undefined };
    // The library calls `evaluate` of the root first. This replacement restores the original `evaluate`, and replaces
    // `run`, so that each further step is counted.
    Reflect.set(root, 'evaluate', (evaluator: Evaluator, node: Evaluated, context: unknown) => {
      Reflect.deleteProperty(root, 'evaluate');
      evaluator.run = (inner, scope) => runNode(run, evaluator, { node: inner, context: scope });
      return evaluator.run(node, context);
    });
    const value: unknown = parsed(new Map(values));
    if (run.fatal !== undefined) throw run.fatal.error;
    budget.spend(run.scales.weigh(value));
    return value;
  };
}

interface Run {
  readonly budget: CelBudget;
  readonly scales: CostEstimator;
  /** The first error that `||` and macros must not swallow: an exceeded budget, or a failure of the library itself. */
  fatal: { readonly error: unknown } | undefined;
}

interface Step {
  readonly node: Evaluated;
  readonly context: unknown;
}

function runNode(run: Run, evaluator: Evaluator, step: Step): unknown {
  try {
    run.budget.spend(1);
    return evaluate(run, evaluator, step);
  } catch (error) {
    if (!(error instanceof EvaluationError)) run.fatal ??= { error };
    throw error;
  }
}

function evaluate(run: Run, evaluator: Evaluator, { node, context }: Step): unknown {
  const { op, args, left, right, receiverWithArgs, handle } = node;
  const toValue = (inner: Evaluated): unknown => evaluator.run(inner, context);
  if (handle === undefined) return node.evaluate(evaluator, node, context);
  if (op === 'rcall' && receiverWithArgs !== undefined) {
    const [name] = args as readonly [string]; // a call's operands start with its name
    const values = receiverWithArgs.map(toValue);
    const own = replaceMethod(run, name, values);
    return measure(run, values, () => (own === undefined ? handle(values, evaluator, node) : own.value));
  }
  if (op === 'call') {
    const [name, operands] = args as readonly [string, readonly Evaluated[]]; // a call's operands start with its name
    const values = operands.map(toValue);
    if (name === 'duration') refuseLongDuration(values[0]);
    return measure(run, values, () => handle(values, node, evaluator));
  }
  if (!BINARY.has(op) || left === undefined || right === undefined) return node.evaluate(evaluator, node, context);
  const values = [toValue(left), toValue(right)];
  return measure(run, values, () => handle(...values, node, evaluator));
}

/** Operators that read both of their operands completely. */
const BINARY = new Set(['==', '!=', 'in', '+', '-', '*', '/', '%', '<', '<=', '>', '>=']);

function measure({ budget, scales }: Run, values: readonly unknown[], task: () => unknown): unknown {
  for (const value of values) budget.spend(scales.weigh(value));
  const made = task();
  budget.spend(scales.weigh(made));
  return made;
}

/**
 * Returns the result of a method that the library would compute too slowly. For other methods, returns `undefined`, but
 * first spends steps if the method costs more than the size of its operands.
 */
function replaceMethod(
  { budget }: Run,
  name: string,
  [receiver, operand, ...more]: readonly unknown[],
): { readonly value: unknown } | undefined {
  if (typeof receiver === 'string' && typeof operand === 'string') {
    if (name === 'matches' && more.length === 0) return { value: matchText(budget, receiver, operand) };
    // The engine's search may compare each character of one string with each character of the other.
    if (SEARCHES.has(name)) budget.spend((receiver.length * operand.length) / COMPARISONS);
  }
  if (name === 'join' && Array.isArray(receiver) && typeof operand === 'string')
    budget.spend((receiver.length * operand.length) / COPIES);
  if (receiver instanceof Date && typeof operand === 'string') budget.spend(TIME_ZONE);
  return undefined;
}

const SEARCHES = new Set(['contains', 'indexOf', 'lastIndexOf', 'split']);

/** The number of characters that are compared, or copied, in the time of one step. */
const COMPARISONS = 64;
const COPIES = 8;

/** The number of steps that take as long as one conversion to a time zone. */
const TIME_ZONE = 500;

function matchText(budget: CelBudget, text: string, pattern: string): boolean {
  budget.spend(estimateRe2Cost(pattern));
  const compiled = compileRe2(pattern);
  if ('finding' in compiled) throw new PatternError(compiled.finding);
  budget.spend(((text.length + 1) * compiled.size) / INSTRUCTIONS);
  return compiled.isFoundIn(text);
}

/** The number of pattern instructions that are tried on a character in the time of one step. */
const INSTRUCTIONS = 32;

class PatternError extends Error {
  override readonly name = 'PatternError';
}

/** For each digit of a duration, the library searches all units again, so a long text would take too long. */
function refuseLongDuration(text: unknown): void {
  if (typeof text === 'string' && text.length > MAX_DURATION)
    throw new BudgetError('reads a duration whose text is longer than 64 characters');
}

/** A duration with all units has about 40 characters. */
const MAX_DURATION = 64;

/**
 * Computes the size of a value: the number of steps to read all of it. If the value contains the same list several
 * times, each occurrence counts, because a comparison reads each of them.
 */
interface CostEstimator {
  readonly weigh: (value: unknown) => number;
}

/** Caches sizes, so that weighing a value with shared parts takes no longer than creating it. */
function createCostEstimator(): CostEstimator {
  const known = new WeakMap<object, number>();
  const weigh = (value: unknown): number => {
    if (typeof value === 'string') return 1 + value.length / CHARACTERS;
    if (value instanceof Uint8Array) return 1 + value.length / CHARACTERS;
    if (typeof value !== 'object' || value === null) return 1;
    const before = known.get(value);
    if (before !== undefined) return before;
    const members = listMembers(value);
    let weight = 1;
    for (const member of members) weight += weigh(member);
    known.set(value, weight);
    return weight;
  };
  return { weigh };
}

/** The number of characters that are read in the time of one step. */
const CHARACTERS = 8;

/**
 * Lists the members of a list, map or plain object. Other objects, such as a time, have no members here, because no
 * expression can enlarge them.
 */
function listMembers(value: object): Iterable<unknown> {
  if (Array.isArray(value)) return value;
  if (value instanceof Map) return [...value].flat();
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null ? Object.entries(value).flat() : [];
}

export class BudgetError extends Error {
  override readonly name = 'BudgetError';
}

/**
 * The maximum cost of an evaluation, counted in steps instead of time. So an expression has the same result on every
 * machine, and a slow machine does not block a plan that passes on a fast one.
 */
export interface CelBudget {
  /**
   * Spends steps. Throws `BudgetError` if too few are left. Each later call throws again, so an expression gains
   * nothing if a macro swallows the error.
   */
  readonly spend: (steps: number) => void;
  readonly isSpent: () => boolean;
  readonly spent: () => number;
}

/** Creates a budget of `steps`. If `from` is set, all steps are also spent from that budget. */
export function createBudget(steps: number, from?: CelBudget): CelBudget {
  let spent = 0;
  return {
    spend: (more) => {
      spent += more;
      if (spent > steps) throw new BudgetError(`takes more than ${steps.toLocaleString('en')} steps`);
      from?.spend(more);
    },
    isSpent: () => spent > steps || from?.isSpent() === true,
    spent: () => spent,
  };
}
