/** RFC 3339 in UTC and whole seconds, as the interface shows times. */
export function toTimestamp(time: Date | number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}

/** RFC 3339 in UTC, with fractions of a second only where there are any. */
export function toExactTimestamp(time: Date): string {
  return time.toISOString().replace('.000Z', 'Z');
}
