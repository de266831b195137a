/** The form of a duration, in words, for messages and schemas. */
export const DURATION_SYNTAX = 'a whole number and a unit: `s`, `m`, `h`, `d` or `w`, such as `90d`';

export const DURATION_PATTERN = '^([1-9][0-9]{0,5})([smhdw])$';

const DURATION = new RegExp(DURATION_PATTERN);
const UNITS_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Parses a duration such as `90d`. Returns `undefined` if the text is not a duration. */
export function parseDurationMs(text: string): number | undefined {
  const [, count, unit = ''] = DURATION.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (UNITS_MS[unit] ?? 0);
}

/** Formats a duration for a manifest, in the largest unit (up to days) that divides it. Drops fractions of a second. */
export function formatDuration(ms: number): string {
  const unit = ['d', 'h', 'm'].find((one) => ms % toUnitMs(one) === 0) ?? 's';
  return `${Math.floor(ms / toUnitMs(unit))}${unit}`;
}

/** Formats a duration for people: like `formatDuration`, but `~3327d` instead of a large number of seconds. */
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

/** Renders a time span for people in whole units, rounded down: `12 days`, `20 hours`, `less than a second`. */
export function renderTimeSpan(ms: number): string {
  const [word, unit] = WORDS.find(([, one]) => ms >= MIN_UNITS * toUnitMs(one)) ?? WORDS[3];
  if (ms < toUnitMs(unit)) return 'less than a second';
  const count = Math.floor(ms / toUnitMs(unit));
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

/**
 * The smallest number of days, hours or minutes in a text. A shorter time gets a smaller unit: `36 hours`, not `1 day`.
 */
const MIN_UNITS = 2;

function toUnitMs(unit: string): number {
  return UNITS_MS[unit] ?? 1;
}
