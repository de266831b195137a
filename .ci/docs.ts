import { readFileSync, writeFileSync } from 'node:fs';
import { DOC_FILES } from './doc-files.ts';
import { EXAMPLES_PAGE, refreshExamples } from './run-example.ts';

/** Writes the generated parts of documents and recipes: the output of commands, of the examples of diagnostics, and what edgewise is pinned to. */
for (const [file, render] of DOC_FILES) writeFileSync(file, render());
writeFileSync(EXAMPLES_PAGE, await refreshExamples(readFileSync(EXAMPLES_PAGE, 'utf8')));
