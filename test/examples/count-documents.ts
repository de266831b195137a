import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ATTACHED_KINDS, MANIFEST_KINDS } from '../../src/kinds/tables/registry.ts';
import { EXAMPLES } from './life.ts';

/** Counts the resources in the manifests of an example, and those of them that attach modules to existing resources. */
export function countDocuments(example: string): { readonly resources: number; readonly attached: number } {
  const files = globSync('*.yaml', { cwd: join(EXAMPLES, example) });
  const texts = files.map((file) => readFileSync(join(EXAMPLES, example, file), 'utf8'));
  const kinds = texts.flatMap((text) => Array.from(text.matchAll(/^ *kind: (\w+)$/gm), ([, kind]) => kind));
  const count = (among: readonly { readonly name: string }[]): number =>
    kinds.filter((kind) => among.some(({ name }) => name === kind)).length;
  return { resources: count(MANIFEST_KINDS), attached: count(ATTACHED_KINDS) };
}
