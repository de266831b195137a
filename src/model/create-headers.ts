import type { PlainHeaders } from './transport.ts';

/** The headers of a response, of which some were perhaps sent several times: their values are joined by commas. Sorted by name. */
export function createHeaders(sent: readonly (readonly [name: string, value: string])[]): PlainHeaders {
  const byName = Map.groupBy(sent, ([name]) => name.toLowerCase());
  const values = new Map([...byName].map(([name, all]) => [name, all.map(([, value]) => value).join(', ')] as const));
  return {
    get: (name) => values.get(name.toLowerCase()) ?? null,
    [Symbol.iterator]: () => [...values].sort(([left], [right]) => (left < right ? -1 : 1))[Symbol.iterator](),
  };
}
