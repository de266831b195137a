import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import {
  type CallExpression,
  type ElementAccessExpression,
  type Expression,
  isAwaitExpression,
  isCallExpression,
  isElementAccessExpression,
  isExpressionStatement,
  isIdentifier,
  isPropertyAccessExpression,
  isSpreadElement,
  type Node,
  type PropertyAccessExpression,
} from 'typescript/unstable/ast';
import {
  API,
  type Checker,
  type Project,
  SymbolFlags,
  type Type,
  type Symbol as TypedSymbol,
} from 'typescript/unstable/sync';
import { applyMutant, createMutant, type Mutant } from './mutant.ts';
import type { Site, SwitchedMutant } from './mutant-switches.ts';

/**
 * Breaks calls from one file to another: the wiring between parts that are each tested. A call is left out, its result
 * is dropped, two of its arguments are swapped, or its failure is ignored. Types say what can take the place of a result,
 * and what is drawn compiles, so that only a test can notice it.
 */

/** The files of the main story: select, read, plan, rehearse, compare, ask, apply, deliver, report, post. */
const STORY: readonly string[] = [
  'src/repository/select-stacks.ts',
  'src/cli/reconcile/{run-stacks,with-stacks,question,approvals,report-run,present-run}.ts',
  'src/run/{session,plan-stacks,apply-stacks,passes}.ts',
  'src/stack/{stack,plan-live,choose-sinks,approval}.ts',
  'src/plan/{create-plan,decide-plan}.ts',
  'src/plan/compare/compare-plans.ts',
  'src/rehearse/rehearse.ts',
  'src/apply/{apply,run-writes,perform-write,create-resource,change-resource,record-delivery,token-deliveries,token-sinks}.ts',
  'src/report/report.ts',
  'src/cli/output/output-report.ts',
  'src/forge/*.ts',
  'src/cli/commands/submission.ts',
];

export interface CallMutant extends SwitchedMutant {
  /** The room that calls, and the one that is called. */
  readonly rooms: readonly [string, string];
  readonly operator: 'leaves the call out' | 'drops its result' | 'swaps two arguments' | 'ignores its failure';
}

/** A call of a function that another file declares. */
export interface CallToOtherFile {
  readonly file: string;
  readonly source: string;
  readonly node: CallExpression;
  readonly callee: TypedSymbol;
  /** The room that calls, and the one that is called. */
  readonly rooms: readonly [string, string];
}

export interface CallMutants {
  /** All calls from one file of `src` to another. */
  readonly calls: readonly CallToOtherFile[];
  /** The calls of each pair of rooms, such as `apply → client`, of the main story, and between files of the client. */
  readonly groups: ReadonlyMap<string, readonly CallToOtherFile[]>;
  /**
   * Draws so many mutants of some calls, of each call as likely as of every other. All of them compile. The same random
   * numbers draw the same mutants.
   */
  readonly draw: (calls: readonly CallToOtherFile[], count: number, options: DrawOptions) => readonly CallMutant[];
  readonly close: () => void;
}

interface DrawOptions {
  readonly random: () => number;
  readonly accepts: (mutant: Mutant) => boolean;
}

