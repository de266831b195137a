import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ServerSeed } from '../../src/server/index.ts';
import { holds } from '../laws/properties.ts';
import { LONG } from '../tries.ts';
import { applyEverything, createFolder, openServer, runWithInput } from './fuzzing.ts';
import { anyBytes, mutatedJson, mutatedText } from './mutations.ts';

const COMMANDS: readonly (readonly [line: string, exitCodes: readonly number[]])[] = [
  ['show plan.json', [0, 3]],
  ['show plan.json --format json --verbose', [0, 3]],
  ['apply --approved plan.json --yes --token-directory tokens', [0, 1, 3, 4, 5, 6]],
];

describe('a mutated plan file', () => {
  it.each([
    ['with a few edits in its text', (plan: string) => mutatedText(plan)],
    ['with other values in a few places', (plan: string) => mutatedJson(JSON.parse(plan)).map(Buffer.from)],
    ['of any bytes', () => anyBytes],
  ] as const)('is applied, or refused with the mistake: %s', LONG, async (_, toArbitrary) => {
    const everything = await applyEverything();
    const change = await planChange(everything.seed);
    const folder = createFolder();
    const cases = fc.oneof(
      toArbitrary(everything.plan).map((bytes) => ({ bytes, seed: {} })),
      toArbitrary(change).map((bytes) => ({ bytes, seed: everything.seed })),
    );
    const property = fc.asyncProperty(
      cases,
      fc.constantFrom(...COMMANDS),
      async ({ bytes, seed }, [line, exitCodes]) => {
        writeFileSync(join(folder, 'plan.json'), bytes);
        const { handle } = openServer(seed);
        const result = await runWithInput(line.split(' '), { folder, fed: bytes, transport: handle });
        expect(exitCodes, result.stderr).toContain(result.exitCode);
        if (!line.startsWith('apply')) expect(result.writes).toBe(0);
      },
    );
    await holds(property, 150);
  });
});

/** Creates the plan file from `examples/everything` to another stack with the same name. */
async function planChange(seed: ServerSeed): Promise<string> {
  const folder = createFolder();
  writeFileSync(join(folder, 'manifests.yaml'), readFileSync('test/walks/everything-changed.yaml.txt'));
  const transport = openServer(seed).handle;
  const result = await runWithInput(['plan', 'manifests.yaml', '-o', 'plan.json', '--token-directory', 'tokens'], {
    folder,
    fed: 'a change',
    transport,
  });
  expect(result.exitCode, result.stderr).toBe(0);
  return readFileSync(join(folder, 'plan.json'), 'utf8');
}
