import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderSchemaFiles } from './schema-files.ts';

/** Writes schemas/. `test/schemas.test.ts` fails when a file there is not what the sources say. */
for (const [file, text] of renderSchemaFiles()) writeFileSync(join('schemas', file), text);
