import type { BrokenSource } from '../broken-source.ts';

/** One broken entry of the vocabulary. */
interface Mutant extends BrokenSource {
  /** The test that notices it, if the tests of the invented kinds do not. */
  readonly failingTest?: string;
}

/** Broken entries of the vocabulary, by their effect. */
export const MUTANTS: Readonly<Record<string, Mutant>> = {
  'free JSON is not searched for references': {
    file: 'src/kinds/walk.ts',
    from: 'mapKnownLists(type, value, visitor) : value',
    to: 'value : value',
  },
  'keys of a map with equal meaning are two keys': {
    file: 'src/kinds/canonical.ts',
    from: 'caseInsensitive ? key.toLowerCase() : key',
    to: 'key',
  },
  'a field is read by its own name only': {
    file: 'src/kinds/read-response.ts',
    from: 'field.responseName === undefined ? undefined : json[field.responseName]',
    to: 'undefined',
  },
  'a disabled empty module counts as set': {
    file: 'src/kinds/canonical.ts',
    from: "clear === 'disable' && isDisabledAndEmpty(normal) ? null : normal",
    to: 'normal',
  },
  'a single value is not a list of one': {
    file: 'src/kinds/canonical.ts',
    from: 'if (!isJsonArray(value) && !type.orSingle) return value;',
    to: 'if (!isJsonArray(value)) return value;',
  },
  'a left-out field is unknown although other responses show it': {
    file: 'src/kinds/observed-response-fields.ts',
    from: "canonical(kind, live.spec, kind.role === 'attached' ? ofReadModules(leftOut) : leftOut)",
    to: 'live.spec',
    failingTest: 'test/laws/omitted-fields.test.ts',
  },
};
