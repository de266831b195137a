/** RFC 3339 in UTC and whole seconds, as the interface shows times. */
export function toTimestamp(time: Date | number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}
