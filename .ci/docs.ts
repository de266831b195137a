import { writeFileSync } from 'node:fs';
import { writeExampleOutputs } from './example-outputs.ts';

/**
 * Writes what is generated in the documents: the output of the tour's commands, the references of manifests and of lint, and the
 * diagnostics with what their examples print.
 */
await writeExampleOutputs();
const { DOC_FILES } = await import('./doc-files.ts');
for (const [file, render] of DOC_FILES) writeFileSync(file, render());
