import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { renderSchemaFiles } from './schema-files.ts';

/** Writes schemas/. `test/schemas.test.ts` fails when a file there is not what the sources say. */
for (const [file, text] of renderSchemaFiles()) {
  const path = join('schemas', file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
