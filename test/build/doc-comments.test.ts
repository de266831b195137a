import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

/** Runs what `npm run lint` runs on a file with this text. */
function check(text: string): { readonly status: number | null; readonly stderr: string } {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-comments-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'a.ts');
  writeFileSync(file, text);
  const { status, stderr } = spawnSync(process.execPath, ['.ci/doc-comments.ts', file], { encoding: 'utf8' });
  return { status, stderr: stderr.replace(folder, '') };
}

it.each([
  ['const a = 1;\n\n/**\n/**\n * Two openings.\n */\nconst b = 2;\n', 4],
  ['function f() {\n  /** One line,\n  /** and another. */\n}\n', 3],
])('lint names the line on which a doc comment opens twice', (text, line) => {
  expect(check(text)).toEqual({ status: 1, stderr: `/a.ts:${line}: this doc comment opens twice. Remove one /**.\n` });
});

it.each([
  '/** One. */\n/** Another. */\nconst a = 1;\n',
  '/**\n * `src/**` and `docs/**\\/*.md`.\n */\nconst a = 1;\n',
  "const pattern = 'src/**';\n/** The pattern. */\n",
])('lint accepts comments that open once, with patterns in them: %j', (text) => {
  expect(check(text)).toEqual({ status: 0, stderr: '' });
});

it('is a part of lint', () => {
  expect(JSON.parse(readFileSync('package.json', 'utf8')).scripts.lint).toContain('node .ci/doc-comments.ts');
});
