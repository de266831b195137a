import type { Nodes, Root, RootContent } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';

/** What GitHub's dialect of Markdown makes of a text. */
export function parseMarkdown(text: string): Root {
  return fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
}

/** The types of nodes and of those inside of them, in the order of the text. */
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

/** The pieces of code inside of paragraphs and headings. */
export function listCode(nodes: readonly Nodes[]): readonly string[] {
  return nodes.flatMap((node) => {
    if (node.type === 'inlineCode') return [node.value];
    return 'children' in node ? listCode(node.children) : [];
  });
}

/** Nodes and those inside of them. */
export function listNodes(nodes: readonly Nodes[]): readonly Nodes[] {
  return nodes.flatMap((node) => [node, ...('children' in node ? listNodes(node.children) : [])]);
}
