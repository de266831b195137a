import { type Document, type ShownFinding, type StackDocumentOptions, sortFindings } from '../document.ts';

/** A finding of a document, or of one of the stacks of a run. */
export interface ListedFinding extends ShownFinding {
  /** The stack, in a run over many. */
  readonly stack?: string | undefined;
  /** Of the `Stack`, for formats in which each finding has a position. */
  readonly fallback?: ShownFinding['place'];
}

/** The findings of a document: of each stack the errors first, then what concerns no stack. */
export function listFindings(document: Document, options: StackDocumentOptions): readonly ListedFinding[] {
  const ofStacks = document.listStacks?.(options) ?? [];
  return [
    ...ofStacks.flatMap(({ title, document: one }) => listOwn(one).map((finding) => ({ ...finding, stack: title }))),
    ...listOwn(document),
  ];
}

function listOwn(document: Document): readonly ListedFinding[] {
  return sortFindings(document.listFindings()).map((finding) => ({ ...finding, fallback: document.place }));
}

/** Replaces the findings that one sentence says together by one with that sentence. */
export function joinFindings(findings: readonly ListedFinding[]): readonly ListedFinding[] {
  const first = new Map<string, ListedFinding>();
  return findings.flatMap((finding) => {
    const { together, rule, level, stack, fallback } = finding;
    if (together === undefined) return [finding];
    const key = JSON.stringify([stack, together]);
    if (first.has(key)) return [];
    first.set(key, finding);
    return [{ rule, level, stack, fallback, message: together }];
  });
}

/** The related places of a finding, one text for each, for formats that show only one place. */
export function listRelatedPlaceTexts({ related = [] }: ShownFinding): readonly string[] {
  return related.map(({ message, place: { file, line, column } }) => `${message}: ${file}:${line}:${column}`);
}
