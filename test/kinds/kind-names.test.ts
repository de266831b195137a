import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { toHyphenated } from '../../src/kinds/kind.ts';
import { KINDS } from '../../src/kinds/tables/registry.ts';

/** Files that may name kinds, and the reason. */
const NAMED: readonly (readonly [why: string, files: string])[] = [
  ['each kind is stated here', 'src/kinds/tables/*.ts'],
  [
    'what the server does for a kind beyond its table',
    'src/server/{behaviours,*-behaviour,abuse-report-rules,ssh-certificate}.ts',
  ],
  ['what a seed says about such behaviour', 'src/{schemas,server}/{seed,service,server,behaviour}.ts'],
  ['an example of a manifest', 'src/manifest/starter.ts'],
  ['fields that were retired', 'src/settings/retired.ts'],
  [
    'variables of build systems and of commands, whose names have such words',
    'src/model/{system-tokens,token-variables}.ts',
  ],
];

const EXPECTED = new Set(NAMED.flatMap(([, files]) => globSync(files)));
const SOURCES = globSync('src/**/*.ts');

/** A kind by its name, the name of its table, and the name of its file where that is no common word. */
const NAMES = KINDS.flatMap(({ name }) => {
  const hyphenated = toHyphenated(name);
  const table = hyphenated.replaceAll('-', '_').toUpperCase();
  return [name, table, ...(hyphenated.includes('-') ? [hyphenated] : [])];
});
const NAME = new RegExp(`(?<![a-z])(${NAMES.join('|')})(?![a-z])`);

/** Lists the lines of code that name a kind. Comments may name kinds. */
function listNaming(file: string): readonly string[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines
    .filter((line) => NAME.test(line) && !/^\s*(\/\*\*|\*|\/\/)/.test(line))
    .map((line) => `${file}: ${line}`);
}

describe('the name of a kind', () => {
  it('is in the table of the kind, and in few other files', () => {
    const others = SOURCES.filter((file) => !EXPECTED.has(file));
    expect(others.length).toBeGreaterThan(250);
    expect(others.flatMap(listNaming)).toEqual([]);
  });

  it.each(NAMED)('is in a file for another purpose: %s', (_, files) => {
    expect(globSync(files).flatMap(listNaming)).not.toEqual([]);
  });
});
