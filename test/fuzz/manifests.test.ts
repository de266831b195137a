import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { holds } from '../laws/properties.ts';
import { LONG } from '../tries.ts';
import {
  applyEverything,
  createEverything,
  type FuzzResult,
  openServer,
  readExample,
  runWithInput,
} from './fuzzing.ts';
import { anyBytes, mutatedText } from './mutations.ts';

/** The commands for manifests that may be invalid. An apply fails if the service rejects a part. */
const COMMANDS: readonly (readonly [line: string, exitCodes: readonly number[]])[] = [
  ['validate', [0, 3]],
  ['plan --detailed-exitcode', [0, 2, 3, 4, 5]],
  ['drift --format json', [0, 2, 3, 4, 5]],
  ['apply --yes --token-directory tokens', [0, 1, 3, 4, 5]],
  ['destroy --yes', [0, 1, 3, 4, 5]],
];

const command = fc.constantFrom(...COMMANDS);

describe('manifests', () => {
  it.each([
    ['of every kind and setting, with a few edits,', () => mutatedText(createEverything().manifests), 150],
    ['with a Stack that has a few edits', () => mutatedText(readExample('edgewise.yaml')), 150],
    ['of any bytes', () => anyBytes, 100],
  ] as const)('are applied, or refused with the mistake: %s', LONG, async (_, toArbitrary, runs) => {
    const { folder } = createEverything();
    const { seed } = await applyEverything();
    const property = fc.asyncProperty(
      toArbitrary(),
      command,
      fc.boolean(),
      async (bytes, [line, exitCodes], isLive) => {
        writeFileSync(join(folder, 'manifests.yaml'), bytes);
        const transport = openServer(isLive ? seed : {}).handle;
        const result = await runWithInput([...line.split(' '), 'manifests.yaml'], { folder, fed: bytes, transport });
        // A truncated version header is a valid name, and the service names the version that it needs.
        const expected = result.stderr.includes('400 bad_version') ? [1] : exitCodes;
        expect(expected, result.stderr).toContain(result.exitCode);
        expectReason(result);
      },
    );
    await holds(property, runs);
  });

  it('on standard input are read like files', LONG, async () => {
    const { folder, manifests } = createEverything();
    const property = fc.asyncProperty(mutatedText(manifests), async (bytes) => {
      const result = await runWithInput(['plan', '-'], { folder, fed: bytes, stdin: bytes.toString() });
      expectReason(result);
    });
    await holds(property, 30);
  });
});

/** Expects that a refused run prints a reason. */
function expectReason({ exitCode, stdout, stderr }: FuzzResult): void {
  if (exitCode === 3) expect(`${stdout}${stderr}`).toMatch(/\berror\b|"error"|must|is not|cannot/i);
}
