import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { toEdge } from '../cli/workspace.ts';
import { toStack } from '../repository/tree.ts';

/** Creates a tree in which the overlays blue and green share a base. kustomize prints their stacks. */
export function createKustomizeTree(root: string): Readonly<Record<string, string>> {
  const overlay = (stack: string, port: number) => ({
    [`${root}/${stack}/edgewise.yaml`]: toStack(stack),
    [`${root}/${stack}/kustomization.yaml`]: `resources: [../../base, edgewise.yaml]
patches:
  - target: { kind: TCPEdge }
    patch: '[{ "op": "replace", "path": "/spec/hostports", "value": ["1.tcp.example.net:${port}"] }]'
`,
  });
  return {
    'base/kustomization.yaml': 'resources: [edge.yaml]\n',
    'base/edge.yaml': toEdge('postgres', 20001),
    ...overlay('blue', 20011),
    ...overlay('green', 20012),
  };
}

export async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
}

/** Returns the block of YAML in the section of a page that shows how to render manifests in a pipeline. */
export function findRenderingBlock(page: string): string {
  const section = page.split(/^## /m).find((text) => text.startsWith('Rendered manifests\n')) ?? '';
  return /(?<=^```yaml\n)[\s\S]*?(?=^```$)/m.exec(section)?.[0] ?? '';
}
