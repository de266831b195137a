/** What a duration looks like. */
export const DURATION_EXPECTED = 'a whole number and a unit: `s`, `m`, `h`, `d` or `w`, such as `90d`';

/** A regular expression that durations match, and nothing else does. */
export const DURATION_PATTERN = '^([1-9][0-9]{0,5})([smhdw])$';

const DURATION = new RegExp(DURATION_PATTERN);
const UNITS_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** A duration such as `90d` in milliseconds; `undefined` when it is none. */
export function parseDurationMs(text: string): number | undefined {
  const [, count, unit = ''] = DURATION.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (UNITS_MS[unit] ?? 0);
}

/** A duration as a manifest would say it, in the largest unit up to days that it is a whole number of: `90d`. Parts of a second are dropped. */
export function formatDuration(ms: number): string {
  const unit = ['d', 'h', 'm'].find((one) => ms % toUnitMs(one) === 0) ?? 's';
  return `${Math.floor(ms / toUnitMs(unit))}${unit}`;
}

/** The same for reading: `~3327d` instead of a large number of seconds. */
export function formatRoundedDuration(ms: number): string {
  const exact = formatDuration(ms);
  const unit = ['d', 'h', 'm'].find((one) => ms >= MIN_UNITS * toUnitMs(one));
  return !exact.endsWith('s') || unit === undefined ? exact : `~${Math.round(ms / toUnitMs(unit))}${unit}`;
}

const WORDS = [
  ['day', 'd'],
  ['hour', 'h'],
  ['minute', 'm'],
  ['second', 's'],
] as const;

/** A time span for people, in whole units of a size that says enough: `12 days`, `20 hours`, `less than a second`. */
export function renderTimeSpan(ms: number): string {
  const [word, unit] = WORDS.find(([, one]) => ms >= MIN_UNITS * toUnitMs(one)) ?? WORDS[3];
  if (ms < toUnitMs(unit)) return 'less than a second';
  const count = Math.floor(ms / toUnitMs(unit));
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

/** Below two of a unit the next smaller unit is used: `36 hours`, not `1 day`. */
const MIN_UNITS = 2;

function toUnitMs(unit: string): number {
  return UNITS_MS[unit] ?? 1;
}
