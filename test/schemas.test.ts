import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { renderSchemaFiles } from '../.ci/schema-files.ts';

describe('schemas', () => {
  it.each([...renderSchemaFiles()])(
    '%s is what the kind tables say; `npm run schemas` writes it anew',
    (file, text) => {
      expect(readFileSync(`schemas/${file}`, 'utf8')).toBe(text);
    },
  );

  it('holds nothing that no source stands for', () => {
    expect(globSync('**/*.*', { cwd: 'schemas' }).sort()).toEqual([...renderSchemaFiles().keys()].sort());
  });
});
