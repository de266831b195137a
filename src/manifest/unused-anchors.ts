import { isAlias, isScalar, type Node, visit } from 'yaml';
import type { Diagnostic } from '../model/diagnostic.ts';
import { createDiagnostic, type ManifestDocument } from './finding.ts';

/**
 * Anchors of texts that no alias names. A text that begins with `&` loses its first word to YAML: `&x y` is the text y, and
 * nothing else shows that.
 */

/** The maximum number of warnings for a document: they probably have one cause. */
const MAX_IN_DOCUMENT = 20;

/** Lists a warning for each anchor of a text, a number or an empty value in valid documents that no alias names. */
export function listUnusedAnchorWarnings(documents: readonly ManifestDocument[]): readonly Diagnostic[] {
  const roots = new Map(
    documents.filter(({ isValid }) => isValid).map((one) => [one.source.tree?.root ?? undefined, one] as const),
  );
  return Array.from(roots).flatMap(([root, document]) => (root === undefined ? [] : listOfTree(root, document)));
}

function listOfTree(root: Node, document: ManifestDocument): readonly Diagnostic[] {
  const named = new Set<string>();
  const anchored: Node[] = [];
  visit(root, (_, node) => {
    if (isAlias(node)) named.add(node.source);
    else if (isScalar(node) && node.anchor !== undefined) anchored.push(node);
  });
  const unused = anchored.filter((node) => isScalar(node) && !named.has(node.anchor ?? ''));
  return unused.slice(0, MAX_IN_DOCUMENT).map((node) => createWarning(node, document));
}

function createWarning(node: Node, { source: { text, origin }, address, kind }: ManifestDocument): Diagnostic {
  const place = text.toPlace(node.range?.[0] ?? 0);
  return {
    ...createDiagnostic(
      { address, kind },
      {
        code: 'unused-anchor',
        message: 'the word that begins with `&` is an anchor of YAML, which no alias names, and no part of the value',
        remedy: 'If it is text, put the whole value in quotes. If not, remove it.',
        place: origin === undefined ? place : { ...place, origin },
      },
    ),
    severity: 'warning',
  };
}
