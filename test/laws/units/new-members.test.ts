import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runTool } from '../../pipelines/tools.ts';

/** What the compiler names if a type gets a member, and nothing else changes. */
describe('a new member of a plan does not compile', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'edgewise-types-'));
    for (const room of ['model', 'kinds', 'settings', 'schemas'])
      cpSync(join('src', room), join(folder, 'src', room), { recursive: true });
    cpSync('package.json', join(folder, 'package.json'));
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const TABLES = 'src/model/plan-members.ts';
  const SCHEMA_FILE = 'src/schemas/plan.ts';
  const RESULTS_FILE = 'src/schemas/results.ts';

  it.each([
    {
      file: 'change',
      start: 'export interface Change {',
      member: 'more?: string',
      missing: [TABLES, SCHEMA_FILE, RESULTS_FILE],
    },
    { file: 'write', start: 'interface WriteContent {', member: 'more?: JsonObject', missing: [TABLES, SCHEMA_FILE] },
    {
      file: 'drift',
      start: 'export interface DriftedChange extends Change {',
      member: 'more?: string',
      missing: [RESULTS_FILE],
    },
    { file: 'place', start: 'export interface Place {', member: 'more?: string', missing: [SCHEMA_FILE, RESULTS_FILE] },
  ])('of $file: $member', async ({ file, start, member, missing }) => {
    const path = join(folder, 'src/model', `${file}.ts`);
    const text = readFileSync(path, 'utf8');
    expect(text.split(start)).toHaveLength(2);
    writeFileSync(path, text.replace(start, `${start}\n  readonly ${member};`));
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ extends: resolve('tsconfig.json'), include: [TABLES, SCHEMA_FILE, RESULTS_FILE], exclude: [] }),
    );
    const compiler = resolve('node_modules/typescript/bin/tsc');
    const { status, output } = await runTool(process.execPath, [compiler, '-p', folder], { cwd: folder });
    writeFileSync(path, text);
    expect(status, output).not.toBe(0);
    const named = output.split(/^(?=src\/)/m).filter((error) => error.includes("Property 'more' is missing"));
    expect(named.map((error) => error.slice(0, error.indexOf('('))).sort(), output).toEqual(missing);
  });
});
