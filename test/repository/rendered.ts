import { toEdge } from '../cli/workspace.ts';
import { toStack } from './tree.ts';

/** A stack whose manifests a line of a shell prints. */
export function toRendered(name: string, line: string, spec: object = {}): string {
  return toStack(name, { render: ['sh', '-c', line], ...spec });
}

/** A file below the folder that would be a manifest with mistakes. */
const PATCH = 'kind: TCPEdge\nmetadata: { name: patch }\n';

/** A stack whose manifests are in a file that is none. */
export const WEB = {
  'web/edgewise.yaml': toStack('web', { render: ['cat', 'edges.in'] }),
  'web/edges.in': toEdge('shop', 20001),
  'web/patches/patch.yaml': PATCH,
};
