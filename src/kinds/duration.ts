/** What a duration looks like. */
export const DURATION_EXPECTED = 'a whole number and a unit: `s`, `m`, `h`, `d` or `w`, such as `90d`';

const UNITS_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** A duration such as `90d` in milliseconds; `undefined` when it is none. */
export function toDurationMs(text: string): number | undefined {
  const [, count, unit = ''] = /^([1-9]\d{0,5})([smhdw])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (UNITS_MS[unit] ?? 0);
}
