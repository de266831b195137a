import { dirname, isAbsolute, join } from 'node:path';
import { findPrinter } from '../model/source-name.ts';

/** The name of standard input in messages. */
export const STDIN = '<stdin>';

/** The text of a file that a manifest names, or why there is none, to be read behind its path: `does not exist`. */
export type FieldFile = { readonly text: string } | { readonly fault: string };

/** Reads a file that a manifest names: `path` is relative to the folder of `manifest`. */
export type ReadFieldFile = (manifest: string, path: string) => FieldFile;

/** A reader that refuses every file: for manifests without a folder. */
export const NO_FIELD_FILES: ReadFieldFile = () => ({
  fault: 'cannot be read: nothing but the manifests is read here',
});

/** A path that a manifest names, relative to what the manifest's own path is relative to. */
export function toManifestPath(manifest: string, path: string): string {
  const file = findPrinter(manifest)?.file ?? manifest;
  return isAbsolute(path) ? path : join(file === STDIN ? '.' : dirname(file), path);
}
