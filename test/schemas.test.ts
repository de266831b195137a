import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { renderSchemaFiles } from '../.ci/schema-files.ts';
import { compileRe2 } from '../src/kinds/re2.ts';

describe('schemas', () => {
  it.each([...renderSchemaFiles()])(
    '%s follows from the kind tables; `npm run schemas` writes it again',
    (file, text) => {
      expect(readFileSync(`schemas/${file}`, 'utf8')).toBe(text);
    },
  );

  it('contain nothing without a source', () => {
    expect(globSync('**/*.*', { cwd: 'schemas' }).sort()).toEqual([...renderSchemaFiles().keys()].sort());
  });

  it.each([...renderSchemaFiles()])('%s has no pattern that Go or Rust cannot read', (_, text) => {
    const patterns = [...text.matchAll(/"pattern": ("(?:[^"\\]|\\.)*")/g)].map(([, quoted = '']) =>
      String(JSON.parse(quoted)),
    );
    for (const pattern of patterns) expect(compileRe2(pattern), pattern).toHaveProperty('size');
  });
});
