import { isJsonObject, parseJson } from '../model/json.ts';

/** What plan files, results and the bundled server's snapshots have in common with no manifest. */
const SHAPES = [
  ['changes', 'writes'],
  ['outcomes', 'plan'],
  ['resources', 'sequence'],
] as const;

/**
 * Whether a JSON file is something that edgewise writes itself. A plan that was saved beside the manifests that it was made of, or
 * the snapshot of a server, must not be taken for a manifest when the folder is read again.
 */
export function isOwnOutput(bytes: Uint8Array): boolean {
  const value = parseJson(Buffer.from(bytes).toString('utf8'));
  if (value === undefined || !isJsonObject(value) || 'apiVersion' in value || 'kind' in value) return false;
  return SHAPES.some((names) => names.every((name) => name in value));
}
