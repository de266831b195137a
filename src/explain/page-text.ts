import { readFileSync } from 'node:fs';

/** Returns the text of docs/diagnostics.md. In the bundle, `.ci/build.ts` replaces this file by one that contains the text. */
export function getDiagnosticsPage(): string {
  return readFileSync(new URL('../../docs/diagnostics.md', import.meta.url), 'utf8');
}
