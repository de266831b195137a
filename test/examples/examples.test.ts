import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseServerFaults } from '../../src/server/index.ts';
import { EXAMPLES, expectWholeLife } from './life.ts';

describe('examples', () => {
  it.each([
    ['quickstart', 3],
    ['everything', 10],
  ])('%s is made, then needs nothing, then is deleted again', async (paths, resources) => {
    await expectWholeLife({ paths, resources });
  });

  it.each(globSync('**/*.yaml', { cwd: EXAMPLES }).filter((file) => !file.endsWith('kustomization.yaml')))(
    '%s names its schema for the YAML language server',
    (file) => {
      const name = file.startsWith('faults/') ? 'faults' : 'manifest';
      const path = join(EXAMPLES, file);
      const [, schema = ''] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(readFileSync(path, 'utf8')) ?? [];
      expect(resolve(dirname(path), schema)).toBe(resolve(EXAMPLES, `../schemas/${name}.schema.json`));
      expect(existsSync(resolve(dirname(path), schema))).toBe(true);
    },
  );

  it('faults is one that the server takes', () => {
    expect(parseServerFaults(readFileSync(join(EXAMPLES, 'faults/faults.yaml'), 'utf8')).rules).toHaveLength(5);
  });
});
