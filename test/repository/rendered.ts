import { toEdge } from '../cli/workspace.ts';
import { toStack } from './tree.ts';

/** A stack whose manifests are printed by a line of a shell. */
export function toRendered(name: string, line: string, spec: object = {}): string {
  return toStack(name, { render: ['sh', '-c', line], ...spec });
}

/** A file below the folder that would be an invalid manifest. */
const PATCH = 'kind: TCPEdge\nmetadata: { name: patch }\n';

/** A stack whose command prints a file that is not a manifest. */
export const WEB = {
  'web/edgewise.yaml': toStack('web', { render: ['cat', 'edges.in'] }),
  'web/edges.in': toEdge('shop', 20001),
  'web/patches/patch.yaml': PATCH,
};
