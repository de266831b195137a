/** A position in a file. Lines and columns count from 1; columns count UTF-16 units. */
export interface Place {
  /** The path as the user gave it, or `<stdin>`. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The source file of a generated manifest, as the generator reported it. The line in that file is not known. */
  readonly origin?: string | undefined;
}

/** A part of a text, in UTF-16 units, without `end`. No position: it says what is hidden, cut or edited. */
export interface OffsetRange {
  readonly start: number;
  readonly end: number;
}

/** A part of a text, and what should be there instead. */
export interface Correction extends OffsetRange {
  readonly text: string;
}

/** A part of the value of a field. `of` is the whole value, which its manifest may spell otherwise. */
export interface TextRange extends OffsetRange {
  readonly of: string;
}

/**
 * Returns the position of a path in the document of an address, or of its start. `part`: that of a part of the text
 * there. `undefined` if the document is not known. Without an address: the position of the `Stack` document or, if
 * there is none, of the first file.
 */
export type Locate = (address?: string, path?: readonly (string | number)[], part?: TextRange) => Place | undefined;

/** `Locate` with its address given, by which the document is known. */
export type LocateInDocument = (path?: readonly (string | number)[], part?: TextRange) => Place;
