import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const TEXT = readFileSync('CHANGELOG.md', 'utf8');

/** What changed is the longest part, so a reader looks for a theme. */
const [, CHANGED = ''] = /\n## \[Unreleased\].*?\n### Changed\n(.*?)\n## /s.exec(TEXT) ?? [];

it('each change is below a theme', () => {
  const [first = '', ...themes] = CHANGED.split('\n#### ');
  expect(first.trim()).toBe('');
  expect(themes.length).toBeGreaterThan(3);
  for (const theme of themes) expect(theme).toMatch(/^.+\n\n- /);
});
