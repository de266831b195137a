import type { Plugin } from 'vite';

/**
 * The lexer and the parser of `yaml` are generators inside of generators: each lexeme passes through up to six of them. This plugin makes their methods
 * plain ones, which push what they yielded onto a list. That saves 100 ms of a plan of 1,000 edges. And the constructors of nodes set their properties
 * instead of defining them: 30 ms. `test/build/plain-yaml.test.ts` compares both.
 * The library and the unit tests have yaml as it is published.
 */
export function createYamlPlugin(): Plugin {
  const missing = new Set(Object.keys(REWRITES));
  return {
    name: 'plain-yaml',
    transform: (code, id) => {
      const file = Object.keys(REWRITES).find((name) =>
        id.replaceAll('\\', '/').endsWith(`/yaml/browser/dist/${name}`),
      );
      if (file === undefined) return undefined;
      missing.delete(file);
      return { code: REWRITES[file]?.(code) ?? code, map: null };
    },
    buildEnd: (error) => {
      if (error === undefined && missing.size > 0)
        throw new Error(`yaml has no ${[...missing].join(', ')} any more. See .ci/plain-yaml.ts`);
    },
  };
}

/** The files to rewrite. Each throws if the code has another form. */
export const REWRITES: Readonly<Record<string, (code: string) => string>> = {
  'parse/lexer.js': (code) =>
    replaceEach(withoutGenerators(code, 'Lexer'), [
      ['    lex(', '    *lex('],
      [
        'next = this.parseNext(next);',
        '{ next = this.parseNext(next); for (const lexeme of this.takeYielded()) yield lexeme; }',
      ],
    ]),
  'parse/parser.js': (code) =>
    replaceEach(withoutGenerators(code, 'Parser'), [
      ['    parse(', '    *parse('],
      [' this.next(lexeme);', ' yield* this.next(lexeme);'],
      [' this.end();', ' yield* this.end();'],
      [
        '    next(source) {',
        '    next(source) { this.readNext(source); return this.takeYielded(); }\n    readNext(source) {',
      ],
      ['    end() {', '    end() { this.popAll(); return this.takeYielded(); }\n    popAll() {'],
    ]),
  'nodes/Node.js': withSetProperties,
  'nodes/Collection.js': withSetProperties,
  'nodes/Pair.js': withSetProperties,
};

function withSetProperties(code: string): string {
  const set = code.replace(/Object\.defineProperty\(this, ([\w']+), \{\s*value: (\w+)\b[^{}]*\}\);/g, 'this[$1] = $2;');
  if (set === code) throw new Error('yaml defines no property of a node. See .ci/plain-yaml.ts');
  return set;
}

/** What a rewritten class has besides. Most calls yield nothing, so the empty list is shared. */
const LIST = `
    yielded = [];
    takeYielded() {
        const { yielded } = this;
        if (yielded.length === 0) return NOTHING;
        this.yielded = [];
        return yielded;
    }`;

/** Makes all generator methods plain. A `yield` that is left over is a syntax error of a plain method. */
function withoutGenerators(code: string, className: string): string {
  const methods = new Set<string>();
  const plain = code
    .replace(/^ {4}\*(\w+)\(/gm, (_, name: string) => {
      methods.add(name);
      return `    ${name}(`;
    })
    .replace(/(yield\* )?this\.(\w+)\((\))?/g, (call: string, yields?: string, name = '', end?: string) => {
      if (yields !== undefined || !methods.has(name)) return call.replace('yield* ', '');
      // Without `yield*`, the call of a generator does nothing.
      if (end === undefined) throw new Error(`yaml calls ${name} without yield*. See .ci/plain-yaml.ts`);
      return 'undefined';
    })
    .replace(/\byield ([^;*]+);/g, 'this.yielded.push($1);');
  return replaceEach(plain, [
    [`class ${className} {`, `const NOTHING = Object.freeze([]);\nclass ${className} {${LIST}`],
  ]);
}

function replaceEach(code: string, edits: readonly (readonly [from: string, to: string])[]): string {
  return edits.reduce((edited, [from, to]) => {
    const parts = edited.split(from);
    if (parts.length !== 2) throw new Error(`yaml has ${parts.length - 1} times \`${from}\`. See .ci/plain-yaml.ts`);
    return parts.join(to);
  }, code);
}
