import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EXAMPLES_PAGE, listExamples, readExample, runExample } from '../../.ci/run-example.ts';
import { findCodeSection } from '../../src/explain/code-section.ts';
import { DIAGNOSTIC_CODES } from '../../src/model/diagnostic.ts';
import { requireProgramOrSkip } from '../needs.ts';

const CODES = Object.entries(DIAGNOSTIC_CODES);

const EXAMPLES = CODES.flatMap(([code]) =>
  listExamples(findCodeSection(code)?.example ?? '').map((example) => ({
    code,
    command: readExample(example).command,
    example,
  })),
);

/** The codes of the diagnostics in an output, each once. */
function listCodes(output: string): readonly string[] {
  const found = Array.from(output.matchAll(/^ *(?:error|warning|refused)\[([\w-]+)\]/gm), ([, code = '']) => code);
  return [...new Set(found)].filter((code) => Object.hasOwn(DIAGNOSTIC_CODES, code));
}

describe(EXAMPLES_PAGE, () => {
  it('has a section for every code, and for nothing else', () => {
    const sections = Array.from(readFileSync(EXAMPLES_PAGE, 'utf8').matchAll(/^### (.+)$/gm), ([, code]) => code);
    expect(sections.sort()).toEqual(Object.keys(DIAGNOSTIC_CODES).sort());
  });

  it.each(CODES)('starts the section of %s with the sentence of the code, and says more', (code, sentence) => {
    const section = findCodeSection(code);
    expect(section?.sentence).toBe(sentence);
    expect(section?.meaning.length).toBeGreaterThan(60);
    expect(section?.remedy).toMatch(/^[A-Z].+\.$/s);
  });

  it('has an example in every section', () => {
    expect([...new Set(EXAMPLES.map(({ code }) => code))]).toEqual(Object.keys(DIAGNOSTIC_CODES));
  });

  it.each(EXAMPLES)(
    'has an example that reports $code and no other code, with its remedy: $command',
    async ({ code, example }) => {
      const runnable = readExample(example);
      if (runnable.isInGit) requireProgramOrSkip('git');
      const { output } = await runExample(runnable);
      expect(listCodes(output)).toEqual([code]);
      // Beside a change, the remedy is the sentence after the warning.
      expect(output).toMatch(/\n {2}help: |\n {4}warning.+\. [A-Z].+\.\n/);
      expect(example, '`npm run docs` writes what the examples print').toContain(`\n${output.trimEnd()}\n\`\`\``);
    },
  );
});
