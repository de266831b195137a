import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as yaml from 'yaml';
import { REWRITES, withoutGenerators, withSetProperties } from '../../.ci/yaml-plugin.ts';
import { itLong } from '../effort.ts';
import { toTries } from '../tries.ts';

/** The package as it is in the bundle. */
const folder = mkdtempSync(join(tmpdir(), 'edgewise-yaml-'));
let bundled: Pick<typeof yaml, 'Lexer' | 'Parser' | 'parseAllDocuments' | 'visit' | 'isNode' | 'isPair'>;

beforeAll(async () => {
  const dist = join(folder, 'dist');
  cpSync('node_modules/yaml/browser/dist', dist, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  for (const [file, rewrite] of Object.entries(REWRITES)) {
    const path = join(dist, file);
    writeFileSync(path, rewrite(readFileSync(path, 'utf8')));
  }
  bundled = await import(pathToFileURL(join(dist, 'index.js')).href);
});

afterAll(() => rmSync(folder, { recursive: true }));

it('reads every manifest here like the package', () => {
  const files = globSync('{examples,test/manifest}/**/*.y*ml');
  expect(files.length).toBeGreaterThan(50);
  for (const file of files) expectSame(readFileSync(file, 'utf8'));
});

/** What means something in YAML, and what does not. */
const PART = fc.constantFrom(
  ...[
    '\n',
    '\n',
    '\r\n',
    ' ',
    '  ',
    '\t',
    '- ',
    '? ',
    ': ',
    ':',
    ', ',
    ',',
    '[',
    ']',
    '{',
    '}',
    '"',
    "'",
    '|',
    '>',
    '>-',
    '|2+',
  ],
  ...[
    '---',
    '\n---\n',
    '\n...\n',
    '%YAML 1.2\n',
    '%TAG ! x',
    '# note',
    ' #',
    '&a ',
    '*a',
    '!',
    '!!str ',
    '!<x>',
    '\\',
    '\uFEFF',
  ],
  ...['a', 'key', 'a: b\n', '1', 'null', '~', '=', '@', '`', 'é', '\u0085', '\0'],
);

itLong('reads whatever else like the package', () => {
  const text = fc.array(PART, { maxLength: 60 }).map((parts) => parts.join(''));
  fc.assert(fc.property(text, expectSame), { numRuns: toTries(4_000) });
});

it('leaves out the call of a generator that nothing is asked of, which does nothing', () => {
  const code = withoutGenerators(
    'class A { *first() { this.second(); yield* this.second(); } *second() { yield 1; } }',
  );
  expect(code).toContain('first() { undefined; this.second(); }');
});

it('says that a `yield` cannot be put on a list', () => {
  expect(() => withoutGenerators('class A { *next() { const x = yield 1; } }')).toThrow('in another way');
  expect(() => withoutGenerators('class A { *next() { yield* other(); } }')).toThrow('in another way');
});

it('says that a constructor defines nothing', () => {
  expect(() => withSetProperties('class A {}')).toThrow('defines no properties');
});

function expectSame(text: string): void {
  for (const list of [listWords, listTokens, listNodes]) expect(list(bundled, text)).toEqual(list(yaml, text));
}

/** Everything in the documents of a text, and what each document is as a text again. */
function listNodes({ parseAllDocuments, visit, isNode, isPair }: typeof bundled, text: string): readonly unknown[] {
  return [...parseAllDocuments(text, { logLevel: 'silent' })].map((document) => {
    const seen: unknown[] = [];
    visit(document, (_, node) => {
      const own = isNode(node) ? Object.entries(node).filter(([name]) => name !== 'items' && name !== 'schema') : [];
      seen.push([isNode(node), isPair(node), own]);
    });
    const { errors, warnings, range } = document;
    return {
      seen,
      range,
      problems: [...errors, ...warnings].map(String),
      text: render(document.clone()),
    };
  });
}

/** Also of a text that comes in two parts. */
function listWords({ Lexer }: typeof bundled, text: string): readonly string[] {
  const [whole, parted] = [new Lexer(), new Lexer()];
  const middle = text.length >> 1;
  return [...whole.lex(text), ...parted.lex(text.slice(0, middle), true), ...parted.lex(text.slice(middle))];
}

/** What is wrong in a document can be that it is no text. */
function render(document: yaml.Document): string {
  try {
    return String(document);
  } catch (error) {
    return String(error);
  }
}

/** Each as it is when it is given, with the state of the parser after the word that gave it. */
function listTokens({ Lexer, Parser }: typeof bundled, text: string): readonly unknown[] {
  const parser = new Parser();
  const seen: unknown[] = [];
  for (const word of new Lexer().lex(text)) {
    for (const token of parser.next(word)) seen.push(JSON.stringify(token));
    seen.push([parser.offset, parser.stack.length]);
  }
  for (const token of parser.end()) seen.push(JSON.stringify(token));
  return [seen, JSON.stringify([...new Parser().parse(text)])];
}
