import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ACTIVE_VARIABLE } from '../../.ci/mutant-switches.ts';
import { failsOnlyWith } from '../../.ci/switched-tests.ts';

const CONFIG = "export default { test: { projects: [{ test: { name: 'fast', include: ['test/*.test.ts'] } }] } };";

let checkout: string;

beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'edgewise-switched-'));
  mkdirSync(join(checkout, 'test'));
  symlinkSync(join(import.meta.dirname, '../../node_modules'), join(checkout, 'node_modules'));
  writeFileSync(join(checkout, 'test/vitest.config.ts'), CONFIG);
});

afterEach(() => rmSync(checkout, { recursive: true }));

describe('a mutant that is on when test files are imported', () => {
  it.each([
    ['fails only with it', `expect(process.env.${ACTIVE_VARIABLE}).toBe(undefined)`, true],
    ['fails without it, too', 'expect(1).toBe(2)', false],
    ['passes', 'expect(1).toBe(1)', false],
  ])(
    'is noticed or not by a file that %s',
    async (_, body, isNoticed) => {
      const text = `import { expect, it } from 'vitest';\nit('ends', () => ${body});\n`;
      writeFileSync(join(checkout, 'test/one.test.ts'), text);
      expect(await failsOnlyWith(checkout, 0, ['test/one.test.ts'])).toBe(isNoticed);
    },
    60_000,
  );
});
