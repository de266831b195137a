import { expect, it } from 'vitest';
import { git } from './repository/tree.ts';

/** The entries of the top level, except those whose names begin with a dot. */
const TOP_LEVEL = [
  ...['CHANGELOG.md', 'Dockerfile', 'LICENSE', 'README.md', 'package-lock.json', 'package.json', 'tsconfig.json'],
  ...['docs', 'examples', 'schemas', 'src', 'test'],
];

it('the top level contains the agreed files and folders, and no others', () => {
  const files = git('.', 'ls-files').trim().split('\n');
  const names = new Set(files.map((file) => file.split('/')[0] ?? '').filter((name) => !name.startsWith('.')));
  expect([...names].sort()).toEqual(TOP_LEVEL.sort());
});
