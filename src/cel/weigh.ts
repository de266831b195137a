/** Weighs values: how much work it is to look at all of one. A list that stands in another many times counts each time, as it does for whoever compares. */
export interface Scales {
  readonly weigh: (value: unknown) => number;
}

/** Scales that remember what they weighed, so that a value made of shared parts is weighed in the time that making it took. */
export function createScales(): Scales {
  const known = new WeakMap<object, number>();
  const weigh = (value: unknown): number => {
    if (typeof value === 'string') return 1 + value.length / CHARACTERS;
    if (value instanceof Uint8Array) return 1 + value.length / CHARACTERS;
    if (typeof value !== 'object' || value === null) return 1;
    const before = known.get(value);
    if (before !== undefined) return before;
    const members = listMembers(value);
    let weight = 1;
    for (const member of members) weight += weigh(member);
    known.set(value, weight);
    return weight;
  };
  return { weigh };
}

/** Characters that are looked at in the time of a step. */
const CHARACTERS = 8;

/** Whatever else there is (a time, what a variable holds) has a size that no expression can make greater. */
function listMembers(value: object): Iterable<unknown> {
  if (Array.isArray(value)) return value;
  if (value instanceof Map) return [...value].flat();
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null ? Object.entries(value).flat() : [];
}
