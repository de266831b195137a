import { fileURLToPath } from 'node:url';

/**
 * Finds the file of this program that an `import()` could not load. It is missing when the package was replaced or
 * removed during the run, and closed when another user installed the package. `undefined` for every other error.
 *
 * An older Node loads this file: no newer syntax, not even `?.`.
 */
export function findUnreadablePart(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, url, path = '' }: NodeJS.ErrnoException & { readonly url?: string } = error;
  const file = code === 'ERR_MODULE_NOT_FOUND' && url !== undefined ? fileURLToPath(url) : path;
  return file.startsWith(import.meta.dirname) ? file : undefined;
}
