import { describe, expect, it } from 'vitest';
import { formatDuration, formatRoundedDuration, parseDurationMs, renderTimeSpan } from '../../src/kinds/duration.ts';

const HOUR = 3_600_000;

describe('a duration', () => {
  it.each(['45s', '90m', '36h', '90d'])('is read as %s and written again', (text) => {
    expect(formatDuration(parseDurationMs(text) ?? 0)).toBe(text);
  });

  it.each([
    ['2w', '14d'],
    ['24h', '1d'],
    ['60s', '1m'],
  ])('is read as %s and shown as %s', (text, shown) => {
    expect(formatDuration(parseDurationMs(text) ?? 0)).toBe(shown);
  });

  it.each(['', '90', 'd', '0d', '-1d', '1.5d', '90 d', '90d ', '9999999d', '1y'])('is refused as %o', (text) => {
    expect(parseDurationMs(text)).toBeUndefined();
  });
});

describe('a time span for people', () => {
  it.each([
    [0, 'less than a second'],
    [999, 'less than a second'],
    [1000, '1 second'],
    [60_000, '60 seconds'],
    [120_000, '2 minutes'],
    [24 * HOUR, '24 hours'],
    [47 * HOUR, '47 hours'],
    [48 * HOUR, '2 days'],
    [12 * 24 * HOUR + HOUR, '12 days'],
  ])('shows %i ms as %s', (ms, text) => {
    expect(renderTimeSpan(ms)).toBe(text);
  });
});

describe('a rounded duration', () => {
  it.each([
    [287_456_407_000, '~3327d'],
    [86_400_000, '1d'],
    [86_401_000, '~24h'],
    [5_400_000, '90m'],
    [5_401_000, '~90m'],
    [119_000, '119s'],
    [121_000, '~2m'],
  ])('shows %i ms as %s: exact for a whole number of a unit, or if it is short', (ms, text) => {
    expect(formatRoundedDuration(ms)).toBe(text);
  });
});
