import type { PlainHeaders } from './transport.ts';

/** The headers of a response by their names in lower case. The values of one that was sent several times are joined by commas. Sorted by name. */
export function createHeaders(sent: Readonly<Record<string, string | readonly string[] | undefined>>): PlainHeaders {
  const get = (name: string): string | null => {
    const value = Object.hasOwn(sent, name) ? sent[name] : undefined;
    return typeof value === 'object' ? value.join(', ') : (value ?? null);
  };
  return {
    get: (name) => get(name.toLowerCase()),
    [Symbol.iterator]: () =>
      Object.keys(sent)
        .sort()
        .map((name): [string, string] => [name, get(name) ?? ''])
        [Symbol.iterator](),
  };
}
