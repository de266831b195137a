import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { toManifestJsonSchema } from '../../schemas/manifest.ts';

/** Where editors find the schema of the manifests in a folder. */
export interface EditorSchema {
  /** Relative to the folder. */
  readonly path: string;
  /** The files to write, if it is not there yet. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
}

const PACKAGED_SCHEMA = join('node_modules', 'edgewise', 'schemas', 'manifest.schema.json');
const WRITTEN_SCHEMA = join('.edgewise', 'manifest.schema.json');

/**
 * The schema of the package, where it is installed beside the folder; else one inside of it, out of sight, which is written unless
 * it is there.
 */
export function findEditorSchema(folder: string, cwd: string): EditorSchema {
  const start = resolve(cwd, folder);
  for (let at = start; ; at = dirname(at)) {
    const file = join(at, PACKAGED_SCHEMA);
    if (existsSync(file)) return { path: relative(start, file), files: [] };
    if (at === dirname(at)) break;
  }
  if (existsSync(join(start, WRITTEN_SCHEMA))) return { path: WRITTEN_SCHEMA, files: [] };
  const text = `${JSON.stringify(toManifestJsonSchema(), null, 2)}\n`;
  return { path: WRITTEN_SCHEMA, files: [{ path: WRITTEN_SCHEMA, text }] };
}
