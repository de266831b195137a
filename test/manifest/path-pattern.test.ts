import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { compileIgnorePatterns, compileInputPattern } from '../../src/manifest/path-pattern.ts';
import { git } from '../repository/tree.ts';

const FILES = [
  ...['a', 'a.b', 'aa', 'a*b', 'ab]c', '-x', 'b/a', 'b/c/a', 'b/c/d.yaml', 'b/c/.hid/x', 'x[1]/f', 'x1/f', 'ü/ä.txt'],
  ...['live/web/e.yaml', 'live/web/sub/e.yaml', 'live/a+b.c', 'base/deep/down.txt', 'base/x'],
];

const PATTERNS: readonly (readonly [pattern: string, folder?: string])[] = [
  ...['*', '**', '**/*', '***', 'a', 'b', 'b/', 'b/*', 'b/**', 'b/**/a', '**/a', '**/**/a', '**/c/**', '*/c', 'b/c**'],
  ...['[a-c]', '[!a]', '[^b]', '[ab]*', '[[:alpha:]]', '[[:digit:]x]*', '[z-a]', '[a', '[]]', 'ab[]]c', '[]b]*'],
  ...['x[1]/f', 'x\\[1\\]/f', 'x[[]1]/f', 'a\\*b', '?', 'a?b', '**a', 'b**a', 'ü/*', 'b/c/.hid/*', '*/.hid/*', 'a+b.c'],
  ...[
    '*.yaml',
    '**/*.yaml',
    'live/**/e.yaml',
    'live/*/e.yaml',
    './live',
    'live/../base/**',
    'live/a+b.c',
    'live/web/*/*',
  ],
].map((pattern) => [pattern] as const);

const RELATIVE: typeof PATTERNS = [
  ['../../base/**', 'live/web'],
  ['../*/e.yaml', 'live/web'],
  ['*', 'x[1]'],
  ['..', 'live/web'],
  ['.', 'live/web'],
  ['../../../x', 'live/web'],
];

it('selects with spec.inputs the files that :(glob) of git selects', () => {
  const root = mkdtempSync(join(tmpdir(), 'edgewise-test-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const file of FILES) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), '');
  }
  git(root, 'init', '-q');
  git(root, 'add', '-A');
  const all = [...PATTERNS, ...RELATIVE];
  const listed = runShell(
    root,
    LIST_FILES,
    all.flatMap(([pattern, folder = '.']) => [folder, pattern]),
  ).split('\u0001');
  for (const [index, [pattern, folder = '']] of all.entries()) {
    const compiled = compileInputPattern(pattern, folder);
    const selected = compiled === undefined ? 'outside' : FILES.filter((file) => compiled.matches(file)).sort();
    const answer = listed[index] ?? '';
    const byGit = answer === 'outside' ? answer : answer.split('\0').filter(Boolean).sort();
    expect({ pattern, selected }).toEqual({ pattern, selected: byGit });
  }
});

/** Lists the files that git selects with each pattern, in one shell, because the large test process starts each program slowly. */
const LIST_FILES = `while [ $# -gt 0 ]; do
  (cd "$1" && git ls-files -z --full-name -- ":(glob)$2" 2>/dev/null) || printf outside
  printf '\\001'
  shift 2
done`;

/** Lists of patterns as in `.gitignore`. Each is a file of its own. */
const IGNORED: readonly (readonly string[])[] = [
  ...PATTERNS.map(([pattern]) => [pattern]),
  ...['/a', '/b/', 'b/c', '/b/c/', 'c/', 'e.yaml/', '*/', '**/', 'sub', 'web/sub', 'live/**/sub/', '/**/e.yaml'].map(
    (pattern) => [pattern],
  ),
  ...['#a', '\\#a', '!a', '\\!a', 'a ', 'a\\ ', '  ', '/', '//', '!', 'a//b', 'b//c', '..', '../a', './a', 'a\\'].map(
    (pattern) => [pattern],
  ),
  ['*', '!a'],
  ['*.yaml', '!e.yaml'],
  ['live/', '!live/web/e.yaml'],
  ['live/*', '!live/web/', 'live/web/*', '!live/web/e.yaml'],
  ['!a', 'a'],
  ['a', '!a', 'a*'],
  ['/*', '!/b', '/b/*', '!/b/c'],
];

it('ignores with spec.skip_files the files that git ignores, and names the last pattern that does', () => {
  const root = mkdtempSync(join(tmpdir(), 'edgewise-test-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  git(root, 'init', '-q');
  // For git, `?` and `[!a]` match a byte, and for edgewise a character.
  const files = FILES.filter((file) => !file.startsWith('ü'));
  const checks = runShell(root, CHECK_FILES, [
    String(IGNORED.length),
    ...IGNORED.map((patterns) => `${patterns.join('\n')}\n`),
    ...files,
  ]).split('\u0001');
  for (const [index, patterns] of IGNORED.entries()) {
    const ignored = (checks[index] ?? '').split('\n').flatMap((line) => {
      const [, number, pattern = '', file = ''] = /^(?:[^:]*):(\d*):([^\t]*)\t(.*)$/.exec(line) ?? [];
      return number === '' || number === undefined || pattern.startsWith('!') ? [] : [`${Number(number) - 1} ${file}`];
    });
    const find = compileIgnorePatterns(patterns);
    const ours = files.flatMap((file) => (find(file) === undefined ? [] : [`${find(file)} ${file}`]));
    expect({ patterns, ignored: ours.sort() }).toEqual({ patterns, ignored: ignored.sort() });
  }
});

/**
 * Lists the files that git ignores by each list of patterns. Arguments: the number of lists, the lists, and the files. Git's exit code 1 means
 * none.
 */
const CHECK_FILES = `mkdir -p .git/info
count=$1; shift
lists=("\${@:1:count}"); shift "$count"
for list in "\${lists[@]}"; do
  printf %s "$list" >.git/info/exclude
  git -c core.quotePath=false check-ignore --no-index --verbose --non-matching -- "$@" || [ $? -eq 1 ] || exit
  printf '\\001'
done`;

function runShell(folder: string, script: string, words: readonly string[]): string {
  const { stdout, stderr, status } = spawnSync('bash', ['-c', script, 'bash', ...words], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(status, stderr).toBe(0);
  return stdout;
}
