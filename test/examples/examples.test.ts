import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXAMPLES, expectWholeLife } from './life.ts';

describe('examples', () => {
  it.each([
    ['quickstart', 3],
    ['everything', 10],
  ])('%s is made, then needs nothing, then is deleted again', async (paths, resources) => {
    await expectWholeLife({ paths, resources });
  });

  it.each(globSync('**/*.yaml', { cwd: EXAMPLES }).filter((file) => !file.endsWith('kustomization.yaml')))(
    '%s names the schema of manifests for the YAML language server',
    (file) => {
      const path = join(EXAMPLES, file);
      const [, schema = ''] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(readFileSync(path, 'utf8')) ?? [];
      expect(resolve(dirname(path), schema)).toBe(resolve(EXAMPLES, '../schemas/manifest.schema.json'));
      expect(existsSync(resolve(dirname(path), schema))).toBe(true);
    },
  );
});
