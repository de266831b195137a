import { describe, expect, it } from 'vitest';
import { runExample } from '../../.ci/run-example.ts';
import { createCorrectedExample } from '../../src/explain/explanation.ts';
import { EXPLANATIONS } from '../../src/explain/explanations.ts';
import OUTPUTS from '../../src/explain/outputs.json' with { type: 'json' };
import { DIAGNOSTIC_CODES } from '../../src/model/diagnostic.ts';

const EXAMPLES = Object.entries(EXPLANATIONS);
const PRINTED: Readonly<Record<string, string>> = OUTPUTS;

/** The codes of the diagnostics in an output, each once. */
function listCodes(output: string): readonly string[] {
  const found = Array.from(output.matchAll(/^ *(?:error|warning|refused)\[([\w-]+)\]/gm), ([, code = '']) => code);
  return [...new Set(found)].filter((code) => Object.hasOwn(DIAGNOSTIC_CODES, code));
}

describe('the example of a code', () => {
  it.each(EXAMPLES)('%s yields that code and no other, with what to do about it', async (code, { bad }) => {
    const { output } = await runExample(bad);
    const hint = `make \`bad\` of ${code} in src/explain/codes/ an example that yields it`;
    expect(listCodes(output), hint).toEqual([code]);
    // Beside the change that causes it, what to do is the sentence that follows.
    expect(output, `give the diagnostic ${code} a remedy where it is made`).toMatch(
      /\n {2}help: |\n {4}warning.+\. [A-Z].+\.\n/,
    );
    expect(output, '`npm run docs` writes src/explain/outputs.json anew').toBe(PRINTED[code]);
  });

  it.each(EXAMPLES)('%s yields nothing once it is mended', async (code, explanation) => {
    const { output, exitCode } = await runExample(createCorrectedExample(explanation));
    expect(listCodes(output), `mend \`good\` of ${code} in src/explain/codes/:\n${output}`).toEqual([]);
    expect(exitCode).toBe(0);
  });
});

describe('explanations', () => {
  it('are there for every code, and for nothing else', () => {
    const codes = Object.keys(DIAGNOSTIC_CODES).sort();
    const hint = 'add the code to a file in src/explain/codes/, with an example of it, and run `npm run docs`';
    expect(Object.keys(EXPLANATIONS).sort(), hint).toEqual(codes);
    expect(Object.keys(PRINTED).sort(), hint).toEqual(codes);
  });

  it('say more than the sentence of the code', () => {
    for (const [code, { meaning }] of EXAMPLES) {
      expect(meaning.length, code).toBeGreaterThan(60);
      expect(Object.values(DIAGNOSTIC_CODES), code).not.toContain(meaning);
    }
  });
});
