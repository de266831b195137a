import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseServerFaults, type ServerSeed } from '../../src/server/index.ts';
import { countDocuments } from './count-documents.ts';
import { EXAMPLES, expectCreatedAndDeleted } from './life.ts';

describe('examples', () => {
  it.each(['quickstart', 'everything'])('are created, then need nothing, then are deleted again: %s', async (paths) => {
    await expectCreatedAndDeleted({ paths, resources: countDocuments(paths).resources });
  });

  it('refer only to resources of account.json', () => {
    const files = globSync('**/*.{yaml,env}', { cwd: EXAMPLES });
    const texts = files.map((file) => readFileSync(join(EXAMPLES, file), 'utf8').replace(/#.*/g, ''));
    const named = texts.flatMap((text) => text.match(/\b[a-z]+_[0-9A-Za-z]{27}\b/g) ?? []);
    const { externals }: ServerSeed = JSON.parse(readFileSync(join(EXAMPLES, 'account.json'), 'utf8'));
    expect([...new Set(named)].sort()).toEqual([...(externals ?? [])].sort());
  });

  it.each(globSync('**/*.yaml', { cwd: EXAMPLES }).filter(isOurs))(
    'name their schema for the YAML language server: %s',
    (file) => {
      const name = file.startsWith('faults/') ? 'faults' : 'manifest';
      const path = join(EXAMPLES, file);
      const [, schema = ''] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(readFileSync(path, 'utf8')) ?? [];
      expect(resolve(dirname(path), schema)).toBe(resolve(EXAMPLES, `../schemas/${name}.schema.json`));
      expect(existsSync(resolve(dirname(path), schema))).toBe(true);
    },
  );

  it('contain faults that the server accepts', () => {
    expect(parseServerFaults(readFileSync(join(EXAMPLES, 'faults/faults.yaml'), 'utf8')).rules).toHaveLength(5);
  });
});

/** Whether edgewise reads the file, unlike those of Kubernetes and kustomize beside it. */
function isOurs(file: string): boolean {
  return file.startsWith('faults/') || readFileSync(join(EXAMPLES, file), 'utf8').includes('apiVersion: edgewise/');
}
