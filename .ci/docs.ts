import { writeFileSync } from 'node:fs';
import { EXPLANATIONS } from '../src/explain/explanations.ts';
import { runExample } from './run-example.ts';

/** Writes what is generated in the documents, which is the output of their commands, and what the examples of the diagnostics print. */
const outputs: Record<string, string> = {};
for (const [code, { bad }] of Object.entries(EXPLANATIONS)) outputs[code] = (await runExample(bad)).output;
writeFileSync('src/explain/outputs.json', `${JSON.stringify(outputs, null, 2)}\n`);
// This reads those outputs.
const { DOC_FILES } = await import('./doc-files.ts');
for (const [file, render] of DOC_FILES) writeFileSync(file, render());
