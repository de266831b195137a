import { resolve } from 'node:path';
import { cruise } from 'dependency-cruiser';
import extractConfig from 'dependency-cruiser/config-utl/extract-depcruise-config';
import { describe, expect, it } from 'vitest';

/** Lists the violations of import rules below a folder, each with its import. */
async function listViolations(baseDir: string): Promise<readonly string[]> {
  const config = await extractConfig('./.dependency-cruiser.mjs');
  const { output } = await cruise(['src'], {
    ...config.options,
    baseDir: resolve(baseDir),
    validate: true,
    ruleSet: config,
  });
  if (typeof output === 'string') throw new Error(output);
  return output.summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`).sort();
}

describe('import directions', () => {
  it('are refused if they are broken, also by an import of a type', async () => {
    expect(await listViolations('test/imports/refused')).toMatchInlineSnapshot(`
      [
        "client-imports-upward: src/client/page.ts → src/plan/step.ts",
        "effects-are-named: src/client/page.ts → fs",
        "kinds-come-from-the-registry: src/client/page.ts → src/kinds/tables/credential.ts",
        "no-circles: src/client/page.ts → src/plan/step.ts",
        "package-without-a-home: src/plan/step.ts → ../../../node_modules/vitest/dist/index.d.ts",
        "plan-imports-upward: src/plan/step.ts → src/client/page.ts",
        "process-is-a-parameter: src/plan/step.ts → process",
        "undici-has-one-home: src/plan/step.ts → ../../../node_modules/undici/index.js",
      ]
    `);
  });
});
