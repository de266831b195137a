/** A function that makes its result at the first call. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** A function of an object that never changes, such as a part of a table: computed at the first call for that object. */
export function onceForEach<Part extends object, T>(compute: (part: Part) => T): (part: Part) => T {
  const known = new WeakMap<Part, { readonly value: T }>();
  return (part) => {
    const entry = known.get(part);
    if (entry !== undefined) return entry.value;
    const value = compute(part);
    known.set(part, { value });
    return value;
  };
}

/** A function whose result is kept until it is called with something else: for what several readers want one after another. */
export function onceInARow<Given, T>(compute: (given: Given) => T): (given: Given) => T {
  let latest: { readonly given: Given; readonly value: T } | undefined;
  return (given) => {
    if (latest?.given !== given) latest = { given, value: compute(given) };
    return latest.value;
  };
}
