/** A part of a text, in UTF-16 units. Includes `start`, excludes `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A part of a text, and what should be there instead. */
export interface Correction extends Span {
  readonly text: string;
}
