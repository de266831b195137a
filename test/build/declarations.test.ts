import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { itLong } from '../effort.ts';

itLong(
  'the types of the library need no package beside it',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'edgewise-types-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const node = (...args: readonly string[]) =>
      execFileSync(process.execPath, [...args, folder], { encoding: 'utf8', stdio: 'pipe' });
    execFileSync(resolve('node_modules/.bin/tsc'), ['-p', '.ci/tsconfig.lib.json', '--outDir', folder]);
    node('.ci/declarations.ts');
    const main = join(folder, 'index.d.ts');
    expect(existsSync(join(folder, 'schemas', 'plan.d.ts'))).toBe(false);
    writeFileSync(main, `${readFileSync(main, 'utf8')}export type { z } from 'zod';\n`);
    expect(() => node('.ci/declarations.ts')).toThrow('The types of the library need zod');
  },
  60_000,
);
