import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkPathDepth } from '../../src/files/boundary.ts';
import { findFileUpward } from '../../src/files/trusted-users.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgewise-users-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('a search for a file upward', () => {
  const find = () => findFileUpward('live/a', 'node_modules/.bin/edgewise', { cwd: folder, uid: process.getuid?.() });

  beforeEach(() => {
    mkdirSync(join(folder, 'live/a'), { recursive: true });
    mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
    writeFileSync(join(folder, 'node_modules/.bin/edgewise'), '');
  });

  it('finds the file above its start', () => {
    expect(find()).toBe(join(folder, 'node_modules/.bin/edgewise'));
  });

  it.each(['node_modules', 'node_modules/.bin', 'node_modules/.bin/edgewise'])(
    'finds nothing if every user can write to %s',
    (path) => {
      chmodSync(join(folder, path), 0o777);
      expect(find()).toBeUndefined();
    },
  );
});

describe('a path', () => {
  it('is accepted with 100 names below its folder, and refused with 101', () => {
    const toPath = (depth: number) => `/top/${Array(depth).fill('a').join('/')}`;
    expect(() => checkPathDepth(toPath(100), '/top')).not.toThrow();
    expect(() => checkPathDepth(toPath(101), '/top')).toThrow('is more than 100 folders deep');
  });
});