/** Finds all calls between files of `src`. `root`: the absolute path of the checkout. */
export function openCallMutants(root: string): CallMutants {
  const broken = new Map<string, string>();
  const api = new API({ cwd: root, fs: { readFile: (file) => broken.get(file) } });
  const [project] = api.updateSnapshot({ openProjects: [join(root, 'tsconfig.json')] }).getProjects();
  if (project === undefined) throw new Error(`${root} has no tsconfig.json`);
  const story = new Set(globSync([...STORY], { cwd: root }));
  const calls = globSync('src/**/*.ts', { cwd: root })
    .sort()
    .flatMap((file) => listCalls(file, { root, project }));
  const listGroups = ({ file, rooms: [from, to] }: CallToOtherFile): readonly string[] => [
    ...(from === to ? [] : [`${from} → ${to}`]),
    ...(story.has(file) ? ['story'] : []),
    ...(from === 'client' && to === 'client' ? ['client'] : []),
  ];
  const members = calls.flatMap((call) => listGroups(call).map((group) => ({ group, call })));
  const groups = Map.groupBy(members, ({ group }) => group);
  return {
    calls,
    groups: new Map(Array.from(groups, ([group, all]) => [group, all.map(({ call }) => call)])),
    draw: (drawnFrom, count, { random, accepts }) => {
      const left = drawnFrom.map((call) => ({ call, mutants: undefined as CallMutant[] | undefined })); // listed when drawn
      const drawn: CallMutant[] = [];
      while (drawn.length < count && left.length > 0) {
        const index = Math.floor(random() * left.length);
        const one = left[index];
        if (one === undefined) break;
        one.mutants ??= [...listMutantsOfCall(one.call, project.checker)];
        const [mutant] = one.mutants.splice(Math.floor(random() * one.mutants.length), 1);
        if (mutant === undefined) left.splice(index, 1);
        else if (accepts(mutant) && compiles(mutant)) drawn.push(mutant);
      }
      return drawn;
    },
    close: () => api.close(),
  };

  function compiles(mutant: Mutant): boolean {
    const file = join(root, mutant.file);
    broken.set(file, applyMutant(readFileSync(file, 'utf8'), mutant));
    const [changed] = api.updateSnapshot({ fileChanges: { changed: [file] } }).getProjects();
    const errors = changed?.program.getSemanticDiagnostics(file) ?? [];
    broken.delete(file);
    api.updateSnapshot({ fileChanges: { changed: [file] } });
    return errors.length === 0;
  }
}

function listCalls(
  file: string,
  { root, project }: { readonly root: string; readonly project: Project },
): readonly CallToOtherFile[] {
  const { program, checker } = project;
  const parsed = program.getSourceFile(join(root, file));
  if (parsed === undefined) return [];
  const nodes = listNodes(parsed).filter(isCallExpression);
  const named = nodes.flatMap((node) => {
    const name = findName(node.expression);
    return name === undefined ? [] : [{ node, name }];
  });
  const symbols = checker.getSymbolAtLocation(named.map(({ name }) => name));
  return named.flatMap(({ node }, index): readonly CallToOtherFile[] => {
    const symbol = symbols[index];
    if (symbol === undefined) return [];
    const callee = symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    const path = callee.declarations[0]?.path;
    const declaredIn = path === undefined ? '' : relative(root, path);
    // A call of `assertNever` is for the type checker, and is never made.
    if (!declaredIn.startsWith('src/') || declaredIn === file || callee.name === 'assertNever') return [];
    return [{ file, source: parsed.text, node, callee, rooms: [toRoom(file), toRoom(declaredIn)] }];
  });
}

/** The folder below `src`, or the file. */
function toRoom(file: string): string {
  return file.split('/')[1] ?? '';
}

function listNodes(node: Node): readonly Node[] {
  const nodes: Node[] = [node];
  node.forEachChild((child) => {
    nodes.push(...listNodes(child));
  });
  return nodes;
}

/** The name of the function or method that is called. */
function findName(callee: Expression): Node | undefined {
  if (isPropertyAccessExpression(callee)) return callee.name;
  return isIdentifier(callee) ? callee : undefined;
}

type Edit = Pick<Mutant, 'start' | 'end' | 'to'>;

function listMutantsOfCall(call: CallToOtherFile, checker: Checker): readonly CallMutant[] {
  const { node, file, source, rooms } = call;
  const textOf = (one: Node): string => source.slice(one.getStart(), one.end);
  /** The call with its `await`. */
  const whole: Expression = isAwaitExpression(node.parent) ? node.parent : node;
  const statement = isExpressionStatement(whole.parent) ? whole.parent : undefined;
  const type = checker.getTypeAtLocation(whole);
  if (type === undefined) return [];
  const isVoid = checker.typeToString(type) === 'void';
  const neutral = listNeutralValues(type, checker);
  const replace = (one: Node, to: string): Edit => ({ start: one.getStart(), end: one.end, to });
  const edits: Readonly<Record<CallMutant['operator'], readonly Edit[]>> = {
    'leaves the call out':
      statement !== undefined || isVoid
        ? [replace(statement ?? whole, statement === undefined ? 'undefined' : '{}')]
        : listArgumentsLike(node, type, checker).map((argument) => replace(whole, textOf(argument))),
    'drops its result':
      statement !== undefined || isVoid ? [] : neutral.map((value) => replace(whole, `(${textOf(whole)}, ${value})`)),
    'swaps two arguments': listSwaps(call, checker).map(([left, right]) => ({
      start: left.getStart(),
      end: right.end,
      to: `${textOf(right)}${source.slice(left.end, right.getStart())}${textOf(left)}`,
    })),
    'ignores its failure': [
      ...(whole === node ? [] : [replace(node, `${textOf(node)}.catch(() => ${neutral[0] ?? 'undefined'})`)]),
      ...(whole === node && statement !== undefined && mayFail(call, checker)
        ? [replace(statement, `try { ${textOf(statement)} } catch {}`)]
        : []),
    ],
  };
  return Object.entries(edits).flatMap(([operator, list]) =>
    list.map((edit) => ({
      ...createMutant(file, source, edit),
      rooms,
      site: toSite(statement !== undefined && edit.end > whole.end ? statement : findChain(whole)),
      operator: operator as CallMutant['operator'], // a key of the record above
    })),
  );
}

