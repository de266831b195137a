import { EvaluationError, type ParseResult } from '@marcbachmann/cel-js';
import { compileRe2, weighRe2 } from '../kinds/re2.ts';

/**
 * Evaluates within a budget. The library does not limit the cost of an evaluation, and synchronous code cannot be timed out. But every value passes through
 * one of its functions, `run`, which is replaced by one that counts: a step for each node, and the size of the operands before an operator or a function
 * reads them. Operations that take longer than that are done here in another way: patterns are matched by RE2, as the language demands, which does not
 * backtrack.
 */

/** What the library's types leave out: how it evaluates. `test/policy/bounds.test.ts` notices when that changes. */
interface Evaluator {
  run: (node: Evaluated, context: unknown) => unknown;
}

interface Evaluated {
  readonly op: string;
  readonly args: unknown;
  readonly evaluate: (evaluator: Evaluator, node: Evaluated, context: unknown) => unknown;
  /** Of an operator with two operands, once its types are checked. */
  readonly left?: Evaluated;
  readonly right?: Evaluated;
  /** Set for a method that CEL does not define as a macro. */
  readonly receiverWithArgs?: readonly Evaluated[];
  /** Does it, when the operands are there. */
  readonly handle?: (...operands: readonly unknown[]) => unknown;
}

/** Evaluates a checked expression on values. Throws for whatever keeps it from a value, `BudgetError` among it. */
export type MeteredProgram = (values: ReadonlyMap<string, unknown>, budget: Budget) => unknown;

/** The same expression, metered. */
export function meterProgram(parsed: ParseResult): MeteredProgram {
  const root = parsed.ast as unknown as Evaluated; // the library's own class, which its types leave out
  return (values, budget) => {
    const run: Run = { budget, scales: createCostEstimator(), fatal: undefined };
    // The library calls this first; the node gets its own function back, and from there on all is counted.
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
  readonly budget: Budget;
  readonly scales: CostEstimator;
  /** What no `||` and no macro may swallow: an expression that costs too much, or that the library itself fails on. */
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
    const own = callOwn(run, name, values);
    return measure(run, values, () => (own === undefined ? handle(values, evaluator, node) : own.value));
  }
  if (op === 'call') {
    const [name, operands] = args as readonly [string, readonly Evaluated[]]; // as above
    const values = operands.map(toValue);
    if (name === 'duration') refuseLong(values[0]);
    return measure(run, values, () => handle(values, node, evaluator));
  }
  if (!BINARY.has(op) || left === undefined || right === undefined) return node.evaluate(evaluator, node, context);
  const values = [toValue(left), toValue(right)];
  return measure(run, values, () => handle(...values, node, evaluator));
}

/** The operators that look at all of their operands. */
const BINARY = new Set(['==', '!=', 'in', '+', '-', '*', '/', '%', '<', '<=', '>', '>=']);

/** Takes what the operands weigh, then does it, then takes what came out. */
function measure({ budget, scales }: Run, values: readonly unknown[], task: () => unknown): unknown {
  for (const value of values) budget.spend(scales.weigh(value));
  const made = task();
  budget.spend(scales.weigh(made));
  return made;
}

/** Methods that are done in another way than the library does them, or that cost more than their operands weigh. */
function callOwn(
  { budget }: Run,
  name: string,
  [receiver, operand, ...more]: readonly unknown[],
): { readonly value: unknown } | undefined {
  if (typeof receiver === 'string' && typeof operand === 'string') {
    if (name === 'matches' && more.length === 0) return { value: matchText(budget, receiver, operand) };
    // The search of the engine may compare each character with each.
    if (SEARCHES.has(name)) budget.spend((receiver.length * operand.length) / COMPARISONS);
  }
  if (name === 'join' && Array.isArray(receiver) && typeof operand === 'string')
    budget.spend((receiver.length * operand.length) / COPIES);
  if (receiver instanceof Date && typeof operand === 'string') budget.spend(TIME_ZONE);
  return undefined;
}

const SEARCHES = new Set(['contains', 'indexOf', 'lastIndexOf', 'split']);

/** Characters that are compared, and that are copied, in the time of a step. */
const COMPARISONS = 64;
const COPIES = 8;

/** Steps in the time that a time zone takes. */
const TIME_ZONE = 500;

function matchText(budget: Budget, text: string, pattern: string): boolean {
  budget.spend(weighRe2(pattern));
  const compiled = compileRe2(pattern);
  if ('finding' in compiled) throw new PatternError(compiled.finding);
  budget.spend(((text.length + 1) * compiled.size) / INSTRUCTIONS);
  return compiled.isFoundIn(text);
}

/** Instructions of a pattern that are tried on a character in the time of a step. */
const INSTRUCTIONS = 32;

/** A pattern that is not RE2. */
class PatternError extends Error {
  override readonly name = 'PatternError';
}

/** The library looks for the units of a duration again from each of its digits. */
function refuseLong(text: unknown): void {
  if (typeof text === 'string' && text.length > MAX_DURATION)
    throw new BudgetError('reads a duration that is too long');
}

const MAX_DURATION = 64;

/**
 * Computes the size of values: how much work it is to read all of one. A list that another contains many times counts each time, as a comparison would read
 * it.
 */
interface CostEstimator {
  readonly weigh: (value: unknown) => number;
}

/** Scales that remember what they weighed, so that a value made of shared parts is weighed in the time that making it took. */
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

/** Characters that are looked at in the time of a step. */
const CHARACTERS = 8;

/** Whatever else there is (a time, what a variable holds) has a size that no expression can make greater. */
function listMembers(value: object): Iterable<unknown> {
  if (Array.isArray(value)) return value;
  if (value instanceof Map) return [...value].flat();
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null ? Object.entries(value).flat() : [];
}

/** Something that an expression costs more than it may. */
export class BudgetError extends Error {
  override readonly name = 'BudgetError';
}

/**
 * What evaluating may cost, counted in steps and not in time: the same expression on the same values comes to the same end on every
 * machine, and a plan that was let through on one is not refused on another for being slow.
 */
export interface Budget {
  /** Takes steps. Throws `BudgetError` when there are no more, and at each later call: a macro that swallows it gains nothing. */
  readonly spend: (steps: number) => void;
  readonly isSpent: () => boolean;
  /** Steps taken. */
  readonly spent: () => number;
}

/** A budget of so many steps, which are also taken from another. */
export function createBudget(steps: number, from?: Budget): Budget {
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
