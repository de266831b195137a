import { globSync, readFileSync } from 'node:fs';
import { hasSession, refreshSession } from './console-session.ts';
import { hasTable, refreshTables } from './doc-tables.ts';
import { EXAMPLES_PAGE } from './run-example.ts';

/** The generated text of each document. `refreshExamples` writes the page of examples. */
export const DOC_FILES: ReadonlyMap<string, () => string> = new Map(
  ['README.md', ...globSync('{docs,examples}/**/*.md').sort()]
    .filter((file) => file !== EXAMPLES_PAGE)
    .map((file) => [file, readFileSync(file, 'utf8')] as const)
    .filter(([, document]) => hasSession(document) || hasTable(document))
    .map(([file, document]) => [file, () => refreshTables(refreshSession(document, file))]),
);
