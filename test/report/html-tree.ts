import { type DefaultTreeAdapterMap, parse } from 'parse5';

/** A page as a browser reads it: every element with its attributes, and every text. */

type Node = DefaultTreeAdapterMap['node'];

/** One element of a page. */
export interface PageElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  /** Its own text, without that of its children. */
  readonly text: string;
}

/** The elements of a document in their order, and the errors of a strict parser. */
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
