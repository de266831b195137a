import type { Spec } from '../model/state.ts';
import type { Kind } from './kind.ts';

/** The end of a validity that a manifest fixes, in milliseconds since 1970, and the field that fixes it. */
interface FixedEnd {
  readonly end: number;
  readonly field: string;
}

/**
 * Returns the end that a spec fixes: its own, or that of the default validity from the start that it sets. A certificate
 * that is issued later ends at the same time. `undefined` if the spec sets neither.
 */
export function findFixedEnd({ validity }: Pick<Kind, 'validity'>, spec: Spec): FixedEnd | undefined {
  if (validity === undefined) return undefined;
  const { after, until, defaultMs } = validity;
  const [start, end] = [after, until].map((field) => Date.parse(String(spec[field] ?? '')));
  if (end !== undefined && !Number.isNaN(end)) return { end, field: until };
  return start === undefined || Number.isNaN(start) ? undefined : { end: start + defaultMs, field: after };
}
