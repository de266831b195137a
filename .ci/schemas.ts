import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderSchemaFiles } from './schema-files.ts';

/** Writes schemas/. `test/schemas.test.ts` fails if a file there differs from the sources. */
for (const [file, text] of renderSchemaFiles()) writeFileSync(join('schemas', file), text);
