import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { describe, it } from 'vitest';
import { EXAMPLES, expectCreatedAndDeleted } from './life.ts';

const FOLDER = join(EXAMPLES, 'environments');

describe('examples/environments', () => {
  it.each(['staging', 'production'])(
    'are created, then need nothing, then are deleted with the variables of %s',
    async (name) => {
      const env = readEnvironment(name);
      await expectCreatedAndDeleted({ paths: 'environments/variables', resources: 2, context: { env } });
    },
  );
});

function readEnvironment(name: string): Readonly<Record<string, string>> {
  const parsed = parseEnv(readFileSync(join(FOLDER, 'variables', `${name}.env`), 'utf8'));
  return Object.fromEntries(Object.entries(parsed).map(([key, value]) => [key, value ?? '']));
}
