import type { Diagnostic } from '../model/diagnostic.ts';
import type { DiagnosticCode } from '../model/diagnostic-codes.ts';

/** Diagnostics of one code in one document that are shown; the others are only counted. */
const MAX_ALIKE = 20;

/** Diagnostics of all manifests that are shown. */
const MAX_TOLD = 1000;

/** Items of which the first few of each code are shown. */
export interface Cut<T> {
  readonly told: readonly T[];
  /** What is left out, by its first and its number. */
  readonly more: readonly { readonly first: T; readonly count: number }[];
}

/** Cuts the diagnostics of one document to a number that somebody reads. */
export function cutAlike<T extends { readonly code: DiagnosticCode }>(items: Iterable<T>): Cut<T> {
  const counts = new Map<DiagnosticCode, number>();
  const firsts = new Map<DiagnosticCode, T>();
  const told: T[] = [];
  for (const item of items) {
    const count = (counts.get(item.code) ?? 0) + 1;
    counts.set(item.code, count);
    if (count <= MAX_ALIKE) told.push(item);
    else if (count === MAX_ALIKE + 1) firsts.set(item.code, item);
  }
  const more = [...firsts].map(([code, first]) => ({ first, count: (counts.get(code) ?? 0) - MAX_ALIKE }));
  return { told, more };
}

/** The diagnostic that stands for those left out. */
export function toMore(code: DiagnosticCode, count: number): { readonly message: string; readonly remedy: string } {
  return {
    message: `and ${count.toLocaleString('en')} more ${code}, from here on`,
    remedy: AGAIN,
  };
}

const AGAIN = 'Correct the ones above, and run the command again.';

/** Counts the diagnostics of a run, because locating one takes longer than finding it. */
export interface Tally {
  /** Whether one more is shown. */
  readonly admit: (code: DiagnosticCode) => boolean;
  /** The diagnostic that stands for all that were not shown, if any. */
  readonly listRest: () => readonly Diagnostic[];
}

/** A tally with nothing shown yet. */
export function createTally(): Tally {
  let told = 0;
  let first: DiagnosticCode | undefined;
  return {
    admit: (code) => {
      told += 1;
      if (told > MAX_TOLD) first ??= code;
      return told <= MAX_TOLD;
    },
    listRest: () => {
      if (first === undefined) return [];
      const message = `and ${(told - MAX_TOLD).toLocaleString('en')} more errors`;
      return [{ code: first, severity: 'error', message, remedy: AGAIN }];
    },
  };
}
