import type { DiagnosticCode } from './diagnostic-codes.ts';

/** A place in a manifest. Lines and columns count from 1; columns count UTF-16 units. */
export interface SourceLocation {
  /** The path as the user gave it, or `<stdin>`. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A place with the source lines around it, ready to print: `excerpt` has its caret line in it. */
export interface SourcePlace extends SourceLocation {
  readonly excerpt: string;
  /** The file that a tool made this place of, as the tool says: its lines are not known. */
  readonly origin?: string;
}

/** Where a document starts. */
export interface ManifestStart {
  /** The path as the user gave it, or `<stdin>`. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** The file that a tool made this of, as the tool says. */
  readonly origin?: string;
}

/** A part of a text in a manifest, in UTF-16 units of the text. */
export interface TextPart {
  readonly of: string;
  readonly start: number;
  readonly length: number;
}

/** `error`: nothing is written. `warning`: shown, and the run goes on. */
export type Severity = 'error' | 'warning';

/** A coded, located message to the user. Collected, never thrown. */
export interface Diagnostic {
  readonly code: DiagnosticCode;
  readonly severity: Severity;
  /** One sentence: what is wrong. */
  readonly message: string;
  /** What to do about it. */
  readonly remedy?: string;
  /** The resource that it is about. */
  readonly address?: string;
  readonly place?: SourcePlace;
  /** Other places that belong to it, such as where a duplicate was first defined. */
  readonly related?: readonly { readonly message: string; readonly place: SourcePlace }[];
}

/** Whether any of the diagnostics forbids writing. */
export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((diagnostic) => diagnostic.severity === 'error');
}

/**
 * Where the manifest of an address starts, or where a field of its spec stands; nothing when no manifest is known. Without an address: where
 * what has no better place is said to stand.
 */
export type Locate = (address?: string, field?: string) => SourcePlace | undefined;
