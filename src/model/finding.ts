import type { DiagnosticCode, Severity } from './diagnostic.ts';
import type { Correction, OffsetRange, Place, TextRange } from './place.ts';
import type { FieldPath } from './state.ts';

/**
 * What a check finds in a value: wrong, or probably wrong. A check knows paths, and neither files nor addresses: what
 * makes a `Diagnostic` of a finding adds both.
 */
export interface Finding {
  readonly code: DiagnosticCode;
  /** Absent: `error`. */
  readonly severity?: Severity | undefined;
  /** Without the address, which the diagnostic adds. */
  readonly message: string;
  readonly remedy?: string | undefined;
  /** From the value that was checked, such as a document or a spec. */
  readonly path: FieldPath;
  /** What a diagnostic points at. Absent: the value or, if that is empty or a block, its key. */
  readonly target?: 'key' | 'value' | undefined;
  /** The wrong part of the text at `path`. Absent: the whole value is wrong. */
  readonly part?: TextRange | undefined;
  /** Set if a word is unknown: the word, and the known words. */
  readonly unknown?: { readonly given: string; readonly known: readonly string[] } | undefined;
  readonly related?: readonly { readonly message: string; readonly place: Place }[] | undefined;
}

/** A finding on one of several subjects, such as documents. */
export interface FindingOn<Subject> {
  readonly subject: Subject;
  readonly finding: Finding;
}

/** What is wrong in a text that is not interpreted yet: a range instead of a path. */
export interface SyntaxFinding extends Omit<Finding, 'path' | 'target' | 'part' | 'related'> {
  readonly range: OffsetRange;
  /** The range of the value that contains `range`. Absent if `range` is the whole value. */
  readonly within?: OffsetRange;
  /** The text to write instead of a part of the source. Absent if it depends on what the author means. */
  readonly correction?: Correction | undefined;
  readonly related?: { readonly message: string; readonly range: OffsetRange };
}

/** A finding of a check that has one code, which its caller adds. */
export type UncodedFinding = Omit<Finding, 'code'>;
