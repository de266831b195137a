import type { Nodes, Root, RootContent } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';

/** Parses GitHub's dialect of Markdown. */
export function parseMarkdown(text: string): Root {
  return fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
}

/** Lists the types of nodes and of their descendants, in document order. */
export function listBlocks(nodes: readonly Nodes[]): readonly string[] {
  return nodes.flatMap((node) => [node.type, ...('children' in node ? listBlocks(node.children) : [])]);
}

/** The text of nodes that is not code. */
export function toPlainText(nodes: readonly RootContent[]): string {
  return nodes
    .map((node) => {
      if (node.type === 'text') return node.value;
      return 'children' in node ? toPlainText(node.children) : '';
    })
    .join(' ');
}

/** Lists the code in paragraphs and headings. */
export function listCode(nodes: readonly Nodes[]): readonly string[] {
  return nodes.flatMap((node) => {
    if (node.type === 'inlineCode') return [node.value];
    return 'children' in node ? listCode(node.children) : [];
  });
}

/** Lists nodes and their descendants. */
export function listNodes(nodes: readonly Nodes[]): readonly Nodes[] {
  return nodes.flatMap((node) => [node, ...('children' in node ? listNodes(node.children) : [])]);
}
