import { toRoundedText } from '../kinds/duration.ts';
import { isRotatable } from '../kinds/kind.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Decision } from './decide.ts';
import { readTime, toValidForMs } from './validity.ts';

/** Warnings on fields that keep their value though the manifest states it no longer, with what to write instead. */
export function listStayingWarnings(decisions: readonly Decision[]): readonly Diagnostic[] {
  return decisions.flatMap(({ pair, action, differences }) => {
    const { kind, desired, address } = pair;
    if (desired === undefined || action === 'replace') return [];
    return differences.flatMap(({ path, from, to }): Diagnostic[] => {
      if (to !== undefined || kind.fields[path]?.staysWhenLeftOut !== true) return [];
      const value = typeof from === 'string' ? from : JSON.stringify(from ?? null);
      const rotation = isRotatable(kind) ? ` To let the service choose again, add --rotate ${address}.` : '';
      return [
        {
          code: 'stated-no-longer',
          severity: 'warning',
          message: `${address}: spec.${path} is no longer stated, but stays ${value}, because the service chooses it only for a new resource`,
          remedy: `To keep the value, state ${path}: ${value}. Another value replaces the resource.${rotation}`,
          address,
          place: desired.locate(['spec']),
        },
      ];
    });
  });
}

/** Services backdate validities a little: only one that is this many times longer than usual was requested by somebody. */
const CLEARLY = 2;

/**
 * Warnings on what is valid for much longer than what is made without a stated end, though its manifest states none. No mark says that
 * `lifecycle.valid_for` was stated once.
 */
export function listLengthWarnings(decisions: readonly Decision[]): readonly Diagnostic[] {
  return decisions.flatMap(({ pair, action, form }): Diagnostic[] => {
    const { kind, desired, live, address } = pair;
    const { validity } = kind;
    if (validity === undefined || desired === undefined || live === undefined || form === undefined) return [];
    const { after, until, defaultMs } = validity;
    const isStated = form.written[until] !== undefined || toValidForMs(kind, desired) !== undefined;
    const isOurs = pair.by === 'mark' && !desired.lifecycle.ignore.includes(until);
    if (action === 'replace' || isStated || !isOurs) return [];
    const lengthMs = (readTime(live.spec, until) ?? 0) - (readTime(live.spec, after) ?? 0);
    if (lengthMs <= CLEARLY * defaultMs) return [];
    const length = toRoundedText(lengthMs);
    return [
      {
        code: 'stated-no-longer',
        severity: 'warning',
        message: `${address}: it is valid for ${length}, which its manifest does not state, and a new one would be for ${toRoundedText(defaultMs)}`,
        remedy: `To keep the length, state lifecycle.valid_for. For a new one now, add --rotate ${address}.`,
        address,
        place: desired.locate(['spec']),
      },
    ];
  });
}
