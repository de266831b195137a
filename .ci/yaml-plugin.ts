import type { Plugin } from 'rolldown';
import { type ESTree, parseSync, Visitor } from 'rolldown/utils';

/**
 * Two things that yaml does for each word of a manifest take more than a third of the time of reading it. In the bundle its code does them in another
 * way; everything else is the code of the package. `test/build/yaml-plugin.test.ts` compares both forms.
 *
 * - The lexer and the parser hand each word on through up to six generators, one inside of the other. Here their methods are plain ones that put what
 *   they would yield on a list, and those that are called from outside give what is on it.
 * - The constructors of nodes define properties that nobody may change or list. Here they set them, as they set all others.
 */

/** Rewrites those files. Fails when one is not loaded: then yaml has other files. */
export function createYamlPlugin(): Plugin {
  const left = new Set(Object.keys(REWRITES));
  return {
    name: 'yaml',
    transform: (code, id) => {
      const [file, rewrite] = findRewrite(id) ?? [];
      if (file === undefined) return undefined;
      left.delete(file);
      return rewrite?.(code);
    },
    buildEnd: () => {
      if (left.size > 0) throw new Error(`Nothing loads ${[...left].join(', ')}: see .ci/yaml-plugin.ts`);
    },
  };
}

function findRewrite(id: string): readonly [string, (code: string) => string] | undefined {
  return Object.entries(REWRITES).find(([file]) => id.replaceAll('\\', '/').endsWith(`/yaml/browser/dist/${file}`));
}

/** Files of the package, and what they become. */
export const REWRITES: Readonly<Record<string, (code: string) => string>> = {
  'parse/lexer.js': withoutGenerators,
  'parse/parser.js': withoutGenerators,
  'nodes/Node.js': withSetProperties,
  'nodes/Collection.js': withSetProperties,
  'nodes/Pair.js': withSetProperties,
};

/** What becomes of a generator method. */
type Form = 'plain' | 'gives the list' | 'gives each step' | 'as it is';

/** Those that are called from outside. */
const OUTER: Readonly<Record<string, Form>> = {
  lex: 'gives each step',
  parse: 'as it is',
  next: 'gives the list',
  end: 'gives the list',
};

/** The code of a class whose generators are plain methods. Throws on a `yield` that cannot be put on a list. */
export function withoutGenerators(code: string): string {
  const edits: Edit[] = [];
  const insert = (at: number, text: string) => edits.push({ start: at, end: at, text });
  const { program } = parseSync('class.js', code);
  const generators = listGenerators(program);
  const told = new Set<ESTree.YieldExpression>();
  const delegated = new Set<ESTree.Expression>();
  let form: Form = 'as it is';
  new Visitor({
    ClassBody: ({ start }) => insert(start + 1, LIST),
    MethodDefinition: (method) => {
      const name = code.slice(method.key.start, method.key.end);
      form = method.value.generator ? (OUTER[name] ?? 'plain') : 'as it is';
      if (form === 'plain') edits.push({ start: method.start, end: method.key.start, text: '' });
      if (form === 'gives the list')
        edits.push({ start: method.start, end: method.key.end, text: renderOuter(name, toParameters(method, code)) });
    },
    ExpressionStatement: ({ expression, start, end }) => {
      if (expression.type === 'YieldExpression') told.add(expression);
      else if (form === 'gives each step' && hasYield(expression)) {
        insert(start, '{ ');
        insert(end, GIVE_STEP);
      }
    },
    YieldExpression: (expression) => {
      if (expression.argument !== null) delegated.add(expression.argument);
      if (form !== 'as it is') edits.push(...toEdits(expression, told.has(expression)));
    },
    // Who calls a generator and does not ask it for anything does nothing, as a line of the lexer does.
    CallExpression: (call) => {
      const name = toOwnName(call);
      if (name !== undefined && generators.has(name) && !delegated.has(call))
        edits.push({ start: call.start, end: call.end, text: 'undefined' });
    },
  }).visit(program);
  return apply(edits, code);
}

/** A part of the code, and what stands there instead. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The most words of one step: only a line of millions of signs has as many, and who reads has limits below it. */
const MOST = 4_000_000;

/** For words a list is used again, because one for each step would be most of what is left to collect. */
const LIST = `
    told = [];
    count = 0;
    tell(one) {
        this.told[this.count] = one;
        if (this.count < ${MOST}) this.count += 1;
    }
    takeAll() {
        if (this.count === 0) return NOTHING;
        const all = this.told.slice(0, this.count);
        this.told = [];
        this.count = 0;
        return all;
    }`;

const GIVE_STEP = `
            for (let index = 0; index < this.count; index += 1) yield this.told[index];
            if (this.count === ${MOST}) throw new RangeError('too many words in one step');
            this.count = 0; }`;

function listGenerators(program: ESTree.Program): ReadonlySet<string> {
  const names = new Set<string>();
  new Visitor({
    MethodDefinition: ({ key, value }) => {
      if (value.generator && key.type === 'Identifier') names.add(key.name);
    },
  }).visit(program);
  return names;
}

/** The name of the method of the same object that is called. */
function toOwnName(call: ESTree.Expression): string | undefined {
  if (call.type !== 'CallExpression' || call.callee.type !== 'MemberExpression') return undefined;
  const { object, property } = call.callee;
  return object.type === 'ThisExpression' && property.type === 'Identifier' ? property.name : undefined;
}

function renderOuter(name: string, parameters: string): string {
  return `${name}(${parameters}) { this.${name}ToList(${parameters}); return this.takeAll(); }
    ${name}ToList`;
}

function toParameters({ value }: ESTree.MethodDefinition, code: string): string {
  return value.params.map(({ start, end }) => code.slice(start, end)).join(', ');
}

function hasYield(expression: ESTree.Expression): boolean {
  return expression.type === 'AssignmentExpression' && expression.right.type === 'YieldExpression';
}

/** Another method of the same class is called; a value is put on the list. */
function toEdits({ delegate, argument, start, end }: ESTree.YieldExpression, isStatement: boolean): readonly Edit[] {
  if (argument === null) throw new Error('yaml yields nothing: see .ci/yaml-plugin.ts');
  if (delegate && toOwnName(argument) !== undefined) return [{ start, end: argument.start, text: '' }];
  if (delegate || !isStatement) throw new Error('yaml yields in another way: see .ci/yaml-plugin.ts');
  return [
    { start, end: argument.start, text: 'this.tell(' },
    { start: end, end, text: ')' },
  ];
}

/** The code of a class whose constructor sets the properties that it defines. Throws when it defines none. */
export function withSetProperties(code: string): string {
  const set = code.replace(DEFINITION, 'this[$<name>] = $<value>;');
  if (set === code) throw new Error('yaml defines no properties: see .ci/yaml-plugin.ts');
  return set;
}

const DEFINITION = /Object\.defineProperty\(this, (?<name>[\w']+), \{\s*value: (?<value>\w+)\b[^{}]*\}\);/g;

function apply(edits: readonly Edit[], code: string): string {
  const sorted = edits.toSorted((left, right) => left.start - right.start);
  let at = 0;
  const parts = sorted.map(({ start, end, text }) => {
    const part = `${code.slice(at, start)}${text}`;
    at = end;
    return part;
  });
  return `const NOTHING = [];\n${parts.join('')}${code.slice(at)}`;
}
