import { formatDuration, formatRoundedDuration, parseDurationMs } from '../kinds/duration.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Difference } from '../model/change.ts';
import type { DesiredResource, LiveResource, Spec } from '../model/state.ts';

/**
 * The `lifecycle.valid_for` of a manifest in milliseconds. `undefined`: the manifest sets times instead, or leaves the
 * validity to the service.
 */
export function findManifestValidForMs(kind: Kind, desired: DesiredResource | undefined): number | undefined {
  const validFor = desired?.lifecycle.settings['valid_for'];
  return typeof validFor === 'string' && kind.validity !== undefined ? parseDurationMs(validFor) : undefined;
}

interface LengthInput {
  readonly kind: Kind;
  readonly live: Pick<LiveResource, 'spec'>;
  /** The desired length of the validity, in milliseconds. */
  readonly validForMs: number | undefined;
}

/** The difference in the length of the validity. The service has no such field, so start and end are subtracted. */
export function listValidityDifference({ kind, live, validForMs }: LengthInput): readonly Difference[] {
  const from = readFieldTime(live.spec, kind.validity?.after);
  const until = readFieldTime(live.spec, kind.validity?.until);
  if (validForMs === undefined || from === undefined || until === undefined) return [];
  if (Math.abs(until - from - validForMs) <= computeToleranceMs(kind)) return [];
  const sides = { from: formatLiveLength(until - from, validForMs), to: formatDuration(validForMs) };
  return [{ path: 'lifecycle.valid_for', ...sides, origin: 'manifest', forcesReplace: true }];
}

/** The length differs by at most this from the one that was asked for, because a service may store earlier times. */
function computeToleranceMs({ fields, validity }: Kind): number {
  const times = [validity?.after, validity?.until].map((name) => fields[name ?? '']?.earlierByMs ?? 0);
  return Math.max(...times);
}

/** Formats the live length for people: rounded, unless that looks the same as the desired length. */
function formatLiveLength(ms: number, wantedMs: number): string {
  const rounded = formatRoundedDuration(ms);
  return parseDurationMs(rounded.replace('~', '')) === wantedMs ? formatDuration(ms) : rounded;
}

/** Reads a duration from `lifecycle`, in milliseconds. 0 if the manifest does not set it. */
export function readSettingMs({ lifecycle }: DesiredResource, name: string): number {
  const text = lifecycle.settings[name];
  return typeof text === 'string' ? (parseDurationMs(text) ?? 0) : 0;
}

/** The time in a field of a spec, in milliseconds since 1970. `undefined` if the field has no valid time. */
export function readFieldTime(spec: Spec, name: string | undefined): number | undefined {
  const text = name === undefined ? undefined : spec[name];
  const time = typeof text === 'string' ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}
