import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as yaml from 'yaml';
import { CLASS_FILES, withoutGenerators } from '../../.ci/yaml-without-generators.ts';
import { toTries } from '../tries.ts';

/** The package as it is in the bundle. */
const folder = mkdtempSync(join(tmpdir(), 'edgewise-yaml-'));
let bundled: Pick<typeof yaml, 'Lexer' | 'Parser'>;

beforeAll(async () => {
  const dist = join(folder, 'dist');
  cpSync('node_modules/yaml/browser/dist', dist, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  for (const file of CLASS_FILES) {
    const path = join(dist, file);
    writeFileSync(path, withoutGenerators(readFileSync(path, 'utf8')));
  }
  bundled = await import(pathToFileURL(join(dist, 'index.js')).href);
});

afterAll(() => rmSync(folder, { recursive: true }));

it('reads every manifest here like the package', () => {
  const files = globSync('{examples,test/manifest,test/scenarios}/**/*.y*ml');
  expect(files.length).toBeGreaterThan(300);
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

it('reads whatever else like the package', () => {
  const text = fc.array(PART, { maxLength: 60 }).map((parts) => parts.join(''));
  fc.assert(fc.property(text, expectSame), { numRuns: toTries(8_000) });
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

function expectSame(text: string): void {
  const [words, tokens] = [listWords(yaml, text), listTokens(yaml, text)];
  expect(listWords(bundled, text)).toEqual(words);
  expect(listTokens(bundled, text)).toEqual(tokens);
}

/** Also of a text that comes in two parts. */
function listWords({ Lexer }: typeof bundled, text: string): readonly string[] {
  const [whole, parted] = [new Lexer(), new Lexer()];
  const middle = text.length >> 1;
  return [...whole.lex(text), ...parted.lex(text.slice(0, middle), true), ...parted.lex(text.slice(middle))];
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
