import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EXAMPLES_PAGE } from '../../.ci/run-example.ts';
import { explain as explainTopic } from '../../src/explain/explain.ts';
import { DOCUMENT_KINDS } from '../../src/schemas/document.ts';
import { explain } from './explain.ts';

/** Each file of the folder is a table: manifests, and all of their diagnostics. */
const FOLDER = new URL('diagnostics/', import.meta.url);
const TABLES = readdirSync(FOLDER);

/** No variable is set. Tables may use these names. Keys and tokens are offered, which is refused. */
const ENV = {
  variables: {},
  offered: ['OFFERED_NAME', 'OFFERED_OTHER', 'EDGEWISE_API_KEY', 'EDGEWISE_GITLAB_TOKEN', 'GITHUB_TOKEN'],
  offeredSecrets: ['OFFERED_SECRET'],
};

/** The line of a table with a code. */
const TOLD = /^\S+ \[.*\] ([a-z0-9-]+): /;

/** Codes of manifests that other tests of this folder, or tests of many stacks, cover. */
const ELSEWHERE: readonly string[] = [
  'behind-target',
  'colliding-names',
  'pattern-unused',
  'claimed-elsewhere',
  'duplicate-stack',
  'file-unreadable',
  'manifest-not-read',
  'no-stack',
  'path-refused',
  'untrusted-setting',
  'used-elsewhere',
];

/** The codes of reading and validating manifests, from the first parts of the page. */
const [PARTS = ''] = readFileSync(EXAMPLES_PAGE, 'utf8').split('\n## Options\n');
const CODES = Array.from(PARTS.matchAll(/^### (.+)$/gm), ([, code = '']) => code).filter(
  (code) => !ELSEWHERE.includes(code),
);

describe('invalid manifests', () => {
  it.each(TABLES)('are reported exactly as in the table %s', async (table) => {
    const text = readFileSync(new URL(table, FOLDER), 'utf8');
    expect(text.match(/^## /gm)?.length).toBe(text.match(/^```text$/gm)?.length);
    await expect(renderTable(text)).toMatchFileSnapshot(`diagnostics/${table}`);
  });

  it('have a case for every code', () => {
    const all = TABLES.map((table) => readFileSync(new URL(table, FOLDER), 'utf8')).join('\n');
    const told = new Set(all.split('\n').map((line) => TOLD.exec(line)?.[1]));
    const hint =
      'add a section to a table in test/manifest/diagnostics/, with an empty ```text block, and run with --update=all';
    expect(
      CODES.filter((code) => !told.has(code)),
      hint,
    ).toEqual([]);
  });
});

describe('every diagnostic about manifests', () => {
  const lines = TABLES.flatMap((table) => readFileSync(new URL(table, FOLDER), 'utf8').split('\n'));

  it('has a remedy', () => {
    const silent = lines.filter((line, index) => TOLD.test(line) && !/^ {2}[A-Z]/.test(lines[index + 1] ?? ''));
    expect(silent).toEqual([]);
  });

  it('names only topics that explain has', () => {
    const topics = lines.flatMap((line) =>
      Array.from(line.matchAll(/`edgewise explain (\S+)`/g), ([, topic = '']) => topic),
    );
    expect(topics.length).toBeGreaterThan(20);
    expect(topics.filter((topic) => !('about' in explainTopic(topic)))).toEqual([]);
  });
});

/** Renders the table with the current diagnostics of its manifests. */
function renderTable(text: string): string {
  return text
    .split(/^(?=## )/m)
    .map((section) => section.replace(/^```text\n[\s\S]*?^```$/m, () => renderDiagnostics(section)))
    .join('');
}

function renderDiagnostics(section: string): string {
  const fences = section.matchAll(/^```yaml ?(\S*)\n([\s\S]*?)^```$/gm);
  const files = Array.from(fences, ([, file, manifest = '']) => [file === '' ? 'm.yaml' : file, manifest]);
  const told = explain(Object.fromEntries(files), { env: ENV }).map((line) =>
    line.replace(DOCUMENT_KINDS.join(', '), '(every kind)'),
  );
  return ['```text', ...told, '```'].join('\n');
}
