import { writeFileSync } from 'node:fs';
import { DOC_FILES } from './doc-files.ts';

/** Writes what is generated in the documents: the output of the tour's commands, and the reference of manifests. */
for (const [file, render] of DOC_FILES) writeFileSync(file, render());
