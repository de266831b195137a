import { formatDuration, formatRoundedDuration, parseDurationMs } from '../kinds/duration.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Difference } from '../model/change.ts';
import type { DesiredResource, LiveResource, Spec } from '../model/state.ts';

/** For how long a new one is to be valid; `undefined`: its manifest states times, or leaves it to the service. */
export function findValidForMs(kind: Kind, desired: DesiredResource | undefined): number | undefined {
  const validFor = desired?.lifecycle.settings['valid_for'];
  return typeof validFor === 'string' && kind.validity !== undefined ? parseDurationMs(validFor) : undefined;
}

/** What the difference in how long it is valid follows from. */
interface Validated {
  readonly kind: Kind;
  readonly live: Pick<LiveResource, 'spec'>;
  /** How long a new one is to be valid. */
  readonly validForMs: number | undefined;
}

/** The service has no field for the length of a validity: it follows from the times. */
export function listLengthDifference({ kind, live, validForMs }: Validated): readonly Difference[] {
  const from = readTime(live.spec, kind.validity?.after);
  const until = readTime(live.spec, kind.validity?.until);
  if (validForMs === undefined || from === undefined || until === undefined || until - from === validForMs) return [];
  const sides = { from: toComparedText(until - from, validForMs), to: formatDuration(validForMs) };
  return [{ path: 'lifecycle.valid_for', ...sides, origin: 'manifest', forcesReplace: true }];
}

/** A length that the service shows, as a person reads it: exact where it is a whole number of some unit, or where only that tells the two apart. */
function toComparedText(ms: number, wantedMs: number): string {
  const rounded = formatRoundedDuration(ms);
  return parseDurationMs(rounded.replace('~', '')) === wantedMs ? formatDuration(ms) : rounded;
}

/** The time that a field of a spec holds, in milliseconds since 1970; `undefined`: none. */
export function readTime(spec: Spec, name: string | undefined): number | undefined {
  const text = name === undefined ? undefined : spec[name];
  const time = typeof text === 'string' ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}
