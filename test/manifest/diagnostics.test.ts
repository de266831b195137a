import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { explain } from './explain.ts';

/** Each file of the folder is a table: what manifests say, and everything that is to be told about them. */
const FOLDER = new URL('diagnostics/', import.meta.url);
const TABLES = readdirSync(FOLDER);

/** The codes that reading and validating manifests gives, without those that the tests beside this one look at. */
const CODES = [
  'bad-name',
  'bad-value',
  'circular-reference',
  'dangling-reference',
  'duplicate-address',
  'duplicate-attachment',
  'duplicate-claim',
  'env-malformed',
  'env-unset',
  'missing-field',
  'out-of-range',
  'reserved-metadata',
  'several-stacks',
  'unknown-field',
  'unknown-kind',
  'wrong-reference',
  'wrong-type',
  'yaml-aliases',
  'yaml-syntax',
];

describe('manifests that are wrong', () => {
  it.each(TABLES)('are told of exactly as the table %s says', async (table) => {
    const text = readFileSync(new URL(table, FOLDER), 'utf8');
    expect(text.match(/^## /gm)?.length).toBe(text.match(/^```text$/gm)?.length);
    await expect(renderTable(text)).toMatchFileSnapshot(`diagnostics/${table}`);
  });

  it('have a case for every code', () => {
    const all = TABLES.map((table) => readFileSync(new URL(table, FOLDER), 'utf8')).join('\n');
    const told = [...all.matchAll(/^\S+ \[.*\] ([a-z0-9-]+): /gm)].map(([, code]) => code);
    expect([...new Set(told)].sort()).toEqual(CODES);
  });
});

/** The table with the diagnostics that its manifests give. */
function renderTable(text: string): string {
  return text
    .split(/^(?=## )/m)
    .map((section) => section.replace(/^```text\n[\s\S]*?^```$/m, () => renderDiagnostics(section)))
    .join('');
}

function renderDiagnostics(section: string): string {
  const fences = section.matchAll(/^```yaml ?(\S*)\n([\s\S]*?)^```$/gm);
  const files = Array.from(fences, ([, file, manifest = '']) => [file === '' ? 'm.yaml' : file, manifest]);
  return ['```text', ...explain(Object.fromEntries(files)), '```'].join('\n');
}
