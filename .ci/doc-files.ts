import { globSync, readFileSync } from 'node:fs';
import { hasSession, refreshSession } from './console-session.ts';
import { hasTable, refreshTables } from './doc-tables.ts';
import { readPinnedFiles, readRepository, refreshPins } from './repository.ts';
import { EXAMPLES_PAGE } from './run-example.ts';

const repository = readRepository();

/** The generated text of each document and recipe. `refreshExamples` writes the page of examples. */
export const DOC_FILES: ReadonlyMap<string, () => string> = new Map([
  ...[...readPinnedFiles()].map(([file, text]) => [file, () => refreshPins(text, repository)] as const),
  ...['README.md', ...globSync('{docs,examples}/**/*.md').sort()]
    .filter((file) => file !== EXAMPLES_PAGE)
    .map((file) => [file, readFileSync(file, 'utf8')] as const)
    .filter(([, document]) => hasSession(document) || hasTable(document))
    .map(
      ([file, document]) =>
        [file, () => refreshPins(refreshTables(refreshSession(document, file)), repository)] as const,
    ),
]);
