import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, it } from 'vitest';

it('docs/security.md names every test of an attack, and no other', () => {
  const page = readFileSync('docs/security.md', 'utf8');
  const rows = page
    .slice(page.indexOf('## Attacks and tests'))
    .split('\n')
    .filter((line) => /^\| [A-Z]/.test(line));
  const named = rows
    .slice(1)
    .flatMap((row) => [...(row.split('|').at(-2) ?? '').matchAll(/`([\w-]+)`/g)].map(([, name]) => name));
  const tests = globSync('test/hostile/*.test.ts').map((file) => basename(file, '.test.ts'));
  expect([...new Set(named)].sort()).toEqual(tests.filter((name) => name !== 'table').sort());
});
