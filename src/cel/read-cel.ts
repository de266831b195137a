import { Environment, ParseError } from '@marcbachmann/cel-js';
import { listAskedNames, listNames } from './list-names.ts';

/** What a CEL expression names, or why it cannot be parsed. */
export type CelReading = { readonly names: readonly string[] } | { readonly fault: string; readonly column: number };

/** Reads a CEL expression. Never throws. */
export type ReadCel = (text: string) => CelReading;

/** The variables of an expression, with what is selected of them (`conn.geo.country_code`), each once. Nothing is evaluated. */
export function readCel(text: string): CelReading {
  try {
    return { names: listNames(PARSER.parse(text).ast) };
  } catch (error) {
    if (error instanceof ParseError) return { fault: error.summary, column: (error.range?.start ?? 0) + 1 };
    if (error instanceof RangeError) return { fault: 'It is nested too deeply', column: 1 };
    throw error;
  }
}

/** The names that an expression may use without their being there, because it asks. None when it cannot be parsed. */
export function readAskedNames(text: string): readonly string[] {
  return 'names' in readCel(text) ? listAskedNames(PARSER.parse(text).ast) : [];
}

/** Only the depth is limited, because it can exhaust the stack; a list of addresses may be long. */
const ANY = 1_000_000;
const PARSER = new Environment({
  enableOptionalTypes: true,
  limits: { maxAstNodes: ANY, maxListElements: ANY, maxMapEntries: ANY, maxCallArguments: ANY },
});
