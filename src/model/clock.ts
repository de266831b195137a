import type { Diagnostic } from './diagnostic.ts';

/**
 * How far the clock of the service is ahead of the clock of this machine. Ages and ends are computed with the clock of
 * the service, because its times are compared: creation times, and the validity of certificates.
 */
export interface ClockSkew {
  /** In milliseconds. Negative if the clock of the service is behind. 0 if the clocks agree to within a minute. */
  readonly skewMs: number;
  /**
   * True if it is unknown which clock is right: they differ by more than a day, or the service showed different times.
   * Then nothing is replaced unless it is due by both clocks.
   */
  readonly isDoubtful: boolean;
}

export const NO_SKEW: ClockSkew = { skewMs: 0, isDoubtful: false };

/** A smaller difference is of no consequence: responses take time, and clocks are never exactly equal. */
export const TOLERATED_SKEW_MS = 60_000;

/** A larger difference is more likely a wrong time from a proxy, or a machine whose clock was never set. */
export const TRUSTED_SKEW_MS = 86_400_000;

/** Converts a time of this machine to the time that the clock of the service shows at that moment. */
export function toServiceTime(now: Date, { skewMs }: ClockSkew): Date {
  return skewMs === 0 ? now : new Date(now.getTime() + skewMs);
}

/** Returns a warning if the clocks differ by more than a minute. `formatTimeSpan` formats milliseconds for people. */
export function listClockSkewWarnings(
  { skewMs, isDoubtful }: ClockSkew,
  formatTimeSpan: (ms: number) => string,
): readonly Diagnostic[] {
  if (skewMs === 0 && !isDoubtful) return [];
  const difference =
    skewMs === 0
      ? 'The service shows different times in its responses'
      : `The clock of this machine is ${formatTimeSpan(Math.round(Math.abs(skewMs) / 60_000) * 60_000)} ${skewMs < 0 ? 'ahead of' : 'behind'} the clock of the service`;
  const effect = isDoubtful
    ? 'it is unknown which one is right, so only what is due by both is replaced'
    : 'ages and ends are computed with the clock of the service';
  return [
    {
      code: 'clock-skew',
      severity: 'warning',
      message: `${difference}: ${effect}`,
      remedy:
        'Set the clock of this machine, for example with NTP. If it is right, the service or a proxy shows a wrong time.',
    },
  ];
}
