import { createRequire } from 'node:module';
import { isJsonObject } from '../model/json.ts';

/** The version of the package that this is a part of, wherever it was installed. */
export function readVersion(): string {
  const packageJson: unknown = createRequire(import.meta.url)('edgewise/package.json');
  return isJsonObject(packageJson) ? String(packageJson['version']) : '';
}
