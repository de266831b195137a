import { type ASTNode, Environment, ParseError } from '@marcbachmann/cel-js';
import type { Severity } from '../model/diagnostic.ts';
import type { SyntaxFinding } from '../model/finding.ts';

/**
 * Lists the variables of an expression with the members selected from them (`conn.geo.country_code`), each once. Does
 * not evaluate the expression. Never throws: returns a finding if the expression cannot be parsed. It is a warning if another
 * parser may accept the expression, because the library does not know all of CEL.
 */
export function readCelNames(
  text: string,
): { readonly names: readonly string[] } | { readonly finding: SyntaxFinding } {
  const finding = findParseFault(text);
  if (finding === undefined) return { names: listVariablePaths(PARSER.parse(text).ast) };
  return { finding: isReadableOtherwise(text) ? { ...finding, severity: 'warning' } : finding };
}

function findParseFault(text: string): SyntaxFinding | undefined {
  try {
    PARSER.parse(text);
    return undefined;
  } catch (error) {
    if (error instanceof ParseError) {
      const severity = LIMITS_OF_LIBRARY.has(error.code) ? 'warning' : 'error';
      return createFault(error.summary.replace(/\.$/, ''), severity, error.range?.start);
    }
    if (error instanceof RangeError) return createFault('It is nested too deeply', 'warning');
    throw error;
  }
}

function createFault(message: string, severity: Severity, start = 0): SyntaxFinding {
  return { code: 'expression-syntax', severity, message, range: { start, end: start + 1 } };
}

/** Codes of errors of the library about limits of its own, and about macros that it has and a service may lack. */
const LIMITS_OF_LIBRARY: ReadonlySet<string> = new Set(['limit_exceeded', 'invalid_number', 'invalid_macro_argument']);

/**
 * Whether the library can parse an expression once the parts of CEL that it does not know are replaced by others. Source:
 * https://github.com/google/cel-spec/blob/master/doc/langdef.md#syntax
 */
function isReadableOtherwise(text: string): boolean {
  const syntax = text.replace(LITERALS, (part) => (part.startsWith('//') ? ' ' : EMPTY_TEXT));
  const hasInvalidText = /["']/.test(syntax.replaceAll(EMPTY_TEXT, ''));
  if (hasInvalidText) return false;
  const known = REPLACED_SYNTAX.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), syntax);
  const finding = findParseFault(known);
  return finding?.severity !== 'error';
}

const ESCAPE = String.raw`\\(?:[abfnrtv"'\\?\x60]|[xX][\dA-Fa-f]{2}|u[\dA-Fa-f]{4}|U[\dA-Fa-f]{8}|[0-3][0-7]{2})`;
const LONG_QUOTES = ['"'.repeat(3), "'".repeat(3)];
const SHORT_QUOTES = ['"', "'"];
const RAW_TEXTS = [
  ...LONG_QUOTES.map((quote) => `${quote}[^]*?${quote}`),
  ...SHORT_QUOTES.map((quote) => `${quote}[^${quote}\\n\\r]*${quote}`),
];
const TEXTS = [
  ...LONG_QUOTES.map((quote) => `${quote}(?:${ESCAPE}|[^\\\\])*?${quote}`),
  ...SHORT_QUOTES.map((quote) => `${quote}(?:${ESCAPE}|[^${quote}\\\\\\n\\r])*${quote}`),
];
const EMPTY_TEXT = '""';
/** Comments and valid text literals. */
const LITERALS = new RegExp(
  `//[^\\n]*|(?:[rR][bB]?|[bB][rR])(?:${RAW_TEXTS.join('|')})|[bB]?(?:${TEXTS.join('|')})`,
  'g',
);