function toSite(node: Node): Site {
  return { start: node.getStart(), end: node.end, isStatement: isExpressionStatement(node) };
}

/** Finds the whole chain of `?.` that goes on after a call: in parentheses, its start would no longer end it. */
function findChain(call: Expression): Expression {
  let chain = call;
  while (hasOptionalLink(chain) && isLink(chain.parent) && chain.parent.expression === chain) chain = chain.parent;
  return chain;
}

function isLink(node: Node): node is PropertyAccessExpression | ElementAccessExpression | CallExpression {
  return isPropertyAccessExpression(node) || isElementAccessExpression(node) || isCallExpression(node);
}

function hasOptionalLink(chain: Expression): boolean {
  return isLink(chain) && (chain.questionDotToken !== undefined || hasOptionalLink(chain.expression));
}

/** Lists the values of a type that say nothing, as code: one, or both booleans. */
function listNeutralValues(type: Type, checker: Checker): readonly string[] {
  const isLike = (one: Type): boolean => checker.isTypeAssignableTo(one, type);
  const name = checker.typeToString(type);
  if (isLike(checker.getUndefinedType())) return ['undefined'];
  if (isLike(checker.getBooleanType())) return ['false', 'true'];
  if (isLike(checker.getStringType())) return ["''"];
  if (isLike(checker.getNumberType())) return ['0'];
  if (checker.isArrayType(type)) return ['[]'];
  const [, collection] = /^(?:Readonly)?(Map|Set)</.exec(name) ?? [];
  return collection === undefined ? [] : [`new ${collection}()`];
}

/** Lists the arguments that can take the place of the result. */
function listArgumentsLike(node: CallExpression, type: Type, checker: Checker): readonly Expression[] {
  return node.arguments.filter((argument) => {
    if (isSpreadElement(argument)) return false;
    const given = checker.getTypeAtLocation(argument);
    return given !== undefined && checker.isTypeAssignableTo(given, type);
  });
}

/** Lists the pairs of arguments of which each fits in the place of the other, unless the function is symmetrical. */
function listSwaps(
  { node, callee }: CallToOtherFile,
  checker: Checker,
): readonly (readonly [Expression, Expression])[] {
  if (/\bSymmetrical\b/.test(checker.getDocumentationCommentOfSymbol(callee))) return [];
  const plain = node.arguments.filter((argument) => !isSpreadElement(argument));
  return plain.flatMap((left, index) =>
    plain.slice(index + 1).flatMap((right): readonly (readonly [Expression, Expression])[] => {
      const [a, b] = [checker.getTypeAtLocation(left), checker.getTypeAtLocation(right)];
      const isSame = a !== undefined && b !== undefined && isExchangeable(a, b, checker);
      return isSame ? [[left, right]] : [];
    }),
  );
}

function isExchangeable(a: Type, b: Type, checker: Checker): boolean {
  const [left, right] = [a, b].map((type) => checker.getBaseTypeOfLiteralType(type) ?? type);
  if (left === undefined || right === undefined) return false;
  return checker.isTypeAssignableTo(left, right) && checker.isTypeAssignableTo(right, left);
}

/** Whether the comment of the function says that it throws. */
function mayFail({ callee }: CallToOtherFile, checker: Checker): boolean {
  return /\b(?:Throws|throws)\b/.test(checker.getDocumentationCommentOfSymbol(callee));
}
