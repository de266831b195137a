import type { Place } from './place.ts';
import { toPrintable } from './printable.ts';

/** Quotes texts. Each function returns an empty text for what may not be quoted. */
export interface Excerpts {
  /** Returns the lines around a position, with a line that has a caret below it. */
  readonly render: (place: Place) => string;
  /** Returns the line at a position as it should be, if a diagnostic there knows that. */
  readonly renderCorrected: (place: Place) => string;
}

/** The quotes of one text, by where they are written. */
export interface ExcerptsByOutput {
  /** Without documents that cannot be parsed, in which nothing says what is a secret. */
  readonly reports: Excerpts;
  readonly stderr: Excerpts;
}

/** The texts that a run has read and that it may quote. An excerpt is made when a report for people is written. */
export interface QuotedTexts extends ExcerptsByOutput {
  readonly add: (file: string, excerpts: ExcerptsByOutput) => void;
}

export function createQuotedTexts(): QuotedTexts {
  const texts = new Map<string, ExcerptsByOutput>();
  const join = (output: keyof ExcerptsByOutput): Excerpts => ({
    render: (place) => texts.get(place.file)?.[output].render(place) ?? '',
    renderCorrected: (place) => texts.get(place.file)?.[output].renderCorrected(place) ?? '',
  });
  return {
    add: (file, excerpts) => {
      // Reports have the printable form of a path.
      for (const name of [file, toPrintable(file)]) texts.set(name, excerpts);
    },
    reports: join('reports'),
    stderr: join('stderr'),
  };
}
