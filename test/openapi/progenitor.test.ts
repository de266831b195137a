import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'vitest';
import { describeWith } from '../pipelines/tools.ts';
import { HAS_ALL_TRIES } from '../tries.ts';
import { createClientFolder, FIXTURES, LONG, OF_FIVE_KINDS, runClient } from './client-folder.ts';

/**
 * The client that progenitor, which reads OpenAPI 3.0 only, creates from the document in that version while it compiles. Rust compiles for
 * minutes: every night.
 */

describeWith(['cargo'], 'a client by progenitor', () => {
  it.skipIf(!HAS_ALL_TRIES)('compiles, and manages resources of five kinds', LONG, async () => {
    const cwd = await createClientFolder('progenitor/Cargo.toml');
    await cp('schemas/openapi-3.0.json', join(cwd, 'openapi-3.0.json'));
    await cp(join(FIXTURES, 'progenitor/main.rs'), join(cwd, 'src/main.rs'));
    await runClient('cargo', ['run', '--quiet', '--'], cwd, OF_FIVE_KINDS);
  });
});
