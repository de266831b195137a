import { isMap, isScalar, isSeq, type Node, type Pair } from 'yaml';
import { type Field, type FieldType, findField } from '../kinds/field.ts';
import { findKind } from '../kinds/tables/registry.ts';
import { findMemberType } from '../kinds/walk.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { formatPath } from '../model/field-path.ts';
import type { FieldPath } from '../model/state.ts';
import { findNode, locateDiagnostic, type ManifestDocument } from './finding.ts';

/**
 * Keys without a value, most often because the lines below are commented out. YAML reads null, which counts as left out: a
 * module that should restrict access is then missing. A written `null` is on purpose. Below `lifecycle`, null is an error.
 */

/** The maximum number of warnings for a document, and for all: they probably have one cause. */
const MAX_IN_DOCUMENT = 20;
const MAX_IN_ALL = 100;

/** Lists a warning for each key without a value in valid documents. The last one counts the rest. */
export function listEmptyKeyWarnings(documents: readonly ManifestDocument[]): readonly Diagnostic[] {
  const all = documents.filter(({ isValid }) => isValid).flatMap(listEmptyKeysOfDocument);
  const shown = all.slice(0, MAX_IN_ALL).map(({ document, path }) => createWarning(document, path));
  const more = all.length - shown.length;
  const [last] = shown.slice(-1);
  return more === 0 || last === undefined
    ? shown
    : [...shown, { ...last, message: `and ${more} more keys without a value` }];
}

interface EmptyKey {
  readonly document: ManifestDocument;
  readonly path: FieldPath;
}

function listEmptyKeysOfDocument(document: ManifestDocument): readonly EmptyKey[] {
  const paths: FieldPath[] = [];
  const spec = findNode(document.source, ['spec']);
  if (spec !== undefined) collectEmptyKeys(spec, ['spec'], paths);
  return paths.slice(0, MAX_IN_DOCUMENT).map((path) => ({ document, path }));
}

function collectEmptyKeys(node: Node | null, path: FieldPath, paths: FieldPath[]): void {
  if (paths.length > MAX_IN_DOCUMENT) return;
  if (isMap(node))
    for (const { key, value } of node.items as readonly Pair<Node, Node | null>[]) // the items of a parsed map
      collectEmptyKeys(value, [...path, isScalar(key) ? String(key.value) : ''], paths);
  else if (isSeq<Node>(node))
    for (const [index, item] of node.items.entries()) collectEmptyKeys(item, [...path, index], paths);
  else if (typeof path.at(-1) === 'string' && isWithoutValue(node)) paths.push(path);
}

function isWithoutValue(node: Node | null): boolean {
  return node === null || (isScalar(node) && node.value === null && node.source === '' && node.tag === undefined);
}

function createWarning(document: ManifestDocument, path: FieldPath): Diagnostic {
  const { isData, field } = findMeaning(document, path);
  const what = isData ? 'so null is sent' : 'so it is left out';
  const meant = field === undefined ? '' : `. It would set: ${field.description.replace(/\.$/, '')}`;
  return {
    ...locateDiagnostic(document, {
      code: 'empty-key',
      message: `${formatPath(path)} has no value, ${what}${meant}`,
      remedy: 'Write its value. If you mean none, write `null`, or remove the line.',
      path,
      target: 'key',
    }),
    severity: 'warning',
  };
}

/** Returns the field that a key sets, and whether it is in free JSON, which is sent as it is written. */
function findMeaning(
  { kind }: ManifestDocument,
  [, ...steps]: FieldPath,
): { readonly isData: boolean; readonly field?: Field | undefined } {
  const table = findKind(kind);
  if (table === undefined) return { isData: false };
  let field: Field | undefined;
  let type: FieldType | undefined = table.specType;
  for (const step of steps) {
    if (type?.type === 'json' || type?.type === 'metadata') return { isData: true };
    field = type?.type === 'object' && typeof step === 'string' ? findField(type, step) : undefined;
    type = findMemberType(type, step);
  }
  return { isData: false, field };
}
