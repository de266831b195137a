import { type DefaultTreeAdapterMap, parse } from 'parse5';

/** A page, read as a browser reads it: every element with its attributes, and every text. */

type Node = DefaultTreeAdapterMap['node'];

/** One element of a page. */
export interface PageElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  /** What stands directly in it. */
  readonly text: string;
}

/** What a document consists of, in the order in which it stands, and what a strict reader objects to. */
export interface PageTree {
  readonly elements: readonly PageElement[];
  readonly comments: number;
  readonly mistakes: readonly string[];
}

/** Reads a whole document. */
export function readPage(document: string): PageTree {
  const mistakes: string[] = [];
  const root = parse(document, {
    onParseError: ({ code, startLine }) => mistakes.push(`${code} in line ${startLine}`),
  });
  const nodes = listNodes(root);
  return {
    elements: nodes.flatMap((node) => ('tagName' in node ? [toElement(node)] : [])),
    comments: nodes.filter(({ nodeName }) => nodeName === '#comment').length,
    mistakes,
  };
}

function listNodes(node: Node): readonly Node[] {
  return [node, ...('childNodes' in node ? node.childNodes.flatMap(listNodes) : [])];
}

function toElement({ tagName, attrs, childNodes }: DefaultTreeAdapterMap['element']): PageElement {
  return {
    name: tagName,
    attributes: new Map(attrs.map(({ name, value }) => [name, value])),
    text: childNodes.map((child) => ('value' in child ? child.value : '')).join(''),
  };
}
