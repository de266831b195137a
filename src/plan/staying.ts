import { isRotatable } from '../kinds/kind.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Decision } from './decide.ts';

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
