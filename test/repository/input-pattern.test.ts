import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { compileInputPattern } from '../../src/repository/input-pattern.ts';
import { git } from './tree.ts';

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

it('selects the files that :(glob) of git selects', () => {
  const root = mkdtempSync(join(tmpdir(), 'edgewise-test-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const file of FILES) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), '');
  }
  git(root, 'init', '-q');
  git(root, 'add', '-A');
  const askGit = (pattern: string, folder: string): readonly string[] | 'outside' => {
    try {
      const listed = git(join(root, folder), 'ls-files', '-z', '--full-name', '--', `:(glob)${pattern}`);
      return listed.split('\0').filter(Boolean).sort();
    } catch {
      return 'outside';
    }
  };
  for (const [pattern, folder = ''] of [...PATTERNS, ...RELATIVE]) {
    const compiled = compileInputPattern(pattern, folder);
    const selected = compiled === undefined ? 'outside' : FILES.filter((file) => compiled.matches(file)).sort();
    expect({ pattern, selected }).toEqual({ pattern, selected: askGit(pattern, folder) });
  }
});
