import { isMap, isSeq, type Node } from 'yaml';
import { formatPath } from '../model/field-path.ts';
import { isJsonArray, isJsonObject, isSameJson, type Json, mapMembers } from '../model/json.ts';
import type { EditableManifest, ManifestEdit, ManifestEditResult } from '../model/manifest-edit.ts';
import type { FieldPath } from '../model/state.ts';
import {
  type Editing,
  type EditRefusal,
  editMember,
  findOwnItem,
  findRefusalOfNode,
  removeListMember,
} from './edit-value.ts';
import { applyEdits, createEditedText, listSeqItems } from './edited-text.ts';
import { NO_ENVIRONMENT, STDIN_FILE_NAME } from './environment.ts';
import type { DocumentSource, ManifestDocument } from './finding.ts';
import { getNodeRange, parseDocuments } from './parse.ts';
import { createYamlText } from './yaml-text.ts';

/** Creates the edits of a document. Each starts from the text that was read. */
export function createEditableManifest({ source, value }: ManifestDocument): EditableManifest {
  return {
    editFields: (fields) =>
      editDocument(source, [...fields.keys()], (editing) => {
        const node = findDocumentNode(source, source.base, editing);
        const from = isJsonObject(value['spec']) ? value['spec'] : undefined;
        const members = new Map(Object.entries(from ?? {}));
        for (const [name, to] of fields) {
          if (to === undefined) members.delete(name);
          else members.set(name, to);
        }
        if (isMap(node)) editMember(node, 'spec', { from, to: Object.fromEntries(members) }, editing);
      }),
    remove: () =>
      editDocument(source, undefined, (editing) => {
        const index = source.base.at(-1);
        const list = findDocumentNode(source, source.base.slice(0, -1), editing);
        if (typeof index !== 'number') editing.edits.push({ ...source.range, text: '' });
        else if (isSeq(list)) removeListMember(list, index, editing);
      }),
  };
}

/** Collects the edits of a document, unless its file must not be edited. */
function editDocument(
  source: DocumentSource,
  fields: ManifestEdit['fields'],
  edit: (editing: Editing) => void,
): ManifestEditResult {
  const { text, range, tree, base, origin } = source;
  const toRefusal = ({ start, finding }: Omit<EditRefusal, 'end'>) => ({ finding, place: text.toPlace(start) });
  const whole = findRefusalOfFile(source);
  if (whole !== undefined || tree === undefined)
    return { refusals: [{ finding: whole ?? UNREADABLE, place: { ...text.toPlace(range.start), origin } }] };
  const isJson = isMap(tree.root) && tree.root.flow === true && text.text.charAt(getNodeRange(tree.root).start) === '{';
  const editing: Editing = { edited: createEditedText(text.text), tree, isJson, edits: [], refusals: [] };
  edit(editing);
  const { edits, refusals } = editing;
  if (refusals.length > 0) return { refusals: refusals.map(toRefusal) };
  return { file: text.file, source: text.text, edits, document: { start: range.start, base }, fields };
}

const UNREADABLE = 'is in a document that cannot be read to its end';

function findRefusalOfFile({ text, origin }: DocumentSource): string | undefined {
  if (text.file === STDIN_FILE_NAME) return 'is read from standard input';
  return origin === undefined ? undefined : `is in a file that a tool made from ${origin}`;
}

/** Returns the node of a document, or of the list that it is in. Refuses one that stands elsewhere. */
function findDocumentNode({ tree }: DocumentSource, path: FieldPath, editing: Editing): Node | null {
  let node = tree?.root ?? null;
  const refuseShared = (): boolean => {
    const finding = node === null ? undefined : findRefusalOfNode(node, editing.tree);
    if (node !== null && finding !== undefined) editing.refusals.push({ ...getNodeRange(node), finding });
    return finding !== undefined;
  };
  for (const step of path) {
    if (refuseShared()) return null;
    if (isSeq(node)) node = listSeqItems(node)[Number(step)] ?? null;
    else if (isMap(node)) node = findOwnItem(node, String(step))?.value ?? null;
  }
  return refuseShared() ? null : node;
}

/** A file after edits. */
export interface EditedFile {
  /** `undefined`: no document is left in the file. */
  readonly text: string | undefined;
  /** Whether every document means what it meant, but for the fields that the edits change. */
  readonly isExact: boolean;
}

/** Makes edits of different documents of one file, and reads the result again. */
export function applyManifestEdits(edits: readonly ManifestEdit[]): EditedFile {
  const source = edits[0]?.source ?? '';
  const all = edits.flatMap((one) => one.edits);
  const text = applyEdits(createEditedText(source), all);
  const before = [...parseDocuments(createYamlText(source), NO_ENVIRONMENT)];
  const after = [...parseDocuments(createYamlText(text), NO_ENVIRONMENT)].map(({ value }) => value);
  const expected = before.flatMap(({ range, value }) => {
    const own = edits.filter(({ document }) => document.start === range.start);
    const isGone = own.some(({ fields, document }) => fields === undefined && document.base.length === 0);
    return isGone ? [] : [{ value, own }];
  });
  const isEmpty = after.every((value) => value === null);
  // What is left where a document was is none.
  const remaining = isEmpty || after.length === expected.length ? after : after.filter((value) => value !== null);
  const isExact =
    expected.length === (isEmpty ? 0 : remaining.length) &&
    expected.every(({ value, own }, index) => isSameDocument(value, remaining[index] ?? null, own));
  return { text: isEmpty ? undefined : text, isExact };
}

function isSameDocument(before: Json, after: Json, edits: readonly ManifestEdit[]): boolean {
  const removed = edits.filter(({ fields }) => fields === undefined).map(({ document }) => document.base);
  let [left, right] = [before, after];
  for (const { document, fields } of edits) {
    if (fields === undefined) continue;
    left = mapAt(left, document.base, (value) => omitFields(value, fields));
    right = mapAt(right, shift(document.base, removed), (value) => omitFields(value, fields));
  }
  // From the last to the first, so that no index changes before it is used.
  for (const base of removed.toSorted((one, other) => Number(other.at(-1)) - Number(one.at(-1))))
    left = mapAt(left, base.slice(0, -1), (list) =>
      isJsonArray(list) ? list.toSpliced(Number(base.at(-1)), 1) : list,
    );
  return isSameJson(left, right);
}

/** The path of a member of a list after members before it were removed. */
function shift(base: FieldPath, removed: readonly FieldPath[]): FieldPath {
  const index = base.at(-1);
  if (typeof index !== 'number') return base;
  const parent = formatPath(base.slice(0, -1));
  const before = removed.filter((one) => formatPath(one.slice(0, -1)) === parent && Number(one.at(-1)) < index);
  return [...base.slice(0, -1), index - before.length];
}

function mapAt(value: Json, path: FieldPath, map: (value: Json) => Json): Json {
  const [step, ...rest] = path;
  if (step === undefined) return map(value);
  return mapMembers(value, (member, at) => (at === step ? mapAt(member, rest, map) : member));
}

/** Leaves out fields of `spec`, and a `spec` without others. */
function omitFields(document: Json, fields: readonly string[]): Json {
  if (!isJsonObject(document)) return document;
  const { spec = null, ...rest } = document;
  if (spec !== null && !isJsonObject(spec)) return document;
  const kept = Object.entries(spec ?? {}).filter(([name]) => !fields.includes(name));
  return kept.length === 0 ? rest : { ...rest, spec: Object.fromEntries(kept) };
}