const REPLACED_SYNTAX: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/[\t\n\f\r ]+/g, ' '],
  // A name in backquotes, and optional members of a list or map.
  [/(?<=\. ?)`[\w./ -]+`/g, 'x'],
  [/(?<=[[{,] ?)\?/g, ''],
  // A name that starts with a dot, and a number that does.
  [/(?<=^ ?|[^\w)\]}". ] ?|\bin )\.(?=[A-Za-z_])/g, ''],
  [/(?<=^ ?|[^\w)\]}". ] ?|\bin )\.(?=\d)/g, '0.'],
  // Names that are reserved in JavaScript, and not in CEL.
  [/(?<![\w.])(?:__proto__|prototype)\b/g, 'x'],
  // The type of a message.
  [/(?<![\w.])(?!in\b)[A-Za-z_][\w.]* ?(?=\{)/g, ''],
];

/** Parses an expression. `undefined` if that is not possible here. */
export function parseCel(text: string): ASTNode | undefined {
  return 'names' in readCelNames(text) ? PARSER.parse(text).ast : undefined;
}

/**
 * Lists the names whose presence an expression tests, and which may therefore be absent. Empty if the expression cannot
 * be parsed.
 */
export function readNamesGuardedByHas(text: string): readonly string[] {
  const root = parseCel(text);
  return root === undefined ? [] : listGuardedNames(root);
}

/**
 * Far above any expression, because lists of addresses may be long. Only the depth is limited, because a deep
 * expression can exhaust the call stack.
 */
const UNLIMITED = 1_000_000;
const PARSER = new Environment({
  enableOptionalTypes: true,
  limits: { maxAstNodes: UNLIMITED, maxListElements: UNLIMITED, maxMapEntries: UNLIMITED, maxCallArguments: UNLIMITED },
});

/** A node, and the names that the comprehensions around the node bind. */
interface Scoped {
  readonly node: ASTNode;
  readonly bound: readonly string[];
}

/**
 * Lists the variables of a parsed expression with the members selected from them, each once. Uses its own stack instead
 * of recursion, because a long chain of operators is a deep tree.
 */
export function listVariablePaths(root: ASTNode): readonly string[] {
  const names = new Set<string>();
  const open: Scoped[] = [{ node: root, bound: [] }];
  for (let scoped = open.pop(); scoped !== undefined; scoped = open.pop()) {
    const name = findName(scoped.node);
    const [variable = ''] = name?.split('.') ?? [];
    if (name === undefined) open.push(...listOperands(scoped));
    else if (!scoped.bound.includes(variable) && !TYPES.has(variable)) names.add(name);
  }
  return [...names].sort();
}

/** Lists the names whose presence an expression tests: `has(a.b)` and `a.?b` test `a.b`. */
function listGuardedNames(root: ASTNode): readonly string[] {
  const names: string[] = [];
  const open: ASTNode[] = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const tested = findTestedNode(node);
    const name = tested === undefined ? undefined : findName(tested);
    if (name !== undefined) names.push(name);
    open.push(...listNodesInOperands(node.op === 'value' ? [] : node.args));
  }
  return names;
}

function findTestedNode(node: ASTNode): ASTNode | undefined {
  if (node.op === '.?') return node;
  return node.op === 'call' && node.args[0] === 'has' ? node.args[1][0] : undefined;
}

/** Returns the dotted name of a chain of selections. `undefined` if a part of the chain is computed. */
function findName(node: ASTNode): string | undefined {
  const steps: string[] = [];
  let inner = node;
  while (inner.op === '.' || inner.op === '.?') {
    steps.unshift(inner.args[1]);
    inner = inner.args[0];
  }
  return inner.op === 'id' ? [inner.args, ...steps].join('.') : undefined;
}

function listOperands({ node, bound }: Scoped): readonly Scoped[] {
  if (node.op === 'rcall') return listCallOperands(node, bound);
  return listNodesInOperands(node.op === 'value' ? [] : node.args).map((inner) => ({ node: inner, bound }));
}

type MethodCall = Extract<ASTNode, { readonly op: 'rcall' }>;

/**
 * Lists the receiver and the operands of a method call. The first operand of a macro is left out: it is a name that the
 * macro binds in its other operands.
 */
function listCallOperands(call: MethodCall, bound: readonly string[]): readonly Scoped[] {
  const [, receiver, operands] = call.args;
  const isNamespace = receiver.op === 'id' && NAMESPACES.has(receiver.args);
  const variable = findMacroVariable(call);
  const inside = variable === undefined ? bound : [...bound, variable];
  return [
    ...(isNamespace ? [] : [{ node: receiver, bound }]),
    ...(variable === undefined ? operands : operands.slice(1)).map((node) => ({ node, bound: inside })),
  ];
}

/** Returns the variable that a macro binds: its first operand. `undefined` for other methods. */
export function findMacroVariable({ args: [method, , operands] }: MethodCall): string | undefined {
  const [first] = operands;
  return MACROS.has(method) && operands.length > 1 && first?.op === 'id' ? first.args : undefined;
}

const MACROS = new Set(['all', 'exists', 'exists_one', 'map', 'filter', 'bind']);

/** Namespaces of functions in CEL and its extensions. They are not variables. */
const NAMESPACES = new Set(['base64', 'cel', 'lists', 'math', 'optional', 'sets', 'strings']);

/** Types, which are values in CEL. They are not variables. */
const TYPES = new Set(
  'bool bytes double dyn duration google int list map null_type string timestamp type uint'.split(' '),
);

/** Lists the syntax nodes among the operands of a node, including nodes in nested lists. */
export function listNodesInOperands(operands: unknown): readonly ASTNode[] {
  if (Array.isArray(operands)) return operands.flatMap(listNodesInOperands);
  return typeof operands === 'object' && operands !== null && 'op' in operands
    ? [operands as ASTNode] // only nodes have an operator
    : [];
}
