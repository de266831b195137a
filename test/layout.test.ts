import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

/** What stands at the top level, besides files and folders whose names begin with a dot. */
const TOP_LEVEL = [
  ...['CHANGELOG.md', 'Dockerfile', 'LICENSE', 'README.md', 'package-lock.json', 'package.json', 'tsconfig.json'],
  ...['docs', 'examples', 'schemas', 'src', 'test'],
];

it('the top level contains the agreed files and folders, and no others', () => {
  const files = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).trim().split('\n');
  const names = new Set(files.map((file) => file.split('/')[0] ?? '').filter((name) => !name.startsWith('.')));
  expect([...names].sort()).toEqual(TOP_LEVEL.sort());
});
