import type { ASTNode } from '@marcbachmann/cel-js';
import { assertNever } from '../model/errors.ts';
import { parseCel, readCelNames } from './read-cel.ts';

/**
 * What is known of a condition without any traffic: `depends` if the traffic decides, `invalid` if no parser accepts it,
 * `unreadable` if only the parser here does not.
 */
export type Condition = 'always' | 'never' | 'depends' | 'invalid' | 'unreadable';

/** Reads a CEL condition. Knows constants and what logic makes of them: `a || true` is always true. */
export function readCondition(text: string): Condition {
  const node = parseCel(text);
  if (node === undefined) {
    const reading = readCelNames(text);
    return 'finding' in reading && reading.finding.severity === 'warning' ? 'unreadable' : 'invalid';
  }
  const truth = fold(node);
  if (truth === 'depends') return truth;
  return truth ? 'always' : 'never';
}

/** Deeper expressions are not folded, because that recursion may exhaust the call stack. */
const MAX_DEPTH = 200;

function fold(node: ASTNode, depth = 0): boolean | 'depends' {
  if (depth > MAX_DEPTH) return 'depends';
  const read = (operand: ASTNode) => fold(operand, depth + 1);
  switch (node.op) {
    case 'value':
      return typeof node.args === 'boolean' ? node.args : 'depends';
    case '!_': {
      const operand = read(node.args);
      return operand === 'depends' ? operand : !operand;
    }
    case '&&':
      return foldJoined(node.args.map(read), false);
    case '||':
      return foldJoined(node.args.map(read), true);
    case '==':
    case '!=':
    case '<':
    case '<=':
    case '>':
    case '>=':
      return compareConstants(node.op, node.args);
    case 'in':
      return isEmptyList(node.args[1]) ? false : 'depends';
    case '?:': {
      const [condition, ...branches] = node.args;
      const [first, second] = branches.map(read);
      const chosen = read(condition);
      if (chosen !== 'depends') return (chosen ? first : second) ?? 'depends';
      return first !== undefined && first === second ? first : 'depends';
    }
    default:
      return 'depends';
  }
}

/** Compares two constants of one type. */
function compareConstants(
  op: '==' | '!=' | '<' | '<=' | '>' | '>=',
  [left, right]: readonly [ASTNode, ASTNode],
): boolean | 'depends' {
  if (left.op !== 'value' || right.op !== 'value') return 'depends';
  const [first, second] = [left.args, right.args];
  if (typeof first !== typeof second || !['bigint', 'number', 'string', 'boolean'].includes(typeof first))
    return 'depends';
  const [one, other] = [first, second] as readonly [string | number | bigint, string | number | bigint]; // checked above
  switch (op) {
    case '==':
      return one === other;
    case '!=':
      return one !== other;
    case '<':
      return one < other;
    case '<=':
      return one <= other;
    case '>':
      return one > other;
    case '>=':
      return one >= other;
    default:
      return assertNever(op);
  }
}

function isEmptyList(node: ASTNode): boolean {
  return node.op === 'list' && node.args.length === 0;
}

/** One operand with the value `deciding` decides. */
function foldJoined(operands: readonly (boolean | 'depends')[], deciding: boolean): boolean | 'depends' {
  if (operands.includes(deciding)) return deciding;
  return operands.includes('depends') ? 'depends' : !deciding;
}
