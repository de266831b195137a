import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

/** The least that manifests take: the files of a folder, read by yaml and nothing else, one after another. */
const folder = process.argv[2];
for (const name of readdirSync(folder))
  for (const document of parseAllDocuments(readFileSync(join(folder, name), 'utf8'))) document.toJS();
