import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as yaml from 'yaml';
import { REWRITES } from '../../.ci/plain-yaml.ts';
import { toTries } from '../tries.ts';

/** The package as the bundle has it. */
const folder = mkdtempSync(join(tmpdir(), 'edgewise-yaml-'));
let bundled: Pick<typeof yaml, 'Lexer' | 'Parser' | 'parseAllDocuments'>;

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

it('reads every YAML file of the repository like the package', () => {
  const files = globSync('{.,.ci,examples,docs,test}/**/*.y*ml', { exclude: ['**/node_modules/**', 'dist/**'] });
  expect(files.length).toBeGreaterThan(200);
  for (const file of files) expectSame(readFileSync(file, 'utf8'));
});

it('reads broken files like the package', () => {
  const text = readFileSync('test/manifest/fixtures/everything.yaml', 'utf8');
  const breaks = fc.tuple(fc.nat(text.length), fc.nat(30), fc.string({ maxLength: 3 }));
  const broken = breaks.map(([at, length, inserted]) => {
    const start = Math.max(0, at - 500);
    return `${text.slice(start, at)}${inserted}${text.slice(at + length, at + 500)}`;
  });
  fc.assert(fc.property(broken, expectSame), { numRuns: toTries(400) });
});

/** What has a meaning in YAML, and some text. */
const PARTS = [
  ...['\n', '\n', '\r\n', ' ', '  ', '\t', '- ', '? ', ': ', ':', ', ', ',', '[', ']', '{', '}', '"', "'"],
  ...['|', '>', '>-', '|2+', '---', '\n---\n', '\n...\n', '%YAML 1.2\n', '%TAG ! x', '# note', ' #', '&a ', '*a'],
  ...[
    '!',
    '!!str ',
    '!<x>',
    '\\',
    '\uFEFF',
    'a',
    'key',
    'a: b\n',
    '1',
    'null',
    '~',
    '=',
    '@',
    '`',
    'é',
    '\u0085',
    '\0',
  ],
];

it('reads any text like the package', () => {
  const text = fc.array(fc.constantFrom(...PARTS), { maxLength: 60 }).map((parts) => parts.join(''));
  fc.assert(fc.property(text, expectSame), { numRuns: toTries(4_000) });
});

it('fails if the code of the package has another form', () => {
  const { 'parse/lexer.js': lexer, 'parse/parser.js': parser } = REWRITES;
  expect(() => lexer?.('class Lexer { }')).toThrow('See .ci/plain-yaml.ts');
  expect(() => parser?.('class Other { }')).toThrow('See .ci/plain-yaml.ts');
  expect(() => REWRITES['nodes/Pair.js']?.('class Pair {}')).toThrow('no property of a node');
  expect(() => lexer?.('class Lexer {\n    *lex(a) { this.lex(a); }\n}')).toThrow('without yield*');
});

function expectSame(text: string): void {
  for (const list of [listLexemes, listTokens, listDocuments]) expect(list(bundled, text)).toEqual(list(yaml, text));
}

/** Also of a text that comes in two parts. */
function listLexemes({ Lexer }: typeof bundled, text: string): readonly string[] {
  const [whole, parted] = [new Lexer(), new Lexer()];
  const middle = text.length >> 1;
  return [...whole.lex(text), ...parted.lex(text.slice(0, middle), true), ...parted.lex(text.slice(middle))];
}

/** Each token of the syntax tree when it is yielded, and the state of the parser after each lexeme. */
function listTokens({ Lexer, Parser }: typeof bundled, text: string): readonly unknown[] {
  const parser = new Parser();
  const seen: unknown[] = [];
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) seen.push(JSON.stringify(token));
    seen.push([parser.offset, parser.stack.length]);
  }
  for (const token of parser.end()) seen.push(JSON.stringify(token));
  return [seen, JSON.stringify([...new Parser().parse(text)])];
}

/** The nodes of each document with their positions, its errors, and its text. */
function listDocuments({ parseAllDocuments }: typeof bundled, text: string): readonly unknown[] {
  return [...parseAllDocuments(text, { logLevel: 'silent' })].map((document) => {
    const nodes: unknown[] = [];
    yaml.visit(document, (_, node) => {
      const fields = yaml.isNode(node) ? Object.entries(node) : [];
      nodes.push(fields.filter(([name]) => name !== 'items' && name !== 'schema'));
    });
    const { errors, warnings, range } = document;
    return { range, nodes, findings: [...errors, ...warnings].map(String), text: render(document) };
  });
}

/** A document with errors has no text. */
function render(document: yaml.Document): string {
  try {
    return String(document);
  } catch (error) {
    return String(error);
  }
}
