/** Whether each case is tested: in the project `laws`, which repeats the tests that select typical ones. */
const HAS_ALL_CASES = process.env['EDGEWISE_CASES'] === 'all';

/**
 * Selects typical ones of the combinations of several properties, such as kinds and faults: each value of each property occurs at least once.
 * `npm test` has those, and the project `laws` all cases.
 */
export function selectTypical<T>(cases: readonly T[], ...properties: readonly (keyof T)[]): readonly T[] {
  if (HAS_ALL_CASES) return cases;
  const seen = properties.map(() => new Set<unknown>());
  const selected = new Set<T>();
  // First those with most new values, so that few are enough.
  for (let least = properties.length; least > 0; least -= 1)
    for (const one of cases) {
      const values = properties.map((name) => one[name]);
      if (values.filter((value, index) => seen[index]?.has(value) === false).length < least) continue;
      selected.add(one);
      for (const [index, value] of values.entries()) seen[index]?.add(value);
    }
  return cases.filter((one) => selected.has(one));
}

/** Selects the first cases, for which the others are only more of the same. The project `laws` has all. */
export function selectFirst<T>(cases: readonly T[], most = 1): readonly T[] {
  return HAS_ALL_CASES ? cases : cases.slice(0, most);
}
