import type { Plugin } from 'vitest/config';

/** One word of the vocabulary that is broken: what stands in a source instead of what. */
interface Mutant {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** Words of the vocabulary that do not do what they say, each by what it comes to. */
export const MUTANTS = {
  'free JSON is not searched for references': {
    file: 'walk.ts',
    from: 'mapHeld(type, value, visitor) : value',
    to: 'value : value',
  },
  'keys of a map that mean the same are two keys': {
    file: 'normalize.ts',
    from: 'caseInsensitive ? key.toLowerCase() : key',
    to: 'key',
  },
  'a field is read by its own name only': {
    file: 'read-response.ts',
    from: 'field.responseName === undefined ? undefined : json[field.responseName]',
    to: 'undefined',
  },
  'a module that is disabled and empty is not none': {
    file: 'normalize.ts',
    from: "field.clear === 'disable' && isDisabledAndEmpty(normal) ? null : normal",
    to: 'normal',
  },
  'one value is not a list of one': {
    file: 'normalize.ts',
    from: 'if (!isJsonArray(value) && !type.orSingle) return value;',
    to: 'if (!isJsonArray(value)) return value;',
  },
} as const satisfies Readonly<Record<string, Mutant>>;

/** Has the sources say what a mutant says, for everything that is loaded after that. */
export function withMutant(name: string | undefined): Plugin {
  const mutant = Object.entries<Mutant>(MUTANTS).find(([one]) => one === name)?.[1];
  if (name !== undefined && mutant === undefined) throw new Error(`There is no mutant ${name}`);
  const isBroken = (id: string) => mutant !== undefined && id.endsWith(`/src/kinds/${mutant.file}`);
  return {
    name: 'mutant',
    enforce: 'pre',
    // Nothing that a mutant made is kept for others.
    configureVitest: ({ defineCacheKeyGenerator }) =>
      defineCacheKeyGenerator(({ id }) => (isBroken(id) ? false : undefined)),
    transform: (code, id) => {
      if (mutant === undefined || !isBroken(id)) return undefined;
      if (!code.includes(mutant.from)) throw new Error(`${mutant.file} does not say ${mutant.from}`);
      return code.replace(mutant.from, () => mutant.to);
    },
  };
}
