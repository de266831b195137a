import { RE2JS } from 're2js';

/** A pattern in RE2 syntax, which is matched in a time that grows with the text and the size of the pattern only. */
export interface Re2Pattern {
  /** Instructions of the compiled pattern. */
  readonly size: number;
  /** Whether a part of the text matches. */
  readonly isFoundIn: (text: string) => boolean;
}

/** Compiles a pattern; gives what is wrong with it otherwise. */
export function compileRe2(pattern: string): Re2Pattern | { readonly fault: string } {
  try {
    const compiled = RE2JS.compile(pattern);
    return { size: compiled.programSize(), isFoundIn: (text) => compiled.matcher(text).find() };
  } catch (error) {
    if (error instanceof Error) return { fault: error.message };
    throw error;
  }
}
