import { writeFileSync } from 'node:fs';
import { writeExampleOutputs } from './example-outputs.ts';

/**
 * Writes what is generated in the documents: the output of their commands, the references of manifests, of lint and of the
 * diagnostics; and what the examples of the diagnostics print.
 */
await writeExampleOutputs();
const { DOC_FILES } = await import('./doc-files.ts');
for (const [file, render] of DOC_FILES) writeFileSync(file, render());
