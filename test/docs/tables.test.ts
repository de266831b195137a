import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { hasTable, refreshTables } from '../../.ci/doc-tables.ts';
import { LINT_RULE_IDS } from '../../src/model/diagnostic.ts';

const PAGES = globSync('docs/**/*.md').filter((file) => hasTable(readFileSync(file, 'utf8')));

it.each(PAGES)('the tables of %s are those of the sources: npm run docs', (file) => {
  const page = readFileSync(file, 'utf8');
  expect(page).toBe(refreshTables(page));
});

it('the page of dangers is among them, and a changed word makes it stale', () => {
  expect(PAGES).toContain('docs/reference/dangers.md');
  const page = readFileSync('docs/reference/dangers.md', 'utf8');
  const stale = page.replace('a restriction in force is switched off', 'a restriction is off');
  expect(stale).not.toBe(page);
  expect(refreshTables(stale)).toBe(page);
});

it('the page of lint rules has every rule', () => {
  expect(PAGES).toContain('docs/reference/lint.md');
  const page = readFileSync('docs/reference/lint.md', 'utf8');
  expect(LINT_RULE_IDS.filter((id) => !page.includes(`| \`${id}\` |`))).toEqual([]);
});
