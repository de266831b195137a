import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { DOC_FILES } from '../../.ci/doc-files.ts';

it.each([...DOC_FILES])(
  '%s shows what the program and its tables say; `npm run docs` writes it again',
  { timeout: 180_000 },
  (file, render) => {
    expect(readFileSync(file, 'utf8')).toBe(render());
  },
);
