import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseAst } from 'vite';

/** An `import()` of the built program, by its place. */
interface DynamicImport {
  readonly url: string;
  readonly offset: number;
  readonly text: string;
}

/** Lists every `import()` in files. */
export function listImports(files: readonly string[]): readonly DynamicImport[] {
  return files.flatMap((path) => {
    const code = readFileSync(path, 'utf8');
    if (!code.includes('import(')) return [];
    return findNodes(parseAst(code), isImport).map(({ start, end }) => ({
      url: pathToFileURL(path).href,
      offset: start,
      text: `${basename(path)}:${code.slice(0, start).split('\n').length} ${code.slice(start, end)}`,
    }));
  });
}

interface SyntaxNode {
  readonly type: string;
  readonly operator?: string;
  readonly start: number;
  readonly end: number;
}

function findNodes(node: unknown, isWanted: (node: SyntaxNode) => boolean): readonly SyntaxNode[] {
  if (typeof node !== 'object' || node === null) return [];
  const inside = Object.values(node).flatMap((member) => findNodes(member, isWanted));
  return isNode(node) && isWanted(node) ? [node, ...inside] : inside;
}

function isNode(node: object): node is SyntaxNode {
  return 'type' in node && 'start' in node;
}

function isImport({ type }: SyntaxNode): boolean {
  return type === 'ImportExpression';
}

/** Lists syntax in a file that Node 12, the oldest with modules, cannot parse. */
export function listNewSyntax(path: string): readonly string[] {
  const code = readFileSync(path, 'utf8');
  return findNodes(parseAst(code), isNewSyntax).map(({ start, end }) => code.slice(start, end));
}

function isNewSyntax({ type, operator = '' }: SyntaxNode): boolean {
  return type === 'ChainExpression' || type === 'StaticBlock' || /^(?:\?\?=?|\|\|=|&&=)$/.test(operator);
}

/** The coverage that Node writes to NODE_V8_COVERAGE when a process ends: how often each block of each file ran. */
interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly Block[] }[];
  }[];
}

interface Block {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

/** Lists the imports that no process ran, each with its position. `folder`: that of NODE_V8_COVERAGE. */
export function listUnreached(imports: readonly DynamicImport[], folder: string): readonly string[] {
  const unreached = new Set(imports);
  for (const file of readdirSync(folder)) {
    const { result }: Coverage = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    for (const { url, functions } of result) {
      const ofFile = [...unreached].filter((one) => one.url === url);
      if (ofFile.length === 0) continue;
      const blocks = functions.flatMap(({ ranges }) => ranges);
      for (const one of ofFile) if (findCount(blocks, one.offset) > 0) unreached.delete(one);
    }
  }
  return [...unreached].map(({ text }) => text);
}

/** Finds the run count of the smallest block around an offset. */
function findCount(blocks: readonly Block[], offset: number): number {
  const around = blocks.filter(({ startOffset, endOffset }) => startOffset <= offset && offset < endOffset);
  const size = (block: Block) => block.endOffset - block.startOffset;
  return around.toSorted((left, right) => size(left) - size(right))[0]?.count ?? 0;
}
